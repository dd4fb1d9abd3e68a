/** The kinds of rows that have a path of their own, and what their rows count as. */
import type { OtherFormat } from '../../dataset/release.js';
import type { KeyRecord } from '../../store/format.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import { type Counts, type Metered, NO_COUNTS } from '../../store/usage-meter.js';
import type { RowsAdmission } from '../../store/usage-rows.js';
import { keptRefusal, notKept } from '../../api/lookup/kept.js';
import {
  type FindMerchant,
  MERCHANT_REFUSALS,
  type MerchantRefusal,
  merchantRefusal,
} from '../../api/merchant/cart-owner.js';
import { fail, type Failure } from '../../failure.js';
import { merchantOf } from '../row/cart-parameters.js';
import type { BulkKind, Defaults } from '../row/chunk-payload.js';
import { NO_GEO_CARTS, QUOTA_SPENT, type AdmittedRows } from './pump-options.js';
import type { Problem } from '../../base/problem.js';
import { type BulkRequest, ofPart, refused } from './request.js';

export interface BulkKindRoute {
  readonly kind: BulkKind;
  readonly path: string;
}

export const BULK_ROUTES: readonly BulkKindRoute[] = [
  { kind: 'lookup', path: '/bulk/lookup' },
  { kind: 'cart', path: '/bulk/cart' },
];

/** Quotas and counters of rows. */
export interface RowsUsage {
  admitRows(key: Metered, rows: number, merchant: boolean): RowsAdmission;
  settleRows(admission: RowsAdmission, counts: Counts): void;
}

/** What is the same for all rows of a file. */
interface RowsAsked {
  readonly kind: BulkKind;
  readonly defaults: Defaults;
}

/**
 * Asks the quotas for a number of rows. Rows of lookups count as lookups, and as geocoded ones
 * where they are. Carts of a merchant count as merchant operations. Any other cart counts as a
 * geocoded lookup, so a key without geocoding gets none.
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

/**
 * Why the quotas would not admit a single row of a file, even when rows under way have ended; null
 * where they would.
 */
export function spentRefusal(usage: RowsUsage, key: KeyRecord, asked: RowsAsked): Failure | null {
  const { rows, scarce, lacking = false, settle } = admitRows(usage, key, asked, 1);
  settle(null);
  if (rows > 0 || scarce) return null;
  return fail('feature-not-enabled', lacking ? NO_GEO_CARTS : QUOTA_SPENT);
}

/** The releases that are stored here. */
export interface KnownReleases {
  /** Whether there is a release of this name, sound or not. */
  has(name: string): boolean;
  /** Why the format of a release cannot be read here; null where it can. */
  otherFormat(name: string): OtherFormat | null;
}

/** Why a job may not use the kept release that it asks for; null where it may, or asks for none. */
export function keptFault(
  releases: KnownReleases,
  key: KeyRecord,
  { kept }: Pick<BulkRequest, 'kept'>,
  where: 'query' | 'body',
): Problem | null {
  if (kept === undefined) return null;
  const at = `${where}.dataset`;
  const { dataset } = kept;
  const unentitled = keptRefusal(key.grants, dataset);
  if (unentitled !== null) return ofPart(unentitled, at);
  const unread = releases.otherFormat(dataset);
  if (unread !== null) return refused(422, unread.message, at);
  return releases.has(dataset) ? null : refused(422, notKept(dataset).detail ?? '', at);
}

/** Why a file may not use the merchant that it names; null where it may, or names none. */
export function fileMerchantRefusal(
  findMerchant: FindMerchant,
  account: string,
  { kind, defaults }: RowsAsked,
): MerchantRefusal | null {
  const id = kind === 'cart' ? merchantOf(defaults) : null;
  return id === null ? null : merchantRefusal(findMerchant, account, id);
}

/**
 * The refusal of a request whose merchant may not be used; null where it may be, or none is named.
 */
export function merchantFault(
  findMerchant: FindMerchant,
  account: string,
  asked: RowsAsked,
  where: 'query' | 'body',
): Problem | null {
  const unfit = fileMerchantRefusal(findMerchant, account, asked);
  return ofPart(unfit && MERCHANT_REFUSALS[unfit], `${where}.merchantId`);
}
