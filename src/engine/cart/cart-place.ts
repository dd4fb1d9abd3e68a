/**
 * Locates the origin and the destination of a cart as lookups are, but at least down to the state.
 */
import { ownText } from '../../base/own-text.js';
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

/** A place that was found, without its rates, which may be unknown. */
export interface FoundPlace {
  readonly situs: Situs;
  readonly area: AreaRecord;
}

/** A state and a ZIP at the end of a line. */
const TAIL = /\b([A-Z]{2})[\s,]+(\d{5})(?:-\d{4})?(?:[\s,]+(?:USA|US|UNITED STATES))?\s*$/;
const ZIP = /^(\d{5})(?:-?\d{4})?$/;
const STREET_NUMBER = /^\s*\d/;
/**
 * Index of the weakest precision for which the address itself was found. With this or a better one,
 * the second address line need not be tried.
 */
const RANGE = PRECISIONS.indexOf('range');

/** The place on one line, with `line` as its street. */
function textOf(place: SplitPlace, line: string): string {
  return `${line}, ${place.city}, ${place.state} ${place.zip}`;
}

/** The place as it was written, for explanations. */
export function placeText(place: CartPlace): string {
  if (place.kind === 'line') return place.address;
  const { line1, line2 } = place;
  return textOf(place, line2 === '' ? line1 : `${line1}, ${line2}`);
}

/** Whether two places are written the same, so that one search serves both. */
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
 * Places in each of two generations of the cache, each below 1 KiB. Carts leave from the same few
 * doors, and are calculated again with every change before they are paid.
 */
const PLACES_MAX = 4_096;

/** What is known of a place. A member is null until it is first needed. */
export interface KeptPlace<T> {
  readonly place: CartPlace;
  found: FoundPlace | Failure | null;
  state: string | null;
  /**
   * The result of the latest cart to this place, and that cart's origin. It holds the origin's
   * address and not the object with its own `sold`, which would keep a chain of earlier places in
   * memory.
   */
  sold: { readonly from: CartPlace; readonly precisionMin: Precision; readonly found: T } | null;
}

const FNV_PRIME = 0x01000193;

/**
 * A short key that few places share. Of places with the same key only the last one is remembered.
 */
function placeKey(place: CartPlace): string | number {
  if (place.kind === 'line') return place.address;
  // A key that concatenates the texts would have to be flattened before it can be looked up.
  return hashed(hashed(hashed(0, place.zip), place.line1), place.line2);
}

/** A number for a text, continuing that of an earlier text (FNV-1a over characters). */
function hashed(before: number, text: string): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  }
  return hash;
}

/** The code of a state, province or territory by its code or its name; "" where there is none. */
function codeOfState(dataset: Dataset, text: string): string {
  const written = text.trim().toUpperCase();
  if (written.length === 2) return dataset.state(written) === null ? '' : written;
  return dataset.states().find(({ name }) => name.toUpperCase() === written)?.code ?? '';
}

/** The refusal for a text that names no state; null where it names one. */
export function unknownState(dataset: Dataset, text: string): Failure | null {
  return codeOfState(dataset, text) === ''
    ? fail('address-incomplete', `"${text}" is no state: give its code or its name`)
    : null;
}

function ownPlace(place: CartPlace): CartPlace {
  if (place.kind === 'line') return { kind: 'line', address: ownText(place.address) };
  const { line1, line2, city, state, zip } = place;
  return {
    kind: 'split',
    line1: ownText(line1),
    line2: ownText(line2),
    city: ownText(city),
    state: ownText(state),
    zip: ownText(zip),
  };
}

/**
 * Locates places of carts in one dataset. Remembers those of the present quarter of an hour, with a
 * `T` for each destination.
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
   * The state of a place where its text has both the state and a ZIP of it, so that no search is
   * needed; otherwise "".
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

  /** Locates a place on the day that `dateOf` gives. */
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
    // A ZIP in the middle of one line would be recognized by the words around it, but here it is a
    // field of its own.
    if (!ZIP.test(place.zip.trim())) {
      return fail('address-incomplete', `"${place.zip}" is no ZIP code: give five digits or ZIP+4`);
    }
    const unknown = unknownState(this.#dataset, place.state);
    if (unknown !== null) return unknown;
    const first = this.#locator.locatePlace(textOf(place, place.line1), dateOf);
    // The second line is tried too, because some write a company or a person on the first line and
    // the street on the second.
    if (!STREET_NUMBER.test(place.line2) || STREET_NUMBER.test(place.line1)) return first;
    if (!isFailure(first) && PRECISIONS.indexOf(first.precision) <= RANGE) return first;
    const second = this.#locator.locatePlace(textOf(place, place.line2), dateOf);
    return isFailure(second) ? first : second;
  }
}
