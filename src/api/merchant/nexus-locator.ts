/**
 * Locates addresses through the pool, all addresses of a request within one time limit. A located
 * address counts towards the quota of the key like a lookup, even when the request fails.
 */
import type { Problem } from '../../base/problem.js';
import type { MerchantCaller } from '../../http/merchant-route.js';
import type { Reply } from '../../http/reply.js';
import type { LocateRequest } from '../../pool/types.js';
import { fail, isFailure } from '../../failure.js';
import type { NexusPlace } from '../../store/nexus.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import type { Admission, Metered } from '../../store/usage-meter.js';
import { type LocatedAddress, type LocateOutcome, readLocated } from '../lookup/located.js';
import { type LocationBody, unresolved } from './nexus-shape.js';
import { failureReply } from './checked-body.js';

/** Longest time for all addresses of a request (specification, limits). */
export const LOCATE_MS_MAX = 10_000;

export interface Locator {
  /** Whether there is a dataset to answer from. */
  loaded(): boolean;
  submit(request: LocateRequest): void;
}

export interface GeocodingUsage {
  /** Counts a lookup; null when the quota of lookups is used up. */
  admit(key: Metered, geocoded: boolean): Admission | null;
  settle(admission: Admission, counted: boolean, geo: boolean): void;
}

/**
 * Calls `fire` after so many milliseconds, unless the function that it returns is called before.
 */
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

type LocateFailure = 'not-enabled' | 'overloaded' | 'internal' | 'late';

/** One outcome for each address, in order, or why there are none. */
type LocateAll = { readonly outcomes: readonly LocateOutcome[] } | LocateFailure;

/** Counts one lookup for each address; null when the quota does not suffice for all of them. */
function admitAll(usage: GeocodingUsage, key: Metered, count: number): readonly Admission[] | null {
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

/** Locates all addresses, which are sent to the workers together. */
export function locateAll(
  services: LocateServices,
  key: Metered,
  addresses: readonly string[],
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
        // An outcome that comes after the request was answered is not counted.
        const counted = !over && outcome !== null && !isFailure(outcome);
        geocoding.settle(admission, counted, counted);
      };
      locator.submit({
        kind: 'locate',
        payload: addresses[index] ?? '',
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

/** The reason for an address that is not found, where the engine gives none. */
const NOT_FOUND = 'it could not be found';

/** An address on one line and, after a line end, its state. */
function addressLine({ line1, line2, city, state, zip }: LocationBody): string {
  const street = line2 === undefined ? line1 : `${line1}, ${line2}`;
  return `${street}, ${city}, ${state} ${zip}\n${state}`;
}

function placeOf(location: LocationBody, found: LocatedAddress): NexusPlace {
  const { name, line1, line2, city } = location;
  const { normalizedAddress, state, postalCode, lat, lng } = found;
  const zip = postalCode === '' ? location.zip : postalCode;
  // One literal for each case, since spreading makes a new object layout each time and is slow.
  if (name === undefined) {
    return line2 === undefined
      ? { line1, city, state, zip, normalizedAddress, lat, lng }
      : { line1, line2, city, state, zip, normalizedAddress, lat, lng };
  }
  return line2 === undefined
    ? { name, line1, city, state, zip, normalizedAddress, lat, lng }
    : { name, line1, line2, city, state, zip, normalizedAddress, lat, lng };
}

const NO_GEOCODING = fail(
  'feature-not-enabled',
  'Geocoding is not enabled for the key, or its quota of this month is used up.',
);

/** The status of a request that took too long; only create documents 504. */
type LateStatus = 503 | 504;

function locateRefusal(caller: MerchantCaller, failure: LocateFailure, late: LateStatus): Reply {
  switch (failure) {
    case 'not-enabled':
      return caller.refuse(NO_GEOCODING);
    case 'late':
      return caller.problem(late, 'Finding the addresses took too long.');
    default:
      return failureReply(caller, failure);
  }
}

/** The places of all locations, or the refusal where one of them is not found. */
export async function placesOf(
  services: LocateServices,
  caller: MerchantCaller,
  locations: readonly LocationBody[],
  nameOf: (index: number) => string,
  late: LateStatus,
): Promise<readonly NexusPlace[] | Reply> {
  const located = await locateAll(services, caller.key, locations.map(addressLine));
  if (typeof located === 'string') return locateRefusal(caller, located, late);
  const places: NexusPlace[] = [];
  const problems: Problem[] = [];
  located.outcomes.forEach((outcome, index) => {
    const location = locations[index];
    if (location === undefined) return;
    if (isFailure(outcome)) problems.push(unresolved(nameOf(index), outcome.detail ?? NOT_FOUND));
    else places.push(placeOf(location, outcome));
  });
  const [first] = problems;
  if (first === undefined) return places;
  return caller.refuse({ ...first, errors: problems.flatMap(({ errors = [] }) => errors) });
}
