/**
 * Addresses to places through the pool, for one request within one budget of time. What was
 * geocoded counts for the key's quota like a lookup, also when the request comes to nothing.
 */

import type { LocateRequest } from '../../pool/types.js';
import { isFailure } from '../../failure.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import type { Admission, Metered } from '../../store/usage-meter.js';
import { readLocated, type LocateOutcome } from '../lookup/located.js';

/** Longest time for all addresses of a request (specification, limits). */
export const LOCATE_MS_MAX = 10_000;

export interface Locator {
  /** Whether a dataset answers. */
  loaded(): boolean;
  submit(request: LocateRequest): void;
}

export interface GeocodingUsage {
  /** Null when the quota of lookups is used up. */
  admit(key: Metered, geocoded: boolean): Admission | null;
  settle(admission: Admission, counted: boolean, geo: boolean): void;
}

/** Calls `fire` after so many milliseconds unless the returned function is called before. */
export type StartTimer = (milliseconds: number, fire: () => void) => () => void;

export const startTimer: StartTimer = (milliseconds, fire) => {
  const timer = setTimeout(fire, milliseconds);
  return () => clearTimeout(timer);
};

export interface LocateServices {
  readonly locator: Locator;
  readonly geocoding: GeocodingUsage;
  readonly timer: StartTimer;
}

export type LocateFailure = 'not-enabled' | 'overloaded' | 'internal' | 'late';

/** One outcome for each address, in order, or why there are none. */
export type LocateAll = { readonly outcomes: readonly LocateOutcome[] } | LocateFailure;

/** A place in the quota for each address; null when it has not that many. */
function admitAll(
  usage: GeocodingUsage, key: Metered, count: number,
): readonly Admission[] | null {
  const admissions: Admission[] = [];
  for (let index = 0; index < count; index += 1) {
    const admission = usage.admit(key, true);
    if (admission !== null) admissions.push(admission);
    if (admission === null || (admission.grants & ENTITLEMENTS.geo_enabled) === 0) {
      for (const held of admissions) usage.settle(held, false, false);
      return null;
    }
  }
  return admissions;
}

/** Locates every address; they travel to the workers together. */
export function locateAll(
  services: LocateServices, key: Metered, addresses: readonly string[],
): Promise<LocateAll> {
  const { locator, geocoding, timer } = services;
  const admissions = admitAll(geocoding, key, addresses.length);
  if (admissions === null) return Promise.resolve('not-enabled');
  return new Promise((resolve) => {
    const outcomes = new Map<number, LocateOutcome>();
    let over = false;
    const end = (result: LocateAll): void => {
      if (over) return;
      over = true;
      stop();
      resolve(result);
    };
    const stop = timer(LOCATE_MS_MAX, () => end('late'));
    admissions.forEach((admission, index) => {
      const settle = (outcome: LocateOutcome | null): void => {
        // What comes after the answer was given is not billed.
        const counted = !over && outcome !== null && !isFailure(outcome);
        geocoding.settle(admission, counted, counted);
      };
      locator.submit({
        kind: 'locate', payload: addresses[index] ?? '',
        answered: (slice) => {
          const outcome = readLocated(slice);
          settle(outcome);
          if (outcome === null) return end('internal');
          outcomes.set(index, outcome);
          if (outcomes.size < admissions.length) return;
          end({ outcomes: admissions.map((_, at) => outcomes.get(at)!) });
        },
        failed: (failure) => {
          settle(null);
          end(failure);
        },
      });
    });
  });
}
