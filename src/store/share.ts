/**
 * How much of the store each account uses, so that none takes up the room of others. A change of
 * what is counted changes the count in the same transaction.
 *
 * ["share", kind, account]   { v: 1, bytes }
 */
import { pack } from 'msgpackr';
import type { StoreKey } from './format.js';
import { AGE_PREFIX, parseAge } from './idempotency-record.js';
import { LimitReached } from './transaction.js';
import { CREDENTIALS_PREFIX, MERCHANT_PREFIX, NEXUS_PREFIX } from './merchant-format.js';
import { NewRecord } from './record-bytes.js';
import { plainBytes } from './record-pack.js';
import { number, recordReader } from './record-reader.js';
import { countRecord, type CountReader } from './set-aside.js';
import type { StoreTransaction } from './store.js';

const SHARE_PREFIX = 'share';

export type ShareKind =
  /** Answers under an Idempotency-Key, until they expire. */
  | 'kept'
  /** Merchants, credentials and nexus locations, including deleted ones until they are removed. */
  | 'merchants';

const MIB = 1_048_576;

/** Most bytes of records that an account may have. */
export const SHARE_BYTES_MAX: Readonly<Record<ShareKind, number>> = {
  kept: 64 * MIB,
  merchants: 128 * MIB,
};

const MESSAGES: Readonly<Record<ShareKind, string>> = {
  kept:
    'The answers kept for Idempotency-Keys of the account have used up their share; each is ' +
    'kept for 24 hours. Nothing was done.',
  merchants:
    'The merchants and locations of the account have used up their share; those that are ' +
    'deleted count for 30 days more. Nothing was done.',
};

/** Added for each record, since keys and pages take room too. */
const OVERHEAD_BYTES = 200;

const parseShare = recordReader('share', 1, { bytes: number });

function shareKey(kind: ShareKind, account: string): StoreKey {
  return [SHARE_PREFIX, kind, account];
}

/** The bytes that a record counts for. */
export function recordBytes(record: unknown): number {
  return bytesBeside(record, plainBytes(record));
}

function bytesBeside(record: unknown, plain: number): number {
  return (plain < 0 ? pack(record).byteLength : plain) + OVERHEAD_BYTES;
}

const COUNTED: readonly string[] = [MERCHANT_PREFIX, CREDENTIALS_PREFIX, NEXUS_PREFIX];

/** Adds up the records of a share; damaged ones count for nothing. */
function addUp(reader: CountReader, kind: ShareKind, account: string): number {
  const bytes =
    kind === 'kept'
      ? reader
          .list([AGE_PREFIX])
          .map(parseAge)
          .filter((age) => age.account === account)
          .map((age) => age.bytes)
      : COUNTED.flatMap((prefix) => reader.list([prefix, account]).map(recordBytes));
  return bytes.reduce((sum, each) => sum + each, 0);
}

/** Bytes of an account. */
export function shareBytes(reader: CountReader, kind: ShareKind, account: string): number {
  const found = countRecord(reader, shareKey(kind, account), () => ({
    v: 1,
    bytes: addUp(reader, kind, account),
  }));
  return found === undefined ? 0 : parseShare(found).bytes;
}

/** Stores the bytes of an account. */
export function setShare(
  transaction: Pick<StoreTransaction, 'put'>,
  kind: ShareKind,
  account: string,
  bytes: number,
): void {
  transaction.put(shareKey(kind, account), { v: 1, bytes });
}

/** Changes the bytes of an account, regardless of the limit. */
export function addShare(
  transaction: StoreTransaction,
  kind: ShareKind,
  account: string,
  by: number,
): void {
  if (by === 0) return;
  setShare(transaction, kind, account, Math.max(0, shareBytes(transaction, kind, account) + by));
}

/** Changes the bytes of an account. @throws LimitReached when they would exceed its share. */
export function takeShare(
  transaction: StoreTransaction,
  kind: ShareKind,
  account: string,
  by: number,
): void {
  if (by === 0) return;
  const limit = SHARE_BYTES_MAX[kind];
  const bytes = shareBytes(transaction, kind, account) + by;
  if (by > 0 && bytes > limit) throw new LimitReached(MESSAGES[kind], limit);
  setShare(transaction, kind, account, Math.max(0, bytes));
}

/** A record that was packed before it is stored, since that gives its length. */
export interface PackedRecord<T extends object = object> {
  readonly record: T;
  readonly key: StoreKey;
  readonly packed: NewRecord;
  /** The bytes that it counts for. */
  readonly bytes: number;
}

/** Packs a record, inside a transaction or before it. */
export function packedRecord<T extends object>(key: StoreKey, record: T): PackedRecord<T> {
  const packed = new NewRecord(key, record);
  return { record, key, packed, bytes: bytesBeside(record, packed.pack()) };
}

/**
 * Stores a new record that counts for an account's merchants.
 * @throws LimitReached when there is no room.
 */
export function putNewShared(
  transaction: StoreTransaction,
  account: string,
  { key, packed, bytes }: PackedRecord,
): void {
  takeShare(transaction, 'merchants', account, bytes);
  transaction.put(key, packed);
}

/**
 * Stores a record that counts for an account's merchants.
 * @param before what is stored under the key; undefined for nothing
 * @throws LimitReached when there is no room.
 */
export function putShared(
  transaction: StoreTransaction,
  account: string,
  key: StoreKey,
  record: object,
  before: unknown,
): void {
  const { packed, bytes } = packedRecord(key, record);
  const by = bytes - (before === undefined ? 0 : recordBytes(before));
  takeShare(transaction, 'merchants', account, by);
  transaction.put(key, packed);
}

/**
 * Removes a record that counts for an account's merchants, and subtracts its bytes.
 * @param before what is stored under the key, where it was read; undefined for nothing
 */
export function removeShared(
  transaction: StoreTransaction,
  account: string,
  key: StoreKey,
  before = transaction.get(key),
): void {
  if (before === undefined) return;
  addShare(transaction, 'merchants', account, -recordBytes(before));
  transaction.remove(key);
}
