/**
 * The likeliest query of lines as most are written: of their place all is known that was found out
 * when it was met first, with another street before it.
 */
import type { ParsedAddress } from '../../address/parsed.js';
import {
  type FoldedStreet,
  mayBePlain,
  readPlainPlace,
  readPlainStreet,
} from '../../address/plain-line.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { CityRecord, ZipRecord } from '../../dataset/records.js';
import { directionCode } from '../../dataset/street-format.js';
import type { Locality } from '../../dataset/street-index.js';
import type { DateOf } from './doubt.js';
import { type DatasetGazetteer, isExclusive } from './place-names.js';
import type { Query } from './search.js';

/** Places that are remembered; a power of two. */
const SLOTS = 32_768;

interface Kept<V> {
  readonly piece: string;
  readonly value: V;
}

/**
 * What is made of pieces of text that come again and again. A piece has a slot of its own, which
 * holds the last one met of all that share it, so that memory is bounded and a look goes to few
 * places. No piece is cut out of its text to be looked for.
 */
class TextMemo<V> {
  readonly #make: (piece: string) => V | undefined;
  readonly #slots = new Array<Kept<V> | undefined>(SLOTS).fill(undefined);

  /** What `make` gives no value for is not kept; a piece beyond Latin-1 must have none. */
  constructor(make: (piece: string) => V | undefined) {
    this.#make = make;
  }

  /** What the text from an index on makes. */
  get(text: string, from: number): V | undefined {
    let hash = 0;
    const { length } = text;
    for (let at = from; at < length; at += 1)
      hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const kept = this.#slots[slot];
    if (kept !== undefined && kept.piece.length === length - from && text.endsWith(kept.piece)) {
      return kept.value;
    }
    const piece = text.slice(from);
    const made = this.#make(piece);
    if (made === undefined) return undefined;
    // In memory of its own: a piece would keep all of the text it was cut out of.
    this.#slots[slot] = { piece: Buffer.from(piece, 'latin1').toString('latin1'), value: made };
    return made;
  }
}

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

export class PlainLines {
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
    if (!mayBePlain(text)) return undefined;
    const place = readPlainPlace(text, this.#gazetteer);
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
