/**
 * Reads what ends an address: postal code, state and country. Also reads military addresses, which
 * consist of little else.
 */
import { wordsOf } from '../base/tables.js';
import { readCanadianTail, takeCanadianCode } from './canadian-tail.js';
import { type Gazetteer, type ParsedAddress, type Tail, type TailDraft, unread } from './parsed.js';
import { cardinalValue } from './street-words.js';
import {
  suffixOf,
  directionOf,
  directionWord,
  isDigits,
  startsWithDigit,
  JOIN,
  type Line,
} from './word.js';

const USA: readonly (readonly string[])[] = [
  ['UNITED', 'STATES', 'OF', 'AMERICA'],
  ['UNITED', 'STATES'],
  ['U', 'S', 'A'],
  ['U', 'S'],
  ['USA'],
  ['US'],
];
const CAN: readonly (readonly string[])[] = [['CANADA'], ['CAN']];
/** Words that the name of a country may end in. */
export const COUNTRY_LAST = wordsOf(['AMERICA', 'STATES', 'A', 'S', 'USA', 'US', 'CANADA', 'CAN']);

function endsWith(words: readonly string[], end: number, phrase: readonly string[]): boolean {
  const start = end - phrase.length;
  return start >= 0 && phrase.every((word, index) => words[start + index] === word);
}

function takeCountry(line: Line, tail: TailDraft): boolean {
  if (tail.country !== '' || !COUNTRY_LAST.has(line.words[tail.end - 1] ?? '')) return false;
  for (const [country, phrases] of [
    ['USA', USA],
    ['CAN', CAN],
  ] as const) {
    const phrase = phrases.find((candidate) => endsWith(line.words, tail.end, candidate));
    if (phrase === undefined) continue;
    tail.end -= phrase.length;
    tail.country = country;
    return true;
  }
  return false;
}

/** Whether a word is five digits. */
export function isZip(word: string): boolean {
  return word.length === 5 && isDigits(word);
}

/**
 * Whether the ZIP that ends before `end` follows another ZIP: joined by a hyphen, or both behind a
 * state.
 */
function isSecondZip({ words, joins }: Line, end: number, gazetteer: Gazetteer): boolean {
  if (!isZip(words[end - 2] ?? '')) return false;
  return joins[end - 1] === JOIN.hyphen || gazetteer.stateOf(words[end - 3] ?? '') !== '';
}

/** Takes a ZIP in any of the forms "92618", "92618-5003", "92618 5003", "926185003". */
function takeZip(line: Line, tail: TailDraft, gazetteer: Gazetteer): boolean {
  if (tail.zip !== '' || tail.canadianPostalCode !== '' || tail.twoZips) return false;
  const last = line.words[tail.end - 1] ?? '';
  if (!startsWithDigit(last)) {
    return last.length === 3 || last.length === 6 ? takeCanadianCode(line.words, tail) : false;
  }
  if (!isDigits(last)) {
    return last.length === 3 ? takeCanadianCode(line.words, tail) : false;
  }
  if (last.length === 5 && isSecondZip(line, tail.end, gazetteer)) {
    tail.twoZips = true;
    return false;
  }
  if (last.length === 9 || last.length === 5) {
    tail.zip = last.slice(0, 5);
    tail.zip4 = last.slice(5);
    tail.end--;
    return true;
  }
  const before = line.words[tail.end - 2] ?? '';
  if (last.length !== 4) return false;
  if (isZip(before)) {
    tail.zip = before;
    tail.zip4 = last;
    tail.end -= 2;
    return true;
  }
  return false;
}

function setState(tail: TailDraft, state: string, count: number, doubtful: boolean): boolean {
  tail.stateEnd = tail.end;
  tail.end -= count;
  tail.state = state;
  tail.doubtful = doubtful;
  return true;
}

/**
 * Takes a state's code or name. The longest name wins, so that West Virginia is not read as
 * Virginia.
 */
function takeState(line: Line, tail: TailDraft, gazetteer: Gazetteer): boolean {
  const { words } = line;
  const { end } = tail;
  const last = words[end - 1] ?? '';
  if (tail.state !== '' || last === '' || startsWithDigit(last)) return false;
  if (last.length === 2) {
    const state = gazetteer.stateOf(last);
    if (state === '') return false;
    const other = directionOf(last) !== '' || suffixOf(last) !== '';
    return setState(tail, state, 1, other && line.joins[end - 1] !== JOIN.comma);
  }
  const second = words[end - 2] ?? '';
  if (last.length === 1) {
    // The code in two letters apart: "N Y", "D C".
    const state = second.length === 1 ? gazetteer.stateOf(second + last) : '';
    return state !== '' && setState(tail, state, 2, directionOf(second + last) !== '');
  }
  if (end >= 3) {
    const state = gazetteer.stateOf(`${words[end - 3] ?? ''} ${second} ${last}`);
    if (state !== '') return setState(tail, state, 3, false);
  }
  if (end >= 2) {
    const state =
      gazetteer.stateOf(`${second} ${last}`) ||
      (second.length === 1 && directionOf(second) !== ''
        ? gazetteer.stateOf(`${directionWord(second)} ${last}`)
        : '');
    // Some states share their name with a city (New York, Washington), which makes the state
    // doubtful.
    if (state !== '') return setState(tail, state, 2, gazetteer.isCity('', `${second} ${last}`));
  }
  const state = gazetteer.stateOf(last);
  return state !== '' && setState(tail, state, 1, gazetteer.isCity('', last));
}

/** Takes a ZIP of four digits behind a state: a spreadsheet has dropped the leading zero. */
function takeShortZip(line: Line, tail: TailDraft, gazetteer: Gazetteer): boolean {
  const last = line.words[tail.end - 1] ?? '';
  const before = line.words[tail.end - 2] ?? '';
  if (tail.zip !== '' || tail.end < 4 || last.length !== 4 || !isDigits(last)) return false;
  if (before.length !== 2 || directionOf(before) !== '') return false;
  if (gazetteer.stateOf(before) === '') return false;
  tail.zip = `0${last}`;
  tail.end--;
  return true;
}

/** Reads the end of a line, word by word from the last one. */
export function readTail(line: Line, gazetteer: Gazetteer): Tail {
  if (gazetteer.isCanadian === true) return readCanadianTail(line, gazetteer);
  const tail = unread(line.words.length);
  while (
    tail.end > 0 &&
    (takeZip(line, tail, gazetteer) ||
      takeCountry(line, tail) ||
      takeState(line, tail, gazetteer) ||
      takeShortZip(line, tail, gazetteer))
  );
  return tail;
}

/** The same end of a line, but the state's words belong to street and city again. */
export function withoutState(tail: Tail): Tail {
  return { ...tail, end: tail.stateEnd, state: '', doubtful: false, stateEnd: -1 };
}

/**
 * Index of the word that is a ZIP in the middle of a line ("12 Main St 05401 Burlington VT"), -1 if
 * none is. These are no ZIP: the first two words, the number of a road, and the number of a house
 * behind nothing but a name ("Acme Inc, 10277 Main St").
 */
export function innerZipAt(line: Line, end: number): number {
  for (let index = end - 2; index >= 2; index--) {
    const word = line.words[index] ?? '';
    if (word.length !== 5 || !isDigits(word)) continue;
    const before = suffixOf(line.words[index - 1] ?? '');
    if (before === 'HWY' || before === 'RTE' || before === 'RD') continue;
    const isNumbered =
      before !== '' ||
      startsWithDigit(line.words[index + 1] ?? '') ||
      line.words.slice(0, index).some((own) => startsWithDigit(own) || cardinalValue(own) > 0);
    return isNumbered ? index : -1;
  }
  return -1;
}

/** Military and diplomatic post offices. */
export const OFFICE_WORDS = ['APO', 'FPO', 'DPO'];
const OFFICES = wordsOf(OFFICE_WORDS);
const REGIONS = new Set(['AA', 'AE', 'AP']);

/**
 * Index of the word APO, FPO or DPO, provided that nothing but region and postal code follow it;
 * otherwise -1.
 */
function officeAt(line: Line): number {
  const { words } = line;
  for (let index = words.length - 1; index >= 0 && index >= words.length - 6; index--) {
    const word = words[index] ?? '';
    if (word.length !== 3 || !OFFICES.has(word)) continue;
    const next = words[index + 1];
    const told = next === undefined || REGIONS.has(next) || next.length === 5;
    return told ? index : -1;
  }
  return -1;
}

/** Reads a military or diplomatic address; null for any other line. */
export function readMilitary(line: Line, gazetteer: Gazetteer): ParsedAddress | null {
  const office = officeAt(line);
  if (office < 0) return null;
  const region = line.words[office + 1] ?? '';
  const tail = readTail(line, gazetteer);
  return {
    number: '',
    numberValue: -1,
    numberSuffix: '',
    numberHigh: -1,
    preDirection: '',
    name: '',
    suffix: '',
    postDirection: '',
    unit: line.words.slice(0, office).join(' '),
    city: line.words[office] ?? '',
    state: REGIONS.has(region) ? region : '',
    otherPlace: '',
    zip: tail.zip,
    zip4: tail.zip4,
    country: tail.country,
    canadianPostalCode: '',
    kind: 'military',
  };
}
