/** The result of locating, for every way of locating. */
import { fail, type Failure } from '../failure.js';
import { MINIMUM_PRECISIONS, type MinimumPrecision } from '../setting.js';
import type { Microdegrees } from '../geo/microdegrees.js';
import type { Rate } from '../tax/rate.js';

export type Precision = 'none' | MinimumPrecision;

/** How a location was found, best first; the index is the byte in answers of workers. */
export const PRECISIONS: readonly Precision[] = ['none', ...MINIMUM_PRECISIONS];

/** The weakest precision; it is answered unless something better is asked for. */
export const WEAKEST: Precision = 'city';

/** The combined sales rates that an address may have instead, on the day of comparison. */
export interface RateRange {
  readonly lowest: Rate;
  readonly highest: Rate;
  /** Whether the rate of some area is not known. */
  readonly isOpen: boolean;
}

/** The range of rates that one of several places may have; null where neither is assumed. */
export function widest(one: RateRange | null, other: RateRange | null): RateRange | null {
  if (one === null || other === null) return one ?? other;
  return {
    lowest: one.lowest < other.lowest ? one.lowest : other.lowest,
    highest: one.highest > other.highest ? one.highest : other.highest,
    isOpen: one.isOpen || other.isOpen,
  };
}

/** A resolved location. */
export interface Situs {
  /** Tax area id. */
  readonly area: number;
  readonly precision: Precision;
  /** Both zero when not geocoded (zip9 and street); for a ZIP or city, a spot in the area. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** The end of the address, after number and street: "Irvine, CA 92618, United States". */
  readonly place: string;
  readonly houseNumber: string;
  /** Street with directionals and type, properly cased; empty for points. */
  readonly street: string;
  readonly city: string;
  /** "92618" or "92618-5003"; empty when not known. */
  readonly postalCode: string;
  /** Whether the release says that no line between tax areas is near. */
  readonly apart?: boolean;
  /** Set where the state's own boundary file decided the tax area. */
  readonly stated?: true;
  /** With precision `city` only: the range of rates that the ZIP, or the city's ZIPs, may have. */
  readonly assumed?: RateRange;
}

/**
 * The whole address: "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States". Most answers
 * print the parts instead, because a text that is put together has to be copied when it is printed.
 */
export function normalizedAddress({
  houseNumber,
  street,
  place,
}: Pick<Situs, 'houseNumber' | 'street' | 'place'>): string {
  if (street === '') return houseNumber === '' ? place : `${houseNumber}, ${place}`;
  return `${houseNumber} ${street}, ${place}`;
}

/** Refuses a place that is found less precisely than asked for; null where it is not. */
export function tooVague({ precision }: Situs, precisionMin: Precision): Failure | null {
  if (PRECISIONS.indexOf(precision) <= PRECISIONS.indexOf(precisionMin)) return null;
  return fail(
    'address-incomplete',
    `It is found by ${precision} only; this server asks for ${precisionMin} or better.`,
  );
}
