/** Where a lookup led, as all that locate say it. */
import { fail, type Failure } from '../failure.js';
import { MINIMUM_PRECISIONS, type MinimumPrecision } from '../setting.js';
import type { Microdegrees } from '../geo/microdegrees.js';
import type { Rate } from '../tax/rate.js';

export type Precision = 'none' | MinimumPrecision;

/** How a location was found, best first; the index is the wire's byte. */
export const PRECISIONS: readonly Precision[] = ['none', ...MINIMUM_PRECISIONS];

/** The weakest that a location is found by; answered unless something better is asked for. */
export const WEAKEST: Precision = 'city';

/** Combined sales rates that an address may have instead, on the day that was compared. */
export interface RateRange {
  readonly lowest: Rate;
  readonly highest: Rate;
  /** Of some area the rate is not known. */
  readonly isOpen: boolean;
}

/** A resolved location. */
export interface Situs {
  /** Tax area id. */
  readonly area: number;
  readonly precision: Precision;
  /** Zero when not geocoded (zip9 and street); a spot in the area by ZIP or city. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** What follows number and street where it is written out: "Irvine, CA 92618, United States". */
  readonly place: string;
  readonly houseNumber: string;
  /** Street with directionals and type, properly cased; empty for points. */
  readonly street: string;
  readonly city: string;
  /** "92618" or "92618-5003"; empty when not known. */
  readonly postalCode: string;
  /** The release tells that no line between tax areas comes near. */
  readonly apart?: boolean;
  /** The state's own boundary file decided the tax area. */
  readonly stated?: true;
  /** Of precision `city` alone: the rates that the ZIP, or the city's ZIPs, may have. */
  readonly assumed?: RateRange;
}

/**
 * "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States". Most answers print its parts:
 * what is put together of several texts is copied when it is read.
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
