/**
 * Merchants. All changes run inside a transaction of the caller's, so that the checks, the change,
 * its events and the kept answer succeed or fail together. A refusal is a return value, and its
 * transaction has written nothing.
 */
import { forgetCredentials } from './credentials.js';
import type { StoreKey } from './format.js';
import { gather, type StoreScanner } from './gather.js';
import {
  type Contacts,
  credentialsKey,
  MERCHANT_PREFIX,
  merchantKey,
  type MerchantRecord,
  type MerchantType,
  type OwnerRecord,
  parseMerchant,
  parseOwner,
  recordOf,
  referenceKey,
} from './merchant-format.js';
import { retire } from './retired.js';
import {
  addShare,
  packedRecord,
  type PackedRecord,
  putNewShared,
  putShared,
  recordBytes,
} from './share.js';
import type { StoreTransaction } from './store.js';

export type { MerchantRecord } from './merchant-format.js';

/** The store or a transaction, as far as it reads records. */
export interface StoreReader {
  get(key: StoreKey): unknown;
}

export const MERCHANT_STATUSES = [
  'provider_invited',
  'provider_connected',
  'provider_disconnected',
  'external_compliance',
] as const;
type MerchantStatus = (typeof MERCHANT_STATUSES)[number];

/** Name, contacts and reference id, which an update replaces together. */
interface MerchantBlock {
  readonly name: string;
  readonly contacts: Contacts;
  readonly referenceId?: string;
}

interface NewMerchant extends MerchantBlock {
  readonly merchantId: string;
  readonly account: string;
  readonly type: MerchantType;
  readonly now: number;
}

interface MerchantChange {
  readonly block?: MerchantBlock | undefined;
  readonly type?: MerchantType | undefined;
  /** Id of the mail that invites it, where it is switched to the provider. */
  readonly invitation?: string | undefined;
  readonly now: number;
}

/** The status of a merchant, which is not stored. */
export function statusOf(merchant: MerchantRecord, hasCredentials: boolean): MerchantStatus {
  if (merchant.type === 'self-managed') return 'external_compliance';
  if (hasCredentials) return 'provider_connected';
  return merchant.connectedBefore ? 'provider_disconnected' : 'provider_invited';
}

/** A merchant, deleted or not; null for an unknown id or one of another account. */
function findAnyMerchant(
  reader: StoreReader,
  account: string,
  merchantId: string,
): MerchantRecord | null {
  const found = reader.get(merchantKey(account, merchantId));
  return found === undefined ? null : parseMerchant(found);
}

/** A live merchant; null for an unknown id, one of another account, or a deleted one. */
export function findMerchant(
  reader: StoreReader,
  account: string,
  merchantId: string,
): MerchantRecord | null {
  const merchant = findAnyMerchant(reader, account, merchantId);
  return merchant === null || merchant.deletedAt !== undefined ? null : merchant;
}

/** Whether credentials are stored, without opening them. */
export function hasCredentials(
  reader: StoreReader,
  { account, merchantId }: Pick<MerchantRecord, 'account' | 'merchantId'>,
): boolean {
  return reader.get(credentialsKey(account, merchantId)) !== undefined;
}

/** Most merchants of an account that are listed at once; more are listed in pages. */
export const MERCHANTS_LISTED_MAX = 50_000;

function live(value: unknown): MerchantRecord | null {
  const merchant = parseMerchant(value);
  return merchant.deletedAt === undefined ? merchant : null;
}

/** The live merchants of an account, oldest first; null where there are too many. */
export async function listMerchants(
  store: StoreScanner,
  account: string,
  most = MERCHANTS_LISTED_MAX,
): Promise<readonly MerchantRecord[] | null> {
  const found = await gather(store, [MERCHANT_PREFIX, account], live, most + 1);
  if (found.length > most) return null;
  return found.sort(
    (left, right) =>
      left.createdAt - right.createdAt || (left.merchantId < right.merchantId ? -1 : 1),
  );
}

/**
 * A page of an account's live merchants in the order of their ids, after `cursor`, and the cursor
 * of the next page; null after the last one.
 */
export async function pageOfMerchants(
  store: StoreScanner,
  account: string,
  { limit, cursor }: { readonly limit: number; readonly cursor: string },
): Promise<{ readonly merchants: readonly MerchantRecord[]; readonly next: string | null }> {
  const prefix = [MERCHANT_PREFIX, account];
  const after = cursor === '' ? prefix : merchantKey(account, cursor);
  const found = await gather(store, prefix, live, limit + 1, after);
  const merchants = found.slice(0, limit);
  return { merchants, next: found.length > limit ? (merchants.at(-1)?.merchantId ?? null) : null };
}

/** Assigns a reference id to a merchant; false when another live one has it. */
function takeReference(
  transaction: StoreTransaction,
  account: string,
  merchantId: string,
  referenceId: string,
): boolean {
  const key = referenceKey(account, referenceId);
  const owner = parseOwner(transaction.get(key));
  if (owner !== null) return owner === merchantId;
  const record: OwnerRecord = { v: 1, merchantId };
  transaction.put(key, record);
  return true;
}

/** A record that is ready to be stored. */
export type ReadyMerchant = PackedRecord<MerchantRecord>;

/** Makes the record of a new merchant, except for what needs a transaction. */
export function readyMerchant(merchant: NewMerchant): ReadyMerchant {
  const { account, merchantId, name, contacts, referenceId, type, now } = merchant;
  const record = recordOf(
    {
      v: 1,
      merchantId,
      account,
      name,
      contacts,
      type,
      connectedBefore: false,
      createdAt: now,
      updatedAt: now,
    },
    referenceId,
  );
  return packedRecord(merchantKey(account, merchantId), record);
}

/**
 * Stores a new merchant; `'reference-taken'` when a live one has its reference id.
 * @throws LimitReached when the account has used up its share.
 */
export function createMerchant(
  transaction: StoreTransaction,
  merchant: ReadyMerchant,
): MerchantRecord | 'reference-taken' {
  const { record } = merchant;
  const { account, merchantId, referenceId } = record;
  if (referenceId !== undefined && !takeReference(transaction, account, merchantId, referenceId)) {
    return 'reference-taken';
  }
  putNewShared(transaction, account, merchant);
  return record;
}

/** Name, contacts and reference id of a record, for a change that keeps them. */
function blockOf({ name, contacts, referenceId }: MerchantRecord): MerchantBlock {
  return referenceId === undefined ? { name, contacts } : { name, contacts, referenceId };
}

/**
 * Changes a live merchant. A switch to the provider makes it invited again; a switch to
 * self-managed removes its credentials. Setting the type that it has changes nothing.
 * @throws LimitReached when the account has used up its share.
 */
export function updateMerchant(
  transaction: StoreTransaction,
  before: MerchantRecord,
  change: MerchantChange,
): MerchantRecord | 'reference-taken' {
  const { account, merchantId } = before;
  const { name, contacts, referenceId: asked } = change.block ?? blockOf(before);
  // Absent, the reference id stays; empty, it is removed.
  const referenceId = asked === '' ? undefined : (asked ?? before.referenceId);
  if (referenceId !== before.referenceId) {
    if (
      referenceId !== undefined &&
      !takeReference(transaction, account, merchantId, referenceId)
    ) {
      return 'reference-taken';
    }
    if (before.referenceId !== undefined) {
      transaction.remove(referenceKey(account, before.referenceId));
    }
  }
  const type = change.type ?? before.type;
  const switched = type !== before.type;
  if (switched) forgetCredentials(transaction, account, merchantId);
  const invitation = type === 'provider' ? (change.invitation ?? '') : undefined;
  const record = recordOf(
    {
      v: 1,
      merchantId,
      account,
      name,
      contacts,
      type,
      connectedBefore: switched ? false : before.connectedBefore,
      createdAt: before.createdAt,
      updatedAt: change.block === undefined && !switched ? before.updatedAt : change.now,
    },
    referenceId,
    switched ? invitation : before.invitation,
  );
  putShared(transaction, account, merchantKey(account, merchantId), record, before);
  return record;
}

/**
 * Deletes a live merchant: its record stays, its secrets and its reference id are removed.
 * @param now milliseconds since 1970
 * @param age time of the service's own clock, from which the record is kept
 */
export function deleteMerchant(
  transaction: StoreTransaction,
  merchant: MerchantRecord,
  now: number,
  age: number,
): void {
  const { account, merchantId, referenceId } = merchant;
  forgetCredentials(transaction, account, merchantId);
  if (referenceId !== undefined) transaction.remove(referenceKey(account, referenceId));
  const record: MerchantRecord = { ...merchant, deletedAt: now, updatedAt: now };
  const key = merchantKey(account, merchantId);
  // The share may be exceeded by the few bytes more, since deleting must always be possible.
  addShare(transaction, 'merchants', account, recordBytes(record) - recordBytes(merchant));
  transaction.put(key, record);
  retire(transaction, account, key, age);
}
