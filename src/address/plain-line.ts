/**
 * Lines as most are written, "12 Main St, Burlington, VT 05401": figures, a street, and a city that
 * the state has, with commas between them. Their likeliest reading follows from the street and from
 * the place each by itself, so that neither has to be read again with the next line. What could be
 * read in another way with other words beside it is left to `parseAddress`.
 */
import { endsCountry, isOffice, isZip, readTail } from './address-tail.js';
import { isKnownCity } from './line-place.js';
import { isCountyWord } from './parse.js';
import type { Gazetteer } from './parsed.js';
import { endsInUnit, isNumbered } from './reading.js';
import { type FoldedStreet, readSimpleStreet } from './simple-street.js';
import { foldStreetName, readStreet } from './street-name.js';
import { directionOf, isOrdinal, ordinalValue, startsWithDigit } from './street-words.js';
import { JOIN, tokenize, type Line } from './token.js';
import { isDesignator } from './unit.js';

/** A city of a state, with its ZIP or "". */
export interface PlainPlace {
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

/** What stands behind the street, from its comma on. */
const PLACE = /^, ?[A-Za-z]+(?: [A-Za-z]+)*(?:, ?| )[A-Za-z]{2}(?: [0-9]{5})?$/;
const STREET = /^[A-Za-z0-9 ]+$/;

/** In front of a place: a number and a street that mean nothing else. */
const BEFORE_PLACE = '1 X';
const WORDS_BEFORE_PLACE = 2;
/** A state and a unit: as that it follows an ordinal. */
const FLORIDA = 'FL';

/** Whether a word is taken for itself wherever it stands. */
function isPlain(word: string): boolean {
  return !isDesignator(word) && !isOffice(word);
}

/** Words [WORDS_BEFORE_PLACE, end) of a line are a city, and what follows is its state and ZIP. */
function isPlainCity({ words }: Line, end: number): boolean {
  const last = words[end - 1] ?? '';
  for (let index = WORDS_BEFORE_PLACE; index < words.length; index++) {
    const word = words[index]!;
    if (isPlain(word)) continue;
    const state = index === end && word === FLORIDA;
    if (!state || ordinalValue(last) !== 0) return false;
  }
  const single = end - WORDS_BEFORE_PLACE === 1;
  return single
    ? directionOf(last) === '' && !endsCountry(last)
    : !isCountyWord(last) && !endsCountry(last);
}

/** Whether text is written as places are that `readPlainPlace` reads. */
export function mayBePlain(text: string): boolean {
  return PLACE.test(text);
}

/** Reads ", Burlington, VT 05401"; null for a place that more is to be known of. */
export function readPlainPlace(text: string, gazetteer: Gazetteer): PlainPlace | null {
  if (!PLACE.test(text)) return null;
  const line = tokenize(BEFORE_PLACE + text);
  const tail = readTail(line, gazetteer);
  const { end, state, zip } = tail;
  if (state === '' || tail.doubtful || tail.country !== '') return null;
  const known = line.words.length - (zip === '' ? 1 : 2);
  if (end !== known || end <= WORDS_BEFORE_PLACE || !isPlainCity(line, end)) return null;
  if (!isKnownCity(line.words, WORDS_BEFORE_PLACE, end, state, gazetteer)) return null;
  return { city: line.words.slice(WORDS_BEFORE_PLACE, end).join(' '), state, zip };
}

/** Whether the first word of a street may be a part of the number before it. */
function joinsNumber(word: string): boolean {
  if (startsWithDigit(word)) return !isOrdinal(word);
  return word.length === 1 && directionOf(word) === '';
}

/** Reads "Main St" behind a number and before a comma; null for a street as of `readPlainPlace`. */
export function readPlainStreet(text: string, gazetteer: Gazetteer): FoldedStreet | null {
  return readSimpleStreet(text) ?? readOtherStreet(text, gazetteer);
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
