/**
 * Merchants. Everything that changes one runs inside a store transaction of the caller's, so that
 * the checks, the change, its events and the kept answer stand or fall together. Refusals are
 * values; a transaction that returns one has written nothing.
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

/** What reads records: the store or a transaction. */
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

/** Name and contacts: what an update replaces as a whole. */
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
  readonly now: number;
}

/** The status of a merchant; it is never stored. */
export function statusOf(merchant: MerchantRecord, hasCredentials: boolean): MerchantStatus {
  if (merchant.type === 'self-managed') return 'external_compliance';
  if (hasCredentials) return 'provider_connected';
  return merchant.connectedBefore ? 'provider_disconnected' : 'provider_invited';
}

/** A merchant, deleted or not; null for an unknown id or another account's. */
function findAnyMerchant(
  reader: StoreReader,
  account: string,
  merchantId: string,
): MerchantRecord | null {
  const found = reader.get(merchantKey(account, merchantId));
  return found === undefined ? null : parseMerchant(found);
}

/** A live merchant; null for an unknown id, another account's or a deleted one alike. */
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

/** Merchants of an account that are listed as a whole; of more there are pages. */
export const MERCHANTS_LISTED_MAX = 50_000;

function live(value: unknown): MerchantRecord | null {
  const merchant = parseMerchant(value);
  return merchant.deletedAt === undefined ? merchant : null;
}

/** The live merchants of an account, the oldest first; null where there are too many. */
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
 * Some live merchants of an account in the order of their ids, from the one after `cursor` on, and
 * where the next page begins; null after the last one.
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

/** Takes a reference id for a merchant; false when another live one has it. */
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

/**
 * A record with its reference id, if there is one. Each with all its members in one place: one that
 * is put together from pieces is of a shape that nothing is prepared for.
 */
function recordOf(
  {
    v,
    merchantId,
    account,
    name,
    contacts,
    type,
    connectedBefore,
    createdAt,
    updatedAt,
  }: Omit<MerchantRecord, 'referenceId' | 'deletedAt'>,
  referenceId: string | undefined,
): MerchantRecord {
  return referenceId === undefined
    ? { v, merchantId, account, name, contacts, type, connectedBefore, createdAt, updatedAt }
    : {
        v,
        merchantId,
        account,
        name,
        contacts,
        referenceId,
        type,
        connectedBefore,
        createdAt,
        updatedAt,
      };
}

/** A merchant that is to be stored. */
export type ReadyMerchant = PackedRecord<MerchantRecord>;

/** Makes the record of a new merchant: all of it that needs no transaction. */
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

/** The block of a record, for a change that leaves it. */
function blockOf({ name, contacts, referenceId }: MerchantRecord): MerchantBlock {
  return referenceId === undefined ? { name, contacts } : { name, contacts, referenceId };
}

/**
 * Changes a live merchant. A switch to the provider begins its way anew (invited); a switch to
 * self-managed removes the credentials. A type it already has changes nothing.
 * @throws LimitReached when the account has used up its share.
 */
export function updateMerchant(
  transaction: StoreTransaction,
  before: MerchantRecord,
  change: MerchantChange,
): MerchantRecord | 'reference-taken' {
  const { account, merchantId } = before;
  const { name, contacts, referenceId: asked } = change.block ?? blockOf(before);
  // Left out it stays; empty it is removed.
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
  );
  putShared(transaction, account, merchantKey(account, merchantId), record, before);
  return record;
}

/**
 * Deletes a live merchant softly: its record stays, its secrets and its reference id do not.
 * @param now milliseconds since 1970
 * @param age time of the service's own clock, from which it is kept
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
  // Its few bytes more may pass the share: whoever deletes makes room.
  addShare(transaction, 'merchants', account, recordBytes(record) - recordBytes(merchant));
  transaction.put(key, record);
  retire(transaction, account, key, age);
}
