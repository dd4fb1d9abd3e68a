/**
 * Finds the tax area of an address line. Lines in the usual form are read here: "12 Main St,
 * Burlington, VT 05401", digits, a street and a city of the state, with commas between them. In
 * these, street and place can be read independently, so that a known street or place need not be
 * read again in the next line. Lines with other possible readings, and those not found this way,
 * are read word by word.
 */
import { COUNTRY_LAST } from '../../address/address-tail.js';
import { COUNTY_WORDS } from '../../address/parse.js';
import type { Gazetteer } from '../../address/parsed.js';
import {
  endsInState,
  type FoldedStreet,
  isOtherWord,
  MEANINGS,
  readOtherStreet,
} from '../../address/plain-words.js';
import { ordinalValue } from '../../address/street-words.js';
import { honouredKey, isKnownCity } from '../../address/word.js';
import { TextMemo } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import { type DatasetGazetteer, isExclusive } from '../../dataset/city-names.js';
import type { Locality } from '../../dataset/locality-list.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { directionCode } from '../../dataset/street-index.js';
import type { Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import type { Situs } from '../situs.js';
import type { DateOf } from './doubt.js';
import type { Query, StreetSearch } from './search.js';
import type { ReadingLocator } from './word-by-word.js';

/** Longer lines are read word by word. */
const LINE_CHARS_MAX = 100;
const DIGITS_MAX = 7;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const CAPITAL_A = 65;
const CAPITAL_Z = 90;

/**
 * Reads the text between a number and a comma, if it is a street of ordinary words, with or without
 * a type: "Spectrum Center Dr", "N Main St", "Broadway". Null for any other street, which
 * `readStreet` reads. It reads the text in a single pass.
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
  // "12 A St": the letter may belong to the number.
  if (start === length || (nameAt === 0 && words.charCodeAt(1) === SPACE)) return null;
  const last = words.slice(start);
  const meaning = MEANINGS.get(last);
  const suffix = fold === '' || meaning === undefined ? '' : meaning.type;
  if (suffix === '') {
    if (meaning !== undefined && (meaning.isSpecial || meaning.isSuffix)) return null;
    fold += last;
  }
  const name = words.slice(nameAt, suffix === '' ? length : start - 1);
  // Names with "MLK" or "Martin Luther King" have several spellings.
  if (fold.includes('LK') || fold.includes('KING')) fold = honouredKey(fold);
  return { preDirection, name, suffix, postDirection: '', fold };
}

/** A city with its state, and its ZIP or "". */
interface PlainPlace {
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

/** Florida's code also means "floor" when it follows an ordinal. */
const FLORIDA = 'FL';

function isUnit(word: string): boolean {
  return MEANINGS.get(word)?.isUnit === true;
}

/** Whether the words of a city, and the code of the state after it, have no other meaning. */
function isPlainCity(words: readonly string[], state: string): boolean {
  const last = words.at(-1)!;
  if (words.some(isUnit) || COUNTRY_LAST.has(last)) return false;
  if (isUnit(state) && (state !== FLORIDA || ordinalValue(last) !== 0)) return false;
  if (words.length > 1) return !COUNTY_WORDS.has(last);
  return (MEANINGS.get(last)?.direction ?? '') === '';
}

/** The text from the comma after the street on: city, divider, state, ZIP. */
const PLACE = /^, ?([A-Za-z]+(?: [A-Za-z]+)*)(, ?| )([A-Za-z]{2})(?: ([0-9]{5}))?$/;

/**
 * Reads ", Burlington, VT 05401" with the same result as `readTail`. Undefined for a text of
 * another form; null for a place that may have another meaning.
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
  if (divider === ' ' && isOtherWord(code)) return null;
  const city = words.join(' ');
  const isKnown = gazetteer.isCity(state, city);
  return isKnown || isKnownCity(words, 0, words.length, state, gazetteer)
    ? { city, state, zip }
    : null;
}

/**
 * Reads "Main St" behind a number and before a comma; null where the words may have another
 * meaning.
 */
export function readPlainStreet(text: string, gazetteer: Gazetteer): FoldedStreet | null {
  const simple = readSimpleStreet(text);
  // With a street type at its end, the text does not end in a state.
  if (simple !== null && simple.suffix !== '') return simple;
  if (endsInState(text, gazetteer)) return null;
  return simple ?? readOtherStreet(text, gazetteer);
}

/** A plain place, and what the dataset has of it. */
interface Place extends PlainPlace {
  readonly zipValue: number;
  readonly zipRecord: ZipRecord | null;
  readonly localities: readonly Locality[];
  readonly exclusive: boolean;
  readonly record: CityRecord | null;
}

/** The query of the likeliest reading, made of a number, a street and a place. */
function queryOf(
  number: string,
  numberValue: number,
  { preDirection, name, suffix, postDirection, fold }: FoldedStreet,
  place: Place,
  day: DateInt,
): Query {
  const { city, state, zip, zipValue, zipRecord, localities, exclusive, record } = place;
  return {
    reading: {
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
    },
    fold,
    wanted: {
      pre: directionCode(preDirection),
      post: directionCode(postDirection),
      suffix,
      value: numberValue,
      text: '',
      hasZip: zip !== '',
      exclusive,
      day,
    },
    state,
    zip: zipValue,
    zipRecord,
    localities,
    city: record,
  };
}

/** What the locator uses of the engine. */
interface AddressCollaborators {
  readonly dataset: Dataset;
  readonly gazetteer: DatasetGazetteer;
  readonly search: StreetSearch;
  readonly readings: ReadingLocator;
  /** Whether addresses of a state without a ZIP are located in another way. */
  readonly isApart: (state: string) => boolean;
}

/**
 * Locates addresses in one dataset by the strongest evidence there is: the door's own point, its
 * range of the street, its ZIP+4, its whole street, its ZIP and city. If the evidence leads to
 * several tax areas the answer is a refusal, never a choice. What is known of a place is remembered
 * for other lines that end in it.
 */
export class AddressLocator {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #search: StreetSearch;
  readonly #readings: ReadingLocator;
  readonly #isApart: (state: string) => boolean;
  readonly #places = new TextMemo((text) => this.#place(text));

  constructor({ dataset, gazetteer, search, readings, isApart }: AddressCollaborators) {
    this.#dataset = dataset;
    this.#gazetteer = gazetteer;
    this.#search = search;
    this.#readings = readings;
    this.#isApart = isApart;
  }

  /**
   * Locates an address line. `dateOf` gives the day on which rates are compared where several areas
   * are possible.
   */
  locate(text: string, dateOf: DateOf): Situs | Failure {
    const plain = this.#plain(text, dateOf);
    const found = plain === null ? null : this.#search.exact(plain, dateOf, true);
    return found ?? this.#readings.locate(text, plain, dateOf);
  }

  /**
   * The query of the reading that `parseAddress` puts first, if the line is plain and the dataset
   * has streets of its state; otherwise null.
   */
  #plain(text: string, dateOf: DateOf): Query | null {
    const { length } = text;
    if (length > LINE_CHARS_MAX) return null;
    let value = 0;
    let at = 0;
    let code = text.charCodeAt(0);
    for (; code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
      value = value * 10 + code - ZERO;
      at += 1;
    }
    if (at === 0 || at > DIGITS_MAX || code !== SPACE) return null;
    const number = text.charCodeAt(0) === ZERO ? String(value) : text.slice(0, at);
    const comma = text.indexOf(',', at);
    const place = comma < 0 ? null : this.#places.get(text, comma);
    if (place === null || place === undefined) return null;
    const street = readPlainStreet(text.slice(at + 1, comma), this.#gazetteer);
    if (street === null || street.name === '') return null;
    return queryOf(number, value, street, place, dateOf(place.state));
  }

  /** Undefined where the text is not a plain place; null where the place has no plain reading. */
  #place(text: string): Place | null | undefined {
    const place = readPlainPlace(text, this.#gazetteer);
    if (place === undefined) return undefined;
    if (place === null || !this.#dataset.streets.hasState(place.state)) return null;
    const { city, state, zip } = place;
    const { localities, record } = this.#gazetteer.named(state, city);
    if (zip === '') {
      if (this.#isApart(state)) return null;
      const none = { zipValue: 0, zipRecord: null, exclusive: false };
      return { city, state, zip, ...none, localities, record };
    }
    const zipValue = Number(zip);
    const zipRecord = this.#dataset.zip(zipValue);
    // A ZIP that is unknown, or of another state, needs a closer look.
    if (zipRecord?.state !== state) return null;
    const exclusive = isExclusive(city, localities, zipRecord);
    return { city, state, zip, zipValue, zipRecord, localities, exclusive, record };
  }
}
