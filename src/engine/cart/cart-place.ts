/** The origin and the destination of a cart: located as lookups are, down to the state at least. */
import { RecentCache } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { dateSlot } from '../../tax/date.js';
import type { DateOf } from '../locate/doubt.js';
import type { PlaceLocator } from '../locate/place-locator.js';
import { areaOf } from '../rate/on-day.js';
import { PRECISIONS, type Precision, type Situs } from '../situs.js';
import type { CartPlace, SplitPlace } from './outcome.js';

/** A place that was found, without its rates: they may be unknown where the place is not. */
export interface FoundPlace {
  readonly situs: Situs;
  readonly area: AreaRecord;
}

/** Letters that end a line: a state and a ZIP. */
const TAIL = /\b([A-Z]{2})[\s,]+(\d{5})(?:-\d{4})?(?:[\s,]+(?:USA|US|UNITED STATES))?\s*$/;
const ZIP = /^(\d{5})(?:-?\d{4})?$/;
const STREET_NUMBER = /^\s*\d/;
/**
 * The last precision that is an address found itself. With it, or a better one, the other address
 * line need not be tried.
 */
const RANGE = PRECISIONS.indexOf('range');

/** Writes the place on one line, with `line` as its street. */
function textOf(place: SplitPlace, line: string): string {
  return `${line}, ${place.city}, ${place.state} ${place.zip}`;
}

/** As it is written, for explanations. */
export function placeText(place: CartPlace): string {
  if (place.kind === 'line') return place.address;
  const { line1, line2 } = place;
  return textOf(place, line2 === '' ? line1 : `${line1}, ${line2}`);
}

/** Whether two places are written alike, so that one search answers both. */
export function isSamePlace(one: CartPlace, other: CartPlace): boolean {
  if (one.kind === 'line') return other.kind === 'line' && one.address === other.address;
  return (
    other.kind === 'split' &&
    one.line1 === other.line1 &&
    one.zip === other.zip &&
    one.city === other.city &&
    one.line2 === other.line2 &&
    one.state === other.state
  );
}

/**
 * Places kept, once to twice as many, below 1 KiB each: carts leave from the same few doors, and
 * are calculated again with every change before they are paid.
 */
const PLACES_MAX = 4_096;

/** What is known of a place; null is not asked yet. */
export interface KeptPlace<T> {
  readonly place: CartPlace;
  found: FoundPlace | Failure | null;
  state: string | null;
  /**
   * What was last found of carts to it, and from where: not what is known of that place, which
   * would hold on to one before it.
   */
  sold: { readonly from: CartPlace; readonly precisionMin: Precision; readonly found: T } | null;
}

const FNV_PRIME = 0x01000193;

/**
 * A short key that few places share. Of places with the same key only the last one is remembered.
 */
function placeKey(place: CartPlace): string | number {
  if (place.kind === 'line') return place.address;
  // A text put together of these would have to be laid out before it can be looked for.
  return hashed(hashed(hashed(0, place.zip), place.line1), place.line2);
}

/** A number for a text behind another (FNV-1a by characters). */
function hashed(before: number, text: string): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  }
  return hash;
}

/** The same text in memory of its own: one that was cut out of a file keeps all of it in memory. */
function own(text: string): string {
  return ` ${text}`.slice(1);
}

/** The code of a state, province or territory by its code or its name; "" where there is none. */
function codeOfState(dataset: Dataset, text: string): string {
  const written = text.trim().toUpperCase();
  if (written.length === 2) return dataset.state(written) === null ? '' : written;
  return dataset.states().find(({ name }) => name.toUpperCase() === written)?.code ?? '';
}

/** The refusal of what stands for a state and is none; null where it is one. */
export function unknownState(dataset: Dataset, text: string): Failure | null {
  return codeOfState(dataset, text) === ''
    ? fail('address-incomplete', `"${text}" is no state: give its code or its name`)
    : null;
}

function ownPlace(place: CartPlace): CartPlace {
  if (place.kind === 'line') return { kind: 'line', address: own(place.address) };
  const { line1, line2, city, state, zip } = place;
  return {
    kind: 'split',
    line1: own(line1),
    line2: own(line2),
    city: own(city),
    state: own(state),
    zip: own(zip),
  };
}

/**
 * Locates places of carts in one dataset; keeps those of the quarter of an hour, with a `T` for
 * each destination.
 */
export class CartPlaces<T> {
  readonly #dataset: Dataset;
  readonly #locator: PlaceLocator;
  #slot = Number.NaN;
  #kept = new RecentCache<string | number, KeptPlace<T>>(PLACES_MAX);

  constructor(dataset: Dataset, locator: PlaceLocator) {
    this.#dataset = dataset;
    this.#locator = locator;
  }

  /**
   * The state that a place names, where a ZIP of that state is named with it, so that no search is
   * needed to be sure of it; "" where it is not certain.
   */
  certainState(kept: KeptPlace<T>): string {
    return (kept.state ??= this.#certainState(kept.place));
  }

  #certainState(place: CartPlace): string {
    let state: string;
    let zip: string;
    if (place.kind === 'split') {
      state = codeOfState(this.#dataset, place.state);
      zip = ZIP.exec(place.zip.trim())?.[1] ?? '';
    } else {
      const found = TAIL.exec(place.address.toUpperCase());
      state = codeOfState(this.#dataset, found?.[1] ?? '');
      zip = found?.[2] ?? '';
    }
    if (state === '' || zip === '') return '';
    const record = this.#dataset.zip(Number(zip));
    if (record === null) return '';
    if (record.parts.length === 0) return record.state === state ? state : '';
    const lies = record.parts.some(({ area }) => this.#dataset.area(area).state === state);
    return lies ? state : '';
  }

  /** Locates a place on the day that `dateOf` gives, which is that of its moment. */
  locate(kept: KeptPlace<T>, dateOf: DateOf): FoundPlace | Failure {
    return (kept.found ??= this.#search(kept.place, dateOf));
  }

  /** What is known of a place at a moment, in milliseconds since 1970 UTC. */
  of(place: CartPlace, instantMs: number): KeptPlace<T> {
    const slot = dateSlot(instantMs);
    if (slot !== this.#slot) {
      this.#slot = slot;
      this.#kept = new RecentCache(PLACES_MAX);
    }
    const key = placeKey(place);
    const known = this.#kept.get(key);
    if (known !== undefined && isSamePlace(known.place, place)) return known;
    const copy = ownPlace(place);
    const kept = { place: copy, found: null, state: null, sold: null };
    this.#kept.set(copy.kind === 'line' ? copy.address : key, kept);
    return kept;
  }

  #search(place: CartPlace, dateOf: DateOf): FoundPlace | Failure {
    const found =
      place.kind === 'line'
        ? this.#locator.locatePlace(place.address, dateOf)
        : this.#locateSplit(place, dateOf);
    if (isFailure(found)) return found;
    const area = areaOf(this.#dataset, found);
    return area.country === 'CAN'
      ? fail('no-result', 'carts are for places in the United States')
      : { situs: found, area };
  }

  #locateSplit(place: SplitPlace, dateOf: DateOf): Situs | Failure {
    // On one line the words around them would say what they mean; here they are one thing each.
    if (!ZIP.test(place.zip.trim())) {
      return fail('address-incomplete', `"${place.zip}" is no ZIP code: give five digits or ZIP+4`);
    }
    const unknown = unknownState(this.#dataset, place.state);
    if (unknown !== null) return unknown;
    const first = this.#locator.locatePlace(textOf(place, place.line1), dateOf);
    // The second line is tried too: some write a company or a person on the first and the street
    // there.
    if (!STREET_NUMBER.test(place.line2) || STREET_NUMBER.test(place.line1)) return first;
    if (!isFailure(first) && PRECISIONS.indexOf(first.precision) <= RANGE) return first;
    const second = this.#locator.locatePlace(textOf(place, place.line2), dateOf);
    return isFailure(second) ? first : second;
  }
}
