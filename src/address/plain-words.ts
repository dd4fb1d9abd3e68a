/**
 * What each word of an ordinary line may mean besides itself. Streets with words of special meaning
 * are read here, more slowly.
 */
import { WordTable } from '../base/tables.js';
import { isZip, OFFICE_WORDS } from './address-tail.js';
import { LETTERED_ROADS } from './highway.js';
import type { Gazetteer } from './parsed.js';
import { endsInUnit, isNumbered } from './reading.js';
import { foldStreetName, readStreet, type StreetName } from './street-name.js';
import { SPELLED_WORDS } from './street-words.js';
import { SUFFIX_WORDS } from './suffix.js';
import { UNIT_WORDS } from './unit.js';
import {
  DIRECTIONS,
  directionOf,
  isOrdinal,
  JOIN,
  startsWithDigit,
  suffixOf,
  tokenize,
} from './word.js';

/** A street with the folded name that it is looked up by. */
export interface FoldedStreet extends StreetName {
  readonly fold: string;
}

/** What a word of a street may mean besides itself. */
interface Meaning {
  /** "N" for "N" and "NORTH"; "" for what is no direction. */
  readonly direction: string;
  /**
   * "ST" for "ST" and "STREET"; "" for a word that is no street type, or is as often a unit or a
   * direction.
   */
  readonly type: string;
  /** Whether it is a suffix, whatever else it may mean. */
  readonly isSuffix: boolean;
  /** Whether its meaning depends on the words beside it. */
  readonly isSpecial: boolean;
  /** Whether it begins a unit, a box or a military office wherever it stands. */
  readonly isUnit: boolean;
}

/**
 * Words that begin a unit, a box or a military office, so what follows is no part of the street.
 */
const UNITS = [...UNIT_WORDS, ...OFFICE_WORDS];

/** Words whose meaning changes where other words of the street follow them. */
const SPECIAL = [
  ...['NO', 'SO', 'OF', 'THE'],
  ...SPELLED_WORDS,
  ...LETTERED_ROADS,
  ...SUFFIX_WORDS.filter((word) => suffixOf(word) === 'AVE'),
  ...UNITS,
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
    isUnit: UNITS.includes(word),
  };
}

/**
 * The meanings of all words that have any, so that a single look-up tells everything about a word.
 */
export const MEANINGS = new WordTable(
  [...DIRECTIONS.flat(), ...SUFFIX_WORDS, ...SPECIAL].map(
    (word) => [word, meaningOf(word)] as const,
  ),
);

const SPACE = 32;
const STREET = /^[A-Za-z0-9 ]+$/;

/** Whether a state's code is as often another word: "CT" a court, "NE" a direction. */
export function isOtherWord(code: string): boolean {
  const meaning = MEANINGS.get(code);
  return meaning !== undefined && (meaning.isSuffix || meaning.direction !== '');
}

/** Whether the code of a state ends a text, "Main St Irvine CA", and is no other word. */
export function endsInState(text: string, gazetteer: Gazetteer): boolean {
  if (text.charCodeAt(text.length - 3) !== SPACE) return false;
  const code = text.slice(-2).toUpperCase();
  return !isOtherWord(code) && gazetteer.stateOf(code) !== '';
}

/** Whether the first word of a street may be a part of the house number before it. */
function joinsNumber(word: string): boolean {
  if (startsWithDigit(word)) return !isOrdinal(word);
  return word.length === 1 && directionOf(word) === '';
}

/**
 * Reads a street that has words of special meaning ("2nd Ave N"); null where it may contain a unit.
 */
export function readOtherStreet(text: string, gazetteer: Gazetteer): FoldedStreet | null {
  if (!STREET.test(text)) return null;
  const { words, joins } = tokenize(text);
  if (words.length === 0 || joinsNumber(words[0]!)) return null;
  if (words.some((word) => MEANINGS.get(word)?.isUnit === true || isZip(word))) return null;
  if (joins.some((join) => join !== JOIN.space)) return null;
  const span = { from: 0, to: words.length };
  if (endsInUnit(words, span) && !isNumbered(words, span, gazetteer)) return null;
  const { street } = readStreet(words, 0, words.length, gazetteer);
  const { preDirection, name, suffix, postDirection } = street;
  return { preDirection, name, suffix, postDirection, fold: foldStreetName(name) };
}
