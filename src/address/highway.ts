/**
 * Numbered roads. Publication 28, section 234, names the forms; every way of writing one comes to
 * the same name: "US HIGHWAY 7", "STATE ROUTE 100", "COUNTY HIGHWAY 12", "INTERSTATE 89".
 */
import { WordTable, wordsOf } from '../base/tables.js';
import type { Gazetteer } from './parsed.js';
import { suffixOf, directionOf, hasDigit, isDigits, startsWithDigit } from './word.js';

/** A numbered road at the front of a street's words. */
interface Highway {
  /** "STATE ROUTE 100", with a qualifier before it: "OLD STATE ROUTE 5". */
  readonly name: string;
  /** Index of the first word after the number. */
  readonly next: number;
  /**
   * Another name that the same words may mean: a bare "ROUTE 7" may be a US highway. "" if none.
   */
  readonly other: string;
}

type Kind = 'us' | 'interstate' | 'county' | 'state' | 'bare' | 'farm' | 'ranch' | 'whole';

/** Kinds of numbered roads by their first word. */
// biome-ignore format: a kind a row, with all its words
const STARTS = new WordTable<Kind>([
  ['US', 'us'], ['USH', 'us'], ['USHY', 'us'],
  ['INTERSTATE', 'interstate'], ['I', 'interstate'], ['IH', 'interstate'],
  ['COUNTY', 'county'], ['CO', 'county'], ['CNTY', 'county'], ['CTY', 'county'],
  ['CR', 'whole'], ['CTH', 'whole'], ['CSAH', 'whole'], ['CRD', 'whole'],
  ['STATE', 'state'], ['ST', 'state'],
  ['SR', 'state'], ['SH', 'state'], ['STH', 'state'], ['SRT', 'state'], ['SHWY', 'state'],
  ['HIGHWAY', 'bare'], ['HWY', 'bare'], ['ROUTE', 'bare'], ['RTE', 'bare'], ['RT', 'bare'],
  ['FM', 'farm'], ['FARM', 'farm'], ['RM', 'ranch'], ['RANCH', 'ranch'],
]);

/** Abbreviations that the number follows at once. */
const COMPLETE = wordsOf(['SR', 'SH', 'STH', 'SRT', 'SHWY']);
const QUALIFIERS = wordsOf(['OLD', 'BUSINESS', 'BUS']);

/**
 * Local numbered roads: the words of the name by its first word. A word for "road" follows them.
 */
const LOCAL = new WordTable([
  ['TOWN', 'TOWN'],
  ['TOWNSHIP', 'TOWNSHIP'],
  ['TWP', 'TOWNSHIP'],
  ['PRIVATE', 'PRIVATE'],
  ['PVT', 'PRIVATE'],
  ['FOREST', 'FOREST'],
  ['FIRE', 'FIRE'],
  ['INDIAN', 'INDIAN'],
]);

function isRouteWord(word: string): boolean {
  const suffix = suffixOf(word);
  return suffix === 'HWY' || suffix === 'RTE';
}

function isRoadWord(word: string): boolean {
  return isRouteWord(word) || suffixOf(word) === 'RD' || word === 'TRUNK' || word === 'TRK';
}

/** A road's number without leading zeros ("100", "22A"); "" for a word that is none. */
function roadNumber(word: string | undefined): string {
  if (word === undefined || !startsWithDigit(word) || word.length > 6) return '';
  let digits = 0;
  while (digits < word.length && isDigits(word.charAt(digits))) digits++;
  if (digits > 5 || word.length - digits > 2) return '';
  const tail = word.slice(digits);
  if (tail === 'ST' || tail === 'ND' || tail === 'RD' || tail === 'TH') return '';
  return /^[A-Z]*$/.test(tail) ? word.replace(/^0+(?=\d)/, '') : '';
}

/** A county road may have a letter for a number, alone or doubled: "CTH A", "County Road ZZ". */
function roadLetters(word: string | undefined): string {
  if (word === undefined || word.length === 0 || word.length > 3) return '';
  for (let index = 0; index < word.length; index++) {
    if (word.charCodeAt(index) !== word.charCodeAt(0)) return '';
  }
  return hasDigit(word) || word === '#' ? '' : word;
}

interface Span {
  readonly words: readonly string[];
  readonly end: number;
}

function wordAt(span: Span, index: number): string | undefined {
  return index < span.end ? span.words[index] : undefined;
}

function found(name: string, next: number, other = ''): Highway {
  return { name, next, other };
}

function readCounty(span: Span, at: number, letters: boolean): Highway | null {
  let next = at;
  let roads = 0;
  while (roads < 2 && isRoadWord(wordAt(span, next) ?? '')) {
    next++;
    roads++;
  }
  const number = roadNumber(wordAt(span, next));
  if (number !== '') {
    // "COUNTY 5" means County Road 5, but "CO 5" is a highway of Colorado.
    if (roads === 0 && span.words[at - 1] === 'CO') return null;
    return found(`COUNTY HIGHWAY ${number}`, next + 1);
  }
  const letter = letters && roads > 0 ? roadLetters(wordAt(span, next)) : '';
  return letter === '' ? null : found(`COUNTY HIGHWAY ${letter}`, next + 1);
}

function readState(span: Span, at: number, needsRoad: boolean): Highway | null {
  let next = at;
  while (next < at + 2 && isRoadWord(wordAt(span, next) ?? '')) next++;
  if (needsRoad && next === at) return null;
  const number = roadNumber(wordAt(span, next));
  return number === '' ? null : found(`STATE ROUTE ${number}`, next + 1);
}

function readUs(span: Span, at: number): Highway | null {
  const next = isRouteWord(wordAt(span, at) ?? '') ? at + 1 : at;
  const number = roadNumber(wordAt(span, next));
  return number === '' ? null : found(`US HIGHWAY ${number}`, next + 1, `STATE ROUTE ${number}`);
}

/**
 * Reads Texas' farm and ranch roads: "FM 1960", "FM RD 1960", "FARM TO MARKET ROAD 1960", "RANCH
 * ROAD 12".
 */
function readMarket(span: Span, at: number, short: string): Highway | null {
  let next = at;
  const abbreviated = span.words[at - 1] === short;
  if (wordAt(span, next) === 'TO' && wordAt(span, next + 1) === 'MARKET') next += 2;
  else if (!abbreviated && short === 'FM') return null;
  if (suffixOf(wordAt(span, next) ?? '') === 'RD') next++;
  else if (!abbreviated && next === at) return null;
  const number = roadNumber(wordAt(span, next));
  if (number === '') return null;
  next++;
  // In "FM 1960 RD W" the word RD adds nothing.
  if (suffixOf(wordAt(span, next) ?? '') === 'RD') next++;
  return found(`${short} ${number}`, next);
}

/** Reads a route without a state or county: "HIGHWAY 7", "HIGHWAY US 7", "ROUTE 100". */
function readBare(span: Span, at: number): Highway | null {
  if (wordAt(span, at) === 'US') return readUs(span, at + 1);
  const number = roadNumber(wordAt(span, at));
  if (number === '') return null;
  return found(`STATE ROUTE ${number}`, at + 1, `US HIGHWAY ${number}`);
}

function readKind(span: Span, at: number, kind: Kind, letters: boolean): Highway | null {
  const word = span.words[at] ?? '';
  switch (kind) {
    case 'us':
      return readUs(span, at + 1);
    case 'interstate': {
      const next = isRouteWord(wordAt(span, at + 1) ?? '') ? at + 2 : at + 1;
      const number = roadNumber(wordAt(span, next));
      return number === '' ? null : found(`INTERSTATE ${number}`, next + 1);
    }
    case 'county':
      return readCounty(span, at + 1, letters);
    case 'whole': {
      const ident =
        roadNumber(wordAt(span, at + 1)) ||
        (letters && word === 'CTH' ? roadLetters(wordAt(span, at + 1)) : '');
      return ident === '' ? null : found(`COUNTY HIGHWAY ${ident}`, at + 2);
    }
    case 'state':
      return readState(span, at + 1, !COMPLETE.has(word));
    case 'bare':
      return readBare(span, at + 1);
    case 'farm':
      return readMarket(span, at + 1, 'FM');
    case 'ranch':
      return readMarket(span, at + 1, 'RM');
  }
}

/**
 * Reads a route with its state: "VT ROUTE 100", "VERMONT STATE HWY 14", "VT 100", "NYS ROUTE 5".
 */
function readStateNamed(span: Span, at: number, gazetteer: Gazetteer): Highway | null {
  const first = span.words[at] ?? '';
  const second = wordAt(span, at + 1);
  if (second === undefined) return null;
  if (startsWithDigit(second)) {
    if (first.length !== 2 || directionOf(first) !== '' || suffixOf(first) === 'ST') return null;
    const number = roadNumber(second);
    if (number === '' || gazetteer.stateOf(first) === '') return null;
    return found(`STATE ROUTE ${number}`, at + 2);
  }
  for (let road = at + 1; road <= at + 3; road++) {
    const word = wordAt(span, road);
    if (word === undefined) return null;
    const stated = word === 'STATE';
    if (!stated && !isRouteWord(word) && !COMPLETE.has(word)) continue;
    let name = span.words.slice(at, road).join(' ');
    if (name.length === 3 && name.endsWith('S')) name = name.slice(0, 2);
    if (gazetteer.stateOf(name) === '') return null;
    return (
      readState(span, stated ? road + 1 : road, false) ??
      (COMPLETE.has(word) ? readState(span, road + 1, false) : null)
    );
  }
  return null;
}

/**
 * Reads a local road with number or letter: "AVENUE B", "AVENUE 45", "ROAD 18", "TOWN HIGHWAY 28",
 * "FIRE LANE 3".
 */
function readLocal(span: Span, at: number): Highway | null {
  const word = span.words[at] ?? '';
  const next = wordAt(span, at + 1);
  if (next === undefined) return null;
  const local = LOCAL.get(word);
  if (local !== undefined) {
    const road = suffixOf(next);
    if (road !== 'RD' && road !== 'HWY' && road !== 'LN' && road !== 'RTE') return null;
    const number = roadNumber(wordAt(span, at + 2));
    const spelled = { RD: 'ROAD', HWY: 'HIGHWAY', LN: 'LANE', RTE: 'ROUTE' }[road];
    return number === '' ? null : found(`${local} ${spelled} ${number}`, at + 3);
  }
  const suffix = suffixOf(word);
  const number = roadNumber(next);
  if (suffix === 'AVE') {
    const ident = number || (next.length === 1 ? roadLetters(next) : '');
    return ident === '' ? null : found(`AVENUE ${ident}`, at + 2);
  }
  if (number === '') return null;
  if (word === 'PR') return found(`PRIVATE ROAD ${number}`, at + 2);
  if (suffix === 'RD') return found(`ROAD ${number}`, at + 2);
  return suffix === 'LOOP' ? found(`LOOP ${number}`, at + 2) : null;
}

/** First words of roads that may have letters for numbers. */
export const LETTERED_ROADS = ['COUNTY', 'CO', 'CNTY', 'CTY', 'CTH'];
const LETTERED = wordsOf(LETTERED_ROADS);

/** The most words that come before the number: "OLD NEW YORK STATE TRUNK HIGHWAY 5". */
const WORDS_TO_NUMBER_MAX = 6;

/** Whether the words may name a numbered road. Most streets are none, and this quick test tells. */
function mayBeNumbered(words: readonly string[], at: number, end: number): boolean {
  const stop = Math.min(end, at + 1 + WORDS_TO_NUMBER_MAX);
  for (let index = at + 1; index < stop; index++) {
    if (startsWithDigit(words[index] ?? '')) return true;
  }
  const first = words[at] ?? '';
  if (first.charCodeAt(0) === 73 && startsWithDigit(first.charAt(1))) return true;
  return LETTERED.has(first) || suffixOf(first) === 'AVE';
}

/**
 * Reads the numbered road that starts at a word; null where none does. State names come from the
 * gazetteer. A road in one word, as "I89", is read too.
 */
export function readHighway(
  words: readonly string[],
  at: number,
  end: number,
  gazetteer: Gazetteer,
): Highway | null {
  if (!mayBeNumbered(words, at, end)) return null;
  const first = words[at] ?? '';
  const span: Span = { words, end };
  if (QUALIFIERS.has(first) && at + 1 < end) {
    const kind = STARTS.get(words[at + 1] ?? '');
    const inner =
      kind !== undefined
        ? readKind(span, at + 1, kind, false)
        : readStateNamed(span, at + 1, gazetteer);
    const qualifier = first === 'BUS' ? 'BUSINESS' : first;
    return inner === null ? null : found(`${qualifier} ${inner.name}`, inner.next);
  }
  const kind = STARTS.get(first);
  if (kind !== undefined) {
    const highway = readKind(span, at, kind, true);
    if (highway !== null) return highway;
  } else if (first.length <= 4 && first.charCodeAt(0) === 73 && isDigits(first.slice(1))) {
    return found(`INTERSTATE ${Number(first.slice(1))}`, at + 1);
  }
  return readLocal(span, at) ?? readStateNamed(span, at, gazetteer);
}
