/** Kinds of rows with a path of their own, and what their rows count as. */
import type { OtherFormat } from '../../dataset/release.js';
import { StoreFault } from '../../store/fault.js';
import type { KeyRecord } from '../../store/format.js';
import type { MerchantRecord } from '../../store/merchants.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import { type Counts, type Metered, NO_COUNTS } from '../../store/usage-meter.js';
import type { RowsAdmission } from '../../store/usage-rows.js';
import { NOT_OF_ACCOUNT } from '../../api/cart/refusals.js';
import { keptRefusal, notKept } from '../../api/lookup/kept.js';
import { fail, type Failure } from '../../failure.js';
import { merchantOf } from '../row/cart-parameters.js';
import type { BulkKind, Defaults } from '../row/chunk-payload.js';
import { NO_GEO_CARTS, type AdmittedRows } from './pump-options.js';
import { problem, type Problem } from '../../base/problem.js';
import type { BulkRequest } from './request.js';

export interface BulkKindRoute {
  readonly kind: BulkKind;
  readonly path: string;
}

const BULK_LOOKUP: BulkKindRoute = { kind: 'lookup', path: '/bulk/lookup' };
const BULK_CART: BulkKindRoute = { kind: 'cart', path: '/bulk/cart' };

/** Every kind. */
export const BULK_ROUTES: readonly BulkKindRoute[] = [BULK_LOOKUP, BULK_CART];

/** Quotas and counters of rows. */
export interface RowsUsage {
  admitRows(key: Metered, rows: number, merchant: boolean): RowsAdmission;
  settleRows(admission: RowsAdmission, counts: Counts): void;
}

/** What all rows of a file are. */
interface RowsAsked {
  readonly kind: BulkKind;
  readonly defaults: Defaults;
}

/**
 * Asks the quotas for so many rows. Rows of lookups count as lookups, and as geocoded ones where
 * they are; carts of a merchant count as its operations; any other cart counts as a geocoded
 * lookup, so a key without geocoding gets none.
 */
export function admitRows(
  usage: RowsUsage,
  key: KeyRecord,
  { kind, defaults }: RowsAsked,
  rows: number,
): AdmittedRows {
  const ofMerchant = kind === 'cart' && merchantOf(defaults) !== null;
  const admission = usage.admitRows(key, rows, ofMerchant);
  const { grants, scarce } = admission;
  const isLost = kind === 'cart' && !ofMerchant && (grants & ENTITLEMENTS.geo_enabled) === 0;
  if (!isLost) {
    return {
      rows: admission.rows,
      grants,
      scarce,
      settle: (tally) => usage.settleRows(admission, tally ?? NO_COUNTS),
    };
  }
  usage.settleRows(admission, NO_COUNTS);
  const lacking = (key.grants & ENTITLEMENTS.geo_enabled) === 0;
  return { rows: 0, grants, scarce, lacking, settle: () => undefined };
}

/** Why not one row of a file would be let through, now or later; null where one would be. */
export function spentRefusal(usage: RowsUsage, key: KeyRecord, asked: RowsAsked): Failure | null {
  const { rows, scarce, lacking = false, settle } = admitRows(usage, key, asked, 1);
  settle(null);
  if (rows > 0 || scarce) return null;
  return fail('feature-not-enabled', lacking ? NO_GEO_CARTS : 'The quota of this month is used up');
}

/** Releases that there are. */
export interface KnownReleases {
  /** Whether there is a release of this name, sound or not. */
  has(name: string): boolean;
  /** Why its format keeps it from being read; null where it does not. */
  otherFormat(name: string): OtherFormat | null;
}

/** Why a job may not be of the kept release that it asks for; null where it may or does not. */
export function keptFault(
  releases: KnownReleases,
  key: KeyRecord,
  { kept }: Pick<BulkRequest, 'kept'>,
): Problem | null {
  if (kept === undefined) return null;
  const { dataset } = kept;
  const unentitled = keptRefusal(key.grants, dataset);
  if (unentitled !== null) return unentitled;
  const unread = releases.otherFormat(dataset);
  if (unread !== null) return problem(422, unread.message);
  return releases.has(dataset) ? null : problem(422, notKept(dataset).detail ?? '');
}

const RELAYED = problem(
  403,
  'The merchant is connected to the compliance provider; its carts go to ' +
    'POST /merchant/cart/calculate.',
);

/** A live merchant of an account; null for an unknown, foreign or deleted one alike. */
export type FindMerchant = (account: string, merchantId: string) => MerchantRecord | null;

/**
 * Why the merchant of a file may not have carts here; null where it may. 503 where it is not known
 * now whether there is such a merchant.
 */
export function merchantRefusal(
  findMerchant: FindMerchant,
  account: string,
  { kind, defaults }: RowsAsked,
): Problem | null {
  const id = kind === 'cart' ? merchantOf(defaults) : null;
  if (id === null) return null;
  try {
    const merchant = findMerchant(account, id);
    if (merchant?.type === 'self-managed') return null;
    return merchant === null ? NOT_OF_ACCOUNT : RELAYED;
  } catch (error) {
    if (error instanceof StoreFault) return problem(503, error.detail);
    throw error;
  }
}
