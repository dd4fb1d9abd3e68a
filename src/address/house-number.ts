/** House numbers as people and publishers write them. */
import { cardinalValue } from './street-words.js';
import { tokenize } from './word.js';
import {
  isStrongSuffix,
  suffixOf,
  directionOf,
  isDigits,
  isOrdinal,
  startsWithDigit,
  JOIN,
  type Line,
} from './word.js';

/** A house number. `number` identifies it; the other members serve order and ranges. */
export interface HouseNumber {
  /** Normalized: "200", "12A", "123 1/2", "12-34", "N12W3456". */
  readonly number: string;
  /** Leading integer; -1 where the text does not tell its order along the street. */
  readonly value: number;
  /** What follows the integer: "A", "1/2" or "". */
  readonly suffix: string;
  /** Last number where a range of ordinary numbers is written ("100-104"); -1 if not. */
  readonly high: number;
}

/** A house number read off a line, with the index of the first word after it. */
export interface HouseNumberReading extends HouseNumber {
  readonly next: number;
}

const DIGITS_MAX = 7;

/**
 * Hyphenated numbers ("12-34" in Queens, "94-1234" on Oahu) are ordered above every ordinary
 * number, so that a range of one kind never holds a number of the other.
 */
const HYPHENATED_BASE = 10_000_000;
const HYPHENATED_STEP = 10_000;

const GRID = /^(?:[NSEW]\d{1,5}[NSEW]\d{1,5}|\d{1,2}[NSEW]\d{2,4})[A-Z]?$/;
const GRID_HALF = /^[NSEW]\d{1,5}$/;
const LETTERED = /^[A-Z]\d{1,5}[A-Z]?$/;

function plain(digits: string, suffix: string, next: number): HouseNumberReading {
  const value = Number(digits);
  // A fraction is separated by a space, a letter is not.
  const gap = suffix.includes('/') ? ' ' : '';
  return { number: `${value}${gap}${suffix}`, value, suffix, high: -1, next };
}

function range(low: string, high: number, next: number): HouseNumberReading {
  const value = Number(low);
  return { number: String(value), value, suffix: '', high, next };
}

function hyphenated(low: string, high: string, suffix: string, next: number): HouseNumberReading {
  const value = HYPHENATED_BASE + Number(low) * HYPHENATED_STEP + Number(high);
  const safe = low.length <= 3 && high.length <= 4;
  const number = `${Number(low)}-${high}${suffix}`;
  return { number, value: safe ? value : -1, suffix, high: -1, next };
}

/** Last number of the range that "100-104" or "1600-04" may mean; -1 where it cannot be a range. */
function rangeHigh(low: string, high: string): number {
  const shared = low.length > high.length ? low.slice(0, low.length - high.length) : '';
  const value = Number(shared + high);
  return value > Number(low) && value - Number(low) <= 1000 ? value : -1;
}

/** Both meanings of two hyphenated numbers, a range and one number, the likelier first. */
function readPair(first: string, second: string, next: number): HouseNumberReading[] {
  // Leading zeros are dropped, so that "012-34" and "12-34" are the same number.
  const low = String(Number(first));
  let digits = second;
  let suffix = '';
  if (!isDigits(second)) {
    digits = second.slice(0, -1);
    suffix = second.slice(-1);
    if (!isDigits(digits)) return [plain(low, '', next)];
  }
  const one = hyphenated(low, digits, suffix, next);
  const high = suffix === '' ? rangeHigh(low, digits) : -1;
  if (high < 0) return [one];
  const many = range(low, high, next);
  // The second part of a number in Queens has two digits. A part of another length is a range, and
  // so is one that goes up by a plausible number of doors.
  const sameLength = low.length === digits.length;
  const difference = high - Number(low);
  const doors = difference <= 8 && difference % 2 === 0;
  const counts = sameLength
    ? low.length !== 2 || doors
    : low.length > 3 || (low.length < digits.length && difference <= 20);
  return counts ? [many, one] : [one, many];
}

function isSpacedSuffix(word: string): boolean {
  return word.length === 1 && !startsWithDigit(word) && word !== '#' && directionOf(word) === '';
}

/**
 * A single letter after the number: "12 A MAIN ST" has a suffix, "12 A ST" is on a street named A.
 * Some lines may mean either.
 */
function readSpacedLetter(line: Line, digits: string, at: number, end: number) {
  const letter = line.words[at] ?? '';
  const without = plain(digits, '', at);
  if (at + 1 >= end || line.joins[at + 1] === JOIN.comma) return [without];
  if (line.joins[at + 1] === JOIN.hyphen) return [without];
  const withLetter = plain(digits, letter, at + 1);
  const after = line.words[at + 1] ?? '';
  if (isStrongSuffix(suffixOf(after))) {
    return at + 2 < end ? [without, withLetter] : [without];
  }
  // The letter is an initial of the street's name: "12 K AND L CT", "12 M L KING DR".
  if (after.length === 1 || after === 'AND') return [without, withLetter];
  return letter === 'O' || letter === 'I' ? [without, withLetter] : [withLetter, without];
}

/** Reads a number in digits with what follows it: a range, a fraction or a letter. */
function readAfterDigits(line: Line, at: number, end: number): HouseNumberReading[] {
  const digits = line.words[at] ?? '';
  const after = at + 1;
  if (after >= end) return [plain(digits, '', after)];
  const word = line.words[after] ?? '';
  const join = line.joins[after];
  const next = after + 1;
  if (startsWithDigit(word) && !isOrdinal(word)) {
    if (word.includes('/')) return [plain(digits, word, next)];
    if (join === JOIN.hyphen) return readPair(digits, word, next);
    const high = join === JOIN.dash || join === JOIN.and ? rangeHigh(digits, word) : -1;
    if (high > 0 && isDigits(word)) return [range(digits, high, next)];
  } else if (join === JOIN.hyphen && word.length === 1) {
    return [plain(digits, word, next)];
  } else if (join === JOIN.space && isSpacedSuffix(word)) {
    return readSpacedLetter(line, digits, after, end);
  }
  return [plain(digits, '', after)];
}

/**
 * Reads numbers that begin with a letter: grid numbers, and the lettered numbers of camps and of
 * Vermont.
 */
function readLettered(line: Line, at: number, end: number): HouseNumberReading[] {
  const word = line.words[at] ?? '';
  const next = at + 1;
  if (word.length < 2 || word.length > 12) return [];
  if (GRID.test(word)) return [{ number: word, value: -1, suffix: '', high: -1, next }];
  const other = line.words[next] ?? '';
  if (next < end && GRID_HALF.test(word) && GRID_HALF.test(other)) {
    return [{ number: word + other, value: -1, suffix: '', high: -1, next: next + 1 }];
  }
  if (!LETTERED.test(word)) return [];
  const value = Number.parseInt(word.slice(1), 10);
  const suffix = isDigits(word.slice(1)) ? '' : word.slice(-1);
  return [{ number: word, value, suffix, high: -1, next }];
}

/**
 * The house numbers that may start at a word, likeliest first; empty where none does. `end` is the
 * index after the last word that may belong to the address line.
 */
export function readHouseNumbers(
  line: Line,
  at: number,
  end: number,
): readonly HouseNumberReading[] {
  const word = line.words[at] ?? '';
  if (!startsWithDigit(word)) {
    const cardinal = cardinalValue(word);
    if (cardinal > 0) return [plain(String(cardinal), '', at + 1)];
    return readLettered(line, at, end);
  }
  if (isDigits(word)) return word.length <= DIGITS_MAX ? readAfterDigits(line, at, end) : [];
  if (isOrdinal(word)) return [];
  if (GRID.test(word)) return readLettered(line, at, end);
  const slash = word.indexOf('/');
  const head = Number.parseInt(word, 10);
  const digits = String(head);
  if (slash >= 0) {
    const tail = word.slice(slash + 1);
    const whole = isDigits(tail) && tail.length >= slash;
    const high = whole ? rangeHigh(word.slice(0, slash), tail) : -1;
    return high > 0 ? [range(digits, high, at + 1)] : [];
  }
  const suffix = word.slice(word.search(/[A-Z]/));
  if (head >= 10 ** DIGITS_MAX || suffix.length > 2) return [];
  return [plain(digits, suffix, at + 1)];
}

/**
 * Reads a publisher's column of house numbers: "12", "12-34", "123 1/2", "N12W3456", "101A". Null
 * for text that is no house number.
 */
export function parseHouseNumber(text: string): HouseNumber | null {
  const line = tokenize(text.slice(0, 40));
  const end = line.words.length;
  const last = line.words[1] ?? '';
  // A column holds nothing but the number, so a letter after it is its suffix, even one that
  // elsewhere means a direction.
  const lettered = end === 2 && isDigits(line.words[0] ?? '') && /^([A-Z])\1?$/.test(last);
  const reading = lettered
    ? plain(line.words[0] ?? '', last, 2)
    : readHouseNumbers(line, 0, end).find((candidate) => candidate.next === end);
  if (reading === undefined) return null;
  const { number, value, suffix, high } = reading;
  return { number, value, suffix, high };
}
