/** Quotas for many rows at once, where `admit` and `settle` are for one request. */
import { ENTITLEMENTS } from './plan.js';
import {
  type Counts,
  HELD_CORE,
  HELD_GEO,
  HELD_MERCHANT,
  type Meter,
  type Metered,
  plusCounts,
} from './usage-meter.js';

/** Rows that the quotas allow together; they must be settled once. */
export interface RowsAdmission {
  readonly meter: Meter;
  /** Entitlement bits of the key, without those whose quota is used up. */
  readonly grants: number;
  /** How many rows may be answered; 0 when the quota is used up. */
  readonly rows: number;
  /** Counters in which each row has reserved a count. */
  readonly held: number;
  /** True when requests under way have reserved counts, so that asking later may give more. */
  readonly scarce: boolean;
}

function hold(meter: Meter, held: number, rows: number): void {
  if ((held & HELD_CORE) !== 0) meter.heldCore += rows;
  if ((held & HELD_GEO) !== 0) meter.heldGeo += rows;
  if ((held & HELD_MERCHANT) !== 0) meter.heldMerchant += rows;
}

/**
 * Allows up to `rows` lookups. Only the worker knows which are geocoded, so each reserves a count
 * in both counters; where the quota for geocoding is used up, that entitlement is taken away
 * instead.
 */
export function admitLookups(meter: Meter, key: Metered, rows: number): RowsAdmission {
  let { grants } = key;
  let [most, held, scarce] = [rows, 0, false];
  if (key.coreLimit > 0) {
    most = Math.min(most, Math.max(0, key.coreLimit - meter.core - meter.heldCore));
    held = HELD_CORE;
    scarce = most < rows && meter.heldCore > 0;
  }
  if (key.geoLimit > 0 && (grants & ENTITLEMENTS.geo_enabled) !== 0) {
    const left = Math.max(0, key.geoLimit - meter.geo - meter.heldGeo);
    scarce ||= left < rows && meter.heldGeo > 0;
    if (left === 0) grants &= ~ENTITLEMENTS.geo_enabled;
    else {
      most = Math.min(most, left);
      held |= HELD_GEO;
    }
  }
  hold(meter, held, most);
  return { meter, grants, rows: most, held, scarce };
}

/** Allows up to `rows` merchant operations. */
export function admitOperations(meter: Meter, key: Metered, rows: number): RowsAdmission {
  const { grants, merchantLimit } = key;
  if (merchantLimit === 0) return { meter, grants, rows, held: 0, scarce: false };
  const left = Math.max(0, merchantLimit - meter.merchant - meter.heldMerchant);
  const most = Math.min(rows, left);
  const scarce = most < rows && meter.heldMerchant > 0;
  hold(meter, HELD_MERCHANT, most);
  return { meter, grants, rows: most, held: HELD_MERCHANT, scarce };
}

/** Settles rows, and counts those that were answered with success; false when there were none. */
export function settleRows({ meter, held, rows }: RowsAdmission, counts: Counts): boolean {
  hold(meter, held, -rows);
  const { core, geo, merchant } = counts;
  meter.core += core;
  meter.newCore += core;
  meter.geo += geo;
  meter.newGeo += geo;
  meter.merchant += merchant;
  meter.newMerchant += merchant;
  return core + merchant > 0;
}

/** Settles rows whose counts are stored with other records; they count as used from now on. */
export function answerRows({ meter, held, rows }: RowsAdmission, counts: Counts): void {
  hold(meter, held, -rows);
  use(meter, counts, 1);
  meter.open = plusCounts(meter.open, counts, 1);
}

/** Subtracts rows that were counted and will not be stored. */
export function dropRows(meter: Meter, counts: Counts): void {
  use(meter, counts, -1);
  meter.open = plusCounts(meter.open, counts, -1);
}

function use(meter: Meter, { core, geo, merchant }: Counts, times: 1 | -1): void {
  meter.core += times * core;
  meter.geo += times * geo;
  meter.merchant += times * merchant;
}
