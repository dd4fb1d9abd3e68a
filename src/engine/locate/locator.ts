/**
 * Address line → tax area, by the strongest evidence there is: the door's own point, its range
 * of the street, its ZIP+4, its whole street, its ZIP and city. Where what is known leads to
 * several tax areas the answer is a refusal, never a choice.
 */
import type { Gazetteer, ParsedAddress } from '../../address/parsed.js';
import { foldName, otherSpelling } from '../../address/place-name.js';
import {
  type FoldedStreet,
  plainReading,
  readPlainPlace,
  readPlainStreet,
} from '../../address/plain-line.js';
import { RecentCache, TextMemo, WordTable } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { directionCode, type Locality } from '../../dataset/street-index.js';
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

/** Answers kept, in each of two generations. */
const ANSWERS_MAX = 10_000;

/** What a state has of a city's name. */
interface NamedCity {
  readonly record: CityRecord | null;
  readonly localities: readonly Locality[];
  /** It has either. */
  readonly isKnown: boolean;
}

/** What a state has of a name, and the states behind it that were asked for the same one. */
interface Answer {
  readonly state: string;
  readonly named: NamedCity;
  readonly next: Answer | null;
}

const NO_CITY: NamedCity = { record: null, localities: [], isKnown: false };

/** Whether a city is a municipality with doors of its own whose name is not the ZIP's. */
export function isExclusive(
  city: string,
  localities: readonly Locality[],
  zip: ZipRecord | null,
): boolean {
  const isMunicipal = localities.length > 0 && localities.every((one) => one.isMunicipality);
  return isMunicipal && zip?.cities.some((own) => foldName(own) === foldName(city)) === false;
}

/** The places of one dataset; keeps what it has of the names that are asked for. */
export class DatasetGazetteer implements Gazetteer {
  readonly #dataset: Dataset;
  /** Codes of states by code and by name. */
  readonly #codes: WordTable<string>;
  /** By name, which is hashed as it stands; few states are asked for the same one. */
  readonly #answers = new RecentCache<string, Answer>(ANSWERS_MAX);
  /** The city met last: an address that was read by it is searched with it. */
  #last = NO_CITY;
  #lastState = '';
  #lastName = '';

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    this.#codes = new WordTable(
      dataset.states().flatMap(
        ({ code, name }) =>
          [
            [code, code],
            [name.toUpperCase(), code],
          ] as const,
      ),
    );
  }

  stateOf(words: string): string {
    return this.#codes.get(words) ?? '';
  }

  isCity(state: string, city: string): boolean {
    return this.named(state, city).isKnown;
  }

  /** What a state has of a city's name; "" stands for any state and tells `isKnown` alone. */
  named(state: string, city: string): NamedCity {
    if (city === '') return NO_CITY;
    if (city === this.#lastName && state === this.#lastState) return this.#last;
    const found = this.#answer(state, city);
    if (found.isKnown) [this.#last, this.#lastState, this.#lastName] = [found, state, city];
    return found;
  }

  #answer(state: string, city: string): NamedCity {
    const known = this.#answers.get(city) ?? null;
    for (let each = known; each !== null; each = each.next) {
      if (each.state === state) return each.named;
    }
    const named = this.#find(state, city);
    this.#answers.set(city, { state, named, next: known });
    return named;
  }

  /** The record of a city under this name or its other spelling ("St Paul", "Saint Paul"). */
  city(state: string, name: string): CityRecord | null {
    const found = this.#dataset.city(state, name);
    if (found !== null) return found;
    const other = otherSpelling(name);
    return other === name ? null : this.#dataset.city(state, other);
  }

  #find(state: string, city: string): NamedCity {
    if (state === '') {
      const isKnown = this.#dataset.states().some(({ code }) => this.#find(code, city).isKnown);
      return isKnown ? { ...NO_CITY, isKnown } : NO_CITY;
    }
    const record = this.city(state, city);
    const localities = this.#dataset.streets.localities(state, city);
    return record === null && localities.length === 0
      ? NO_CITY
      : { record, localities, isKnown: true };
  }
}

interface Place {
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly zipValue: number;
  readonly zipRecord: ZipRecord | null;
  readonly localities: readonly Locality[];
  readonly exclusive: boolean;
  readonly record: CityRecord | null;
}

/** What addresses of one dataset are located with. */
interface AddressCollaborators {
  readonly dataset: Dataset;
  readonly gazetteer: DatasetGazetteer;
  readonly search: StreetSearch;
  readonly readings: ReadingLocator;
  /** States whose addresses without a ZIP are looked up in another way. */
  readonly isApart: (state: string) => boolean;
}

/**
 * The likeliest query of lines as most are written. What is found out about a place is remembered
 * for other lines that end in it.
 */
class PlainLines {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  /** States whose addresses without a ZIP are looked up in another way. */
  readonly #isApart: (state: string) => boolean;
  readonly #places = new TextMemo((text) => this.#place(text));

  constructor(dataset: Dataset, gazetteer: DatasetGazetteer, isApart: (state: string) => boolean) {
    this.#dataset = dataset;
    this.#gazetteer = gazetteer;
    this.#isApart = isApart;
  }

  /**
   * The query of what `parseAddress` gives first, where the line is plain and the dataset has
   * streets of its state; else null.
   */
  query(text: string, dateOf: DateOf): Query | null {
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
    const reading = plainReading(number, value, street, place);
    return queryOf(reading, street, place, dateOf(place.state));
  }

  /** Nothing for what is not written as plain places are; null for one that is none. */
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
    // A ZIP of another state, or none that is known, is looked at more closely.
    if (zipRecord?.state !== state) return null;
    const exclusive = isExclusive(city, localities, zipRecord);
    return { city, state, zip, zipValue, zipRecord, localities, exclusive, record };
  }
}

function queryOf(reading: ParsedAddress, street: FoldedStreet, place: Place, day: DateInt): Query {
  return {
    reading,
    fold: street.fold,
    wanted: {
      pre: directionCode(street.preDirection),
      post: directionCode(street.postDirection),
      suffix: street.suffix,
      value: reading.numberValue,
      text: '',
      hasZip: place.zip !== '',
      exclusive: place.exclusive,
      day,
    },
    state: place.state,
    zip: place.zipValue,
    zipRecord: place.zipRecord,
    localities: place.localities,
    city: place.record,
  };
}

/** Locates addresses in one dataset; keeps what is reused from one address to the next. */
export class AddressLocator {
  readonly #search: StreetSearch;
  readonly #plain: PlainLines;
  readonly #readings: ReadingLocator;

  constructor({ dataset, gazetteer, search, readings, isApart }: AddressCollaborators) {
    this.#search = search;
    this.#plain = new PlainLines(dataset, gazetteer, isApart);
    this.#readings = readings;
  }

  /**
   * Locates an address line. `dateOf` gives the day on which rates are compared where an answer
   * depends on several areas being taxed alike.
   */
  locate(text: string, dateOf: DateOf): Situs | Failure {
    const plain = this.#plain.query(text, dateOf);
    const found = plain === null ? null : this.#search.exact(plain, dateOf, true);
    return found ?? this.#readings.locate(text, plain, dateOf);
  }
}
