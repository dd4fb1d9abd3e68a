/**
 * Address line → tax area, by the strongest evidence there is: the door's own point, its range
 * of the street, its ZIP+4, its whole street, its ZIP and city. Where what is known leads to
 * several tax areas the answer is a refusal, never a choice.
 */
import { parseAddress } from '../../address/parse.js';
import type { ParsedAddress } from '../../address/parsed.js';
import { type FoldedStreet, readPlainPlace, readPlainStreet } from '../../address/plain-line.js';
import { TextMemo } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { directionCode } from '../../dataset/street-index.js';
import type { Locality } from '../../dataset/street-index.js';
import { isFailure, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { RatesByArea } from '../rate/on-day.js';
import type { Situs } from '../situs.js';
import { AddressWriter } from './address-writer.js';
import { ALIKE, Doubts, type DateOf, namesAnotherPlace } from './doubt.js';
import { DatasetGazetteer, isExclusive } from './place-names.js';
import { PostalLocator } from './postal.js';
import { needsProvince, ProvinceLocator } from './province.js';
import { type Query, StreetSearch } from './search.js';
import { ReadingLocator } from './word-by-word.js';

/** Longer lines are read word by word. */
const LINE_CHARS_MAX = 100;
const DIGITS_MAX = 7;
const SPACE = 32;
const ZERO = 48;
const NINE = 57;

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
    return queryOf(number, value, street, place, dateOf);
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

function queryOf(
  number: string,
  value: number,
  street: FoldedStreet,
  { city, state, zip, zipValue, zipRecord, localities, exclusive, record }: Place,
  dateOf: DateOf,
): Query {
  const reading: ParsedAddress = {
    number,
    numberValue: value,
    numberSuffix: '',
    numberHigh: -1,
    preDirection: street.preDirection,
    name: street.name,
    suffix: street.suffix,
    postDirection: street.postDirection,
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
  return {
    reading,
    fold: street.fold,
    wanted: {
      pre: directionCode(street.preDirection),
      post: directionCode(street.postDirection),
      suffix: street.suffix,
      value,
      text: '',
      hasZip: zip !== '',
      exclusive,
      day: dateOf(state),
    },
    state,
    zip: zipValue,
    zipRecord,
    localities,
    city: record,
  };
}

/** Locates addresses in one dataset; keeps what is reused from one address to the next. */
export class AddressLocator {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #search: StreetSearch;
  readonly #plain: PlainLines;
  readonly #readings: ReadingLocator;
  readonly #postal: PostalLocator;
  readonly #alike: PostalLocator;
  readonly #provinces: ProvinceLocator;

  constructor(dataset: Dataset, rates: RatesByArea) {
    this.#dataset = dataset;
    const gazetteer = (this.#gazetteer = new DatasetGazetteer(dataset));
    const doubts = new Doubts(dataset, rates, gazetteer);
    const writer = new AddressWriter(dataset, gazetteer);
    const search = (this.#search = new StreetSearch(dataset, doubts, writer));
    const postal = (this.#postal = new PostalLocator(dataset, doubts));
    this.#alike = new PostalLocator(dataset, new Doubts(dataset, ALIKE, gazetteer));
    const provinces = (this.#provinces = new ProvinceLocator(dataset));
    const evidence = { dataset, gazetteer, search, doubts, writer, postal, provinces };
    this.#readings = new ReadingLocator(evidence);
    this.#plain = new PlainLines(dataset, gazetteer, (state) => provinces.has(state));
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

  /**
   * The same for a line that is asked for as one of Canada. Without province and postal code it is
   * looked for in the United States where it names a state or a ZIP.
   */
  locateCanadian(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.#provinces.locateLine(text);
    if (found !== null) return found;
    const { zip = '', state = '' } = parseAddress(text, this.#gazetteer)[0] ?? {};
    const isAmerican = zip !== '' || (state !== '' && !this.#provinces.has(state));
    return isAmerican ? this.locate(text, dateOf) : needsProvince();
  }

  /** As `ProvinceLocator.unheldNear`. */
  unheldNear(area: number, lat: Microdegrees, lng: Microdegrees): string | null {
    return this.#provinces.unheldNear(area, lat, lng);
  }

  /**
   * The same for places of sales: where the line names no door (a post office box, no house number,
   * a city alone) its ZIP+4 decides, else its ZIP and city, which answer only where the choice
   * cannot be wrong.
   */
  locatePlace(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const [reading] = parseAddress(text, this.#gazetteer);
    if (reading === undefined || reading.country === 'CAN') return found;
    if (reading.kind === 'military') return found;
    // A street with a number was looked for by all evidence; a refusal that came of it stands.
    if (reading.kind === 'street' && reading.number !== '') return found;
    const city = { ...reading, kind: 'place-only', number: '', name: '', suffix: '' } as const;
    const state = reading.state || (this.#dataset.zip(Number(reading.zip))?.state ?? '');
    if (namesAnotherPlace(reading, state)) return found;
    const addOn = this.#readings.addOn(city, state, dateOf);
    if (addOn !== null && !isFailure(addOn)) return addOn;
    const postal = this.#postal.locate(city, dateOf);
    return isFailure(postal) ? found : postal;
  }

  /** The same where the state alone matters: by ZIP and city where only rates are in doubt. */
  locateInState(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const isPlain = found.failure === 'address-incomplete' && found.ambiguous !== true;
    const [reading] = isPlain ? [] : parseAddress(text, this.#gazetteer);
    const place = reading?.zip ? this.#alike.locate(reading, dateOf) : found;
    return isFailure(place) ? found : place;
  }
}
