/**
 * Lines as most are written, "12 Main St, Burlington, VT 05401": figures, a street, and a city that
 * the state has, with commas between them. Their likeliest reading follows from the street and from
 * the place each by itself, so that neither has to be read again with the next line. What could be
 * read in another way with other words beside it is left to `parseAddress`.
 */
import { WordTable } from '../base/tables.js';
import { COUNTRY_LAST, OFFICES, isZip, OFFICE_WORDS } from './address-tail.js';
import { LETTERED_ROADS } from './highway.js';
import { COUNTY_WORDS } from './parse.js';
import type { Gazetteer, ParsedAddress } from './parsed.js';
import { endsInUnit, isNumbered } from './reading.js';
import { foldStreetName, readStreet, type StreetName } from './street-name.js';
import { ordinalValue, SPELLED_WORDS } from './street-words.js';
import { SUFFIX_WORDS } from './suffix.js';
import {
  DIRECTIONS,
  isKnownCity,
  tokenize,
  honouredKey,
  suffixOf,
  directionOf,
  isOrdinal,
  startsWithDigit,
  JOIN,
} from './word.js';
import { DESIGNATORS, UNIT_WORDS } from './unit.js';

/** A street with the folded name that it is looked up by. */
export interface FoldedStreet extends StreetName {
  readonly fold: string;
}

/** What a word of a street may mean besides itself. */
interface Meaning {
  /** "N" for "N" and "NORTH"; "" for what is no direction. */
  readonly direction: string;
  /** "ST" for "ST" and "STREET"; "" for what is no type, or as often a unit or a direction. */
  readonly type: string;
  /** It is one of the suffixes, whatever else it may be. */
  readonly isSuffix: boolean;
  /** It is read together with words beside it. */
  readonly isSpecial: boolean;
}

/** Words that mean something else than themselves before the last word of a street. */
const SPECIAL = [
  ...['NO', 'SO', 'OF', 'THE'],
  ...SPELLED_WORDS,
  ...LETTERED_ROADS,
  ...SUFFIX_WORDS.filter((word) => suffixOf(word) === 'AVE'),
  ...UNIT_WORDS,
  ...OFFICE_WORDS,
];

function meaningOf(word: string): Meaning {
  const direction = directionOf(word);
  const isType = direction === '' && !UNIT_WORDS.includes(word);
  const suffix = suffixOf(word);
  return {
    direction,
    type: isType ? suffix : '',
    isSuffix: suffix !== '',
    isSpecial: SPECIAL.includes(word),
  };
}

/** Of all words that have any, so that one look tells all of a word. */
const MEANINGS = new WordTable(
  [...DIRECTIONS.flat(), ...SUFFIX_WORDS, ...SPECIAL].map(
    (word) => [word, meaningOf(word)] as const,
  ),
);

const SPACE = 32;
const CAPITAL_A = 65;
const CAPITAL_Z = 90;

/**
 * Reads what stands between a number and a comma where it is a street of ordinary words,
 * with a type behind them or without, "Spectrum Center Dr", "N Main St", "Broadway". Null for any
 * other, which `readStreet` reads. One pass is all it takes.
 */
function readSimpleStreet(text: string): FoldedStreet | null {
  const words = text.toUpperCase();
  const { length } = words;
  let start = 0;
  let nameAt = 0;
  let preDirection = '';
  let fold = '';
  for (let at = 0; at < length; at += 1) {
    const code = words.charCodeAt(at);
    if (code >= CAPITAL_A && code <= CAPITAL_Z) continue;
    if (code !== SPACE || at === start) return null;
    const word = words.slice(start, at);
    const meaning = MEANINGS.get(word);
    if (meaning === undefined) fold += word;
    else if (start === 0 && meaning.direction !== '') {
      preDirection = meaning.direction;
      nameAt = at + 1;
    } else if (meaning.isSpecial) return null;
    else fold += word;
    start = at + 1;
  }
  // "12 A St": a letter behind a number may belong to it.
  if (start === length || (nameAt === 0 && words.charCodeAt(1) === SPACE)) return null;
  const last = words.slice(start);
  const meaning = MEANINGS.get(last);
  const suffix = fold === '' || meaning === undefined ? '' : meaning.type;
  if (suffix === '') {
    if (meaning !== undefined && (meaning.isSpecial || meaning.isSuffix)) return null;
    fold += last;
  }
  const name = words.slice(nameAt, suffix === '' ? length : start - 1);
  // "MLK" and "Martin Luther King" alone are spelt in several ways.
  if (fold.includes('LK') || fold.includes('KING')) fold = honouredKey(fold);
  return { preDirection, name, suffix, postDirection: '', fold };
}

/** A city of a state, with its ZIP or "". */
interface PlainPlace {
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

const STREET = /^[A-Za-z0-9 ]+$/;

/** A state and a unit: as that it follows an ordinal. */
const FLORIDA = 'FL';

/** Whether a word is taken for itself wherever it stands. */
function isPlain(word: string): boolean {
  return !DESIGNATORS.has(word) && !OFFICES.has(word);
}

/** Whether a state's code is as often another word: "CT" a court, "NE" a direction. */
function isDoubtful(code: string): boolean {
  const meaning = MEANINGS.get(code);
  return meaning !== undefined && (meaning.isSuffix || meaning.direction !== '');
}

/** Whether the words of a city, and the code of a state behind it, mean nothing else. */
function isPlainCity(words: readonly string[], state: string): boolean {
  const last = words.at(-1)!;
  if (!words.every(isPlain) || COUNTRY_LAST.has(last)) return false;
  if (!isPlain(state) && (state !== FLORIDA || ordinalValue(last) !== 0)) return false;
  if (words.length > 1) return !COUNTY_WORDS.has(last);
  return (MEANINGS.get(last)?.direction ?? '') === '';
}

/** What stands behind the street from its comma on: city, what divides, state, ZIP. */
const PLACE = /^, ?([A-Za-z]+(?: [A-Za-z]+)*)(, ?| )([A-Za-z]{2})(?: ([0-9]{5}))?$/;

/**
 * Reads ", Burlington, VT 05401" as `readTail` does. Undefined where it is not written like that;
 * null for a place that more is to be known of.
 */
export function readPlainPlace(text: string, gazetteer: Gazetteer): PlainPlace | null | undefined {
  const found = PLACE.exec(text);
  if (found === null) return undefined;
  const [, written = '', divider = '', letters = '', zip = ''] = found;
  const words = written.toUpperCase().split(' ');
  const code = letters.toUpperCase();
  const state = gazetteer.stateOf(code);
  if (state === '' || COUNTRY_LAST.has(code) || !isPlainCity(words, code)) return null;
  // "Pine CT" may be a court; behind a comma it is Connecticut.
  if (divider === ' ' && isDoubtful(code)) return null;
  const city = words.join(' ');
  const isKnown = gazetteer.isCity(state, city);
  return isKnown || isKnownCity(words, 0, words.length, state, gazetteer)
    ? { city, state, zip }
    : null;
}

/** The likeliest reading of a line of a number with its integer, a street and a place. */
export function plainReading(
  number: string,
  numberValue: number,
  { preDirection, name, suffix, postDirection }: FoldedStreet,
  { city, state, zip }: PlainPlace,
): ParsedAddress {
  return {
    number,
    numberValue,
    numberSuffix: '',
    numberHigh: -1,
    preDirection,
    name,
    suffix,
    postDirection,
    unit: '',
    city,
    state,
    otherPlace: '',
    zip,
    zip4: '',
    country: '',
    canadianPostalCode: '',
    kind: 'street',
  };
}

/** Whether the first word of a street may be a part of the number before it. */
function joinsNumber(word: string): boolean {
  if (startsWithDigit(word)) return !isOrdinal(word);
  return word.length === 1 && directionOf(word) === '';
}

/** Whether the code of a state ends a text, "Main St Irvine CA", and is no other word. */
function endsInState(text: string, gazetteer: Gazetteer): boolean {
  if (text.charCodeAt(text.length - 3) !== SPACE) return false;
  const code = text.slice(-2).toUpperCase();
  return !isDoubtful(code) && gazetteer.stateOf(code) !== '';
}

/** Reads "Main St" behind a number and before a comma; null for a street as of `readPlainPlace`. */
export function readPlainStreet(text: string, gazetteer: Gazetteer): FoldedStreet | null {
  const simple = readSimpleStreet(text);
  // A type is no state.
  if (simple !== null && simple.suffix !== '') return simple;
  if (endsInState(text, gazetteer)) return null;
  return simple ?? readOtherStreet(text, gazetteer);
}

function readOtherStreet(text: string, gazetteer: Gazetteer): FoldedStreet | null {
  if (!STREET.test(text)) return null;
  const { words, joins } = tokenize(text);
  if (words.length === 0 || joinsNumber(words[0]!)) return null;
  if (!words.every((word) => isPlain(word) && !isZip(word))) return null;
  if (joins.some((join) => join !== JOIN.space)) return null;
  const span = { from: 0, to: words.length };
  if (endsInUnit(words, span) && !isNumbered(words, span, gazetteer)) return null;
  const { street } = readStreet(words, 0, words.length, gazetteer);
  const { preDirection, name, suffix, postDirection } = street;
  return { preDirection, name, suffix, postDirection, fold: foldStreetName(name) };
}
