/**
 * Cuts an address line into words, and tells which words are numbers, directions, suffixes and
 * cities.
 */
import type { Gazetteer } from './parsed.js';
import { WordTable, wordsOf } from '../base/tables.js';
import { SUFFIX_FULL_WORDS, STRONG_SUFFIXES, SUFFIX_ABBREVIATIONS } from './suffix.js';

/** What stands between a word and the one before it. */
export const JOIN = { space: 0, comma: 1, hyphen: 2, dash: 3, and: 4, glued: 5 } as const;
export type Join = (typeof JOIN)[keyof typeof JOIN];

/** A line cut into words of A–Z and 0–9, plus "#" and fractions like "1/2". */
export interface Line {
  readonly words: readonly string[];
  /** What stands before the word of the same index. */
  readonly joins: readonly Join[];
}

/** Characters to replace: marks and apostrophes, dashes, fractions, letters of their own. */
const MARKS = /[\u0300-\u036f\u2018\u2019\u201b\u02bb\u02bc\u2032\u00b4]/g;
const DASHES = /[\u2010-\u2015\u2212\u00ad]/g;
const FRACTIONS = /[\u00bc-\u00be\u2150-\u215e]/g;
const LETTERS = /[ßÆŒØŁĐÞ]/g;
const LETTER: Readonly<Record<string, string>> = {
  ß: 'SS',
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Þ: 'TH',
};

/** Whether all characters are ASCII, so that there is nothing to replace. */
function isAscii(text: string): boolean {
  let bits = 0;
  for (let index = 0; index < text.length; index++) bits |= text.charCodeAt(index);
  return bits < 128;
}

/** The text in capitals, without accents, with plain quotes and dashes. */
function plainCapitals(text: string): string {
  if (isAscii(text)) return text.toUpperCase();
  return text
    .replace(FRACTIONS, ' $& ')
    .normalize('NFKD')
    .replace(/\u2044/g, '/')
    .replace(MARKS, '')
    .replace(DASHES, '-')
    .toUpperCase()
    .replace(LETTERS, (letter) => LETTER[letter] ?? '');
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => code >= 65 && code <= 90;
const isAlphanumeric = (code: number): boolean => isDigit(code) || isLetter(code);

/** Kinds of characters below 128; a character of no kind separates words. */
const DIGIT = 1;
const LETTER_KIND = 2;
/** A character that may be part of a word; `staysInside` decides. */
const INNER = 4;
const KINDS = new Uint8Array(128);
for (let code = 0; code < KINDS.length; code++) {
  if (isDigit(code)) KINDS[code] = DIGIT;
  else if (isLetter(code)) KINDS[code] = LETTER_KIND;
}
for (const inner of "./'`") KINDS[inner.charCodeAt(0)] = INNER;

/**
 * The join that a separator makes when it stands alone, by character code; other separators are
 * spaces.
 */
const SEPARATORS = new Uint8Array(128);
for (const comma of ',;\n()|') SEPARATORS[comma.charCodeAt(0)] = JOIN.comma;
for (const and of '&/@') SEPARATORS[and.charCodeAt(0)] = JOIN.and;
SEPARATORS['-'.charCodeAt(0)] = JOIN.dash;

/** Whether the character at `index` belongs inside the word around it. */
function staysInside(text: string, code: number, index: number, start: number): boolean {
  const next = text.charCodeAt(index + 1);
  if (code === 46) {
    // A dot belongs to initials: "U.S.", "N.W.". But "N.Main" and "St.Paul" are two words.
    const initial = index - start === 1 && isLetter(text.charCodeAt(start));
    return initial && isLetter(next) && !isAlphanumeric(text.charCodeAt(index + 2));
  }
  if (code === 47) return isDigit(text.charCodeAt(index - 1)) && isDigit(next);
  return code === 39 || code === 96;
}

/** Index at which a word like "APT4" or "123MAIN" is divided into two; 0 where it is not. */
function splitAt(word: string): number {
  const digitFirst = isDigit(word.charCodeAt(0));
  if (!digitFirst && !isDigit(word.charCodeAt(word.length - 1))) {
    if (!/^[A-Z]{2,}\d/.test(word)) return 0;
  }
  let index = 1;
  while (index < word.length && isDigit(word.charCodeAt(index)) === digitFirst) index++;
  if (index === word.length || word.includes('/')) return 0;
  if (!digitFirst) return index >= 2 ? index : 0;
  // "12A" and "22ND" stay one word, and so does the grid number "28W601".
  for (let at = index; at < word.length; at++) if (isDigit(word.charCodeAt(at))) return 0;
  return word.length - index >= 3 ? index : 0;
}

/** Adds a word, or the two words that `splitAt` divides it into. */
function push(words: string[], joins: Join[], word: string, join: Join, mixed: boolean): void {
  const at = mixed ? splitAt(word) : 0;
  words.push(at === 0 ? word : word.slice(0, at));
  joins.push(join);
  if (at === 0) return;
  words.push(word.slice(at));
  joins.push(JOIN.glued);
}

/** Cuts text into words. Takes linear time. */
export function tokenize(text: string): Line {
  const capitals = plainCapitals(text);
  const { length } = capitals;
  const words: string[] = [];
  const joins: Join[] = [];
  let join: Join = JOIN.space;
  let start = -1;
  let kinds = 0;
  let head = '';
  for (let index = 0; index <= length; index++) {
    const code = index < length ? capitals.charCodeAt(index) : 0;
    const kind = code < 128 ? KINDS[code]! : 0;
    if (kind === DIGIT || kind === LETTER_KIND) {
      if (start < 0) {
        start = index;
        kinds = 0;
      }
      kinds |= kind;
      continue;
    }
    const inWord = start >= 0;
    if (inWord && kind === INNER && staysInside(capitals, code, index, start)) {
      if (code === 47) continue;
      head += capitals.slice(start, index);
      start = index + 1;
      continue;
    }
    if (inWord) {
      const word = head === '' ? capitals.slice(start, index) : head + capitals.slice(start, index);
      push(words, joins, word, join, kinds === DIGIT + LETTER_KIND);
      head = '';
      start = -1;
      join = JOIN.space;
    }
    if (code === 35) {
      words.push('#');
      joins.push(join);
      join = JOIN.space;
      continue;
    }
    const tight = code === 45 && inWord && isAlphanumeric(capitals.charCodeAt(index + 1));
    const separator = tight ? JOIN.hyphen : code < 128 ? (SEPARATORS[code]! as Join) : JOIN.space;
    if (separator !== JOIN.space && join !== JOIN.comma) join = separator;
  }
  return { words, joins };
}

/** Whether a word is an ordinal in figures: "1ST", "22ND". */
export function isOrdinal(word: string): boolean {
  const length = word.length;
  if (length < 3) return false;
  const end = word.charCodeAt(length - 1);
  const before = word.charCodeAt(length - 2);
  const pair =
    (before === 83 && end === 84) || // ST
    (before === 78 && end === 68) || // ND
    (before === 82 && end === 68) || // RD
    (before === 84 && end === 72); // TH
  return pair && isDigits(word.slice(0, -2));
}

/** Whether a word consists of digits only. */
export function isDigits(word: string): boolean {
  if (word === '') return false;
  for (let index = 0; index < word.length; index++) {
    if (!isDigit(word.charCodeAt(index))) return false;
  }
  return true;
}

/** Whether a word begins with a digit. */
export function startsWithDigit(word: string): boolean {
  return isDigit(word.charCodeAt(0));
}

/** Whether a word contains a digit. */
export function hasDigit(word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    if (isDigit(word.charCodeAt(index))) return true;
  }
  return false;
}

export const DIRECTIONS: readonly (readonly [string, string])[] = [
  ['N', 'NORTH'],
  ['S', 'SOUTH'],
  ['E', 'EAST'],
  ['W', 'WEST'],
  ['NE', 'NORTHEAST'],
  ['NW', 'NORTHWEST'],
  ['SE', 'SOUTHEAST'],
  ['SW', 'SOUTHWEST'],
];

const DIRECTION = new WordTable(
  DIRECTIONS.flatMap(
    ([abbreviation, word]) =>
      [
        [abbreviation, abbreviation],
        [word, abbreviation],
      ] as const,
  ),
);
const DIRECTION_WORD = new WordTable(DIRECTIONS);

/** "NORTH" or "N" → "N"; '' for any other word. */
export function directionOf(word: string): string {
  return DIRECTION.get(word) ?? '';
}

/** "N" → "NORTH"; '' for anything but a standard abbreviation. */
export function directionWord(abbreviation: string): string {
  return DIRECTION_WORD.get(abbreviation) ?? '';
}

const STRONG = wordsOf(STRONG_SUFFIXES.split(' '));

const SUFFIX = new WordTable(SUFFIX_ABBREVIATIONS);
const SUFFIX_WORD = new WordTable(SUFFIX_FULL_WORDS);

/** "STREET", "STR" or "ST" → "ST"; '' for a word that is no suffix. */
export function suffixOf(word: string): string {
  return SUFFIX.get(word) ?? '';
}

/** "DR" → "DRIVE"; '' for anything but a standard abbreviation. */
export function suffixWord(abbreviation: string): string {
  return SUFFIX_WORD.get(abbreviation) ?? '';
}

/** Whether a standard abbreviation ends a street's name almost wherever it stands. */
export function isStrongSuffix(abbreviation: string): boolean {
  return abbreviation !== '' && STRONG.has(abbreviation);
}

/** Spellings of the name of Martin Luther King: "Dr Martin Luther King Jr", "M L King", "MLK". */
const KING = ['MARTINLUTHERKING', 'MARTINLKING', 'MLKING', 'MLK'];

/** The key of a name, with any spelling of Martin Luther King replaced by one. */
export function honouredKey(key: string): string {
  if (!key.includes('K') || !key.includes('L')) return key;
  for (const spelling of KING) {
    const at = key.indexOf(spelling);
    if (at < 0) continue;
    const before = key.slice(0, at);
    const after = key.slice(at + spelling.length);
    const titled = before === 'DR' || before === 'REV' || before === 'REVDR';
    return `${titled ? '' : before}MLK${after.startsWith('JR') ? after.slice(2) : after}`;
  }
  return key;
}

/** First words of city names that are written in two ways. */
export const CITY_FIRST = new WordTable([
  ['ST', 'SAINT'],
  ['SAINT', 'ST'],
  ['STE', 'SAINTE'],
  ['MT', 'MOUNT'],
  ['MOUNT', 'MT'],
  ['FT', 'FORT'],
  ['FORT', 'FT'],
]);

/**
 * Whether the words from `from` to before `to` name a city, in either spelling of the first word.
 */
export function isKnownCity(
  words: readonly string[],
  from: number,
  to: number,
  state: string,
  gazetteer: Gazetteer,
): boolean {
  const first = words[from] ?? '';
  let rest = '';
  for (let index = from + 1; index < to; index++) rest += ` ${words[index] ?? ''}`;
  if (gazetteer.isCity(state, first + rest)) return true;
  if (rest === '') return false;
  const second = CITY_FIRST.get(first) ?? directionWord(directionOf(first));
  return second !== '' && second !== first && gazetteer.isCity(state, second + rest);
}
