/**
 * The layout of the store: one LMDB environment, records in msgpack with
 * a checksum (record-bytes.ts), keys as listed here and, for merchants and kept answers, in
 * merchant-format.ts and idempotency.ts. Every record carries the version of its own shape as `v`.
 *
 * key                       record
 * ["meta", "format"]        FORMAT_VERSION
 * ["meta", "version"]       number of transactions so far; how other processes notice a change
 * ["meta", "keys"]          number of those that changed an API key
 * ["meta", "server"]        which process serves it, for earlier versions (server-claim.ts)
 * ["node", id]              a server on it, and ["lease", name] which of them does what one does
 *                           at a time (nodes.ts)
 * ["meta", "clock"]         what ages are measured with (service-clock.ts)
 * ["vault", "index"]        the key of keyed hashes, sealed (vault.ts)
 * ["key", id]               KeyRecord; the id is the SHA-256 of the API key in hex
 * ["usage", month, id]      UsageRecord of that key in a calendar month of UTC, written YYYYMM
 * ["outbox", list, kind, due, id]   OutboxRecord; list and kind as in outbox-record.ts, due in
 *                           milliseconds since 1970, padded so that text order is time order
 * ["count", "outbox", kind] how many records of the outbox there are; of accounts and whose dead
 *                           ones are whose in outbox-count.ts
 * ["new-audit", list]       AuditBlock, as in audit-format.ts, and ["audit-block", list, time];
 *                           shares are in share.ts
 * ["job", account, id]      JobRecord, as in jobs.ts
 * ["endpoint", "event"]     EndpointRecord: where events go
 * ["damaged", …]            bytes of a damaged record, after which its key goes on
 */
import { PLANS } from './plan.js';
import { choice, flag, number, recordReader, since, text } from './record-reader.js';
import { ALL_SCOPES } from './scope.js';

/** Raised when an older program could not read what a newer one writes. */
export const FORMAT_VERSION = 2;
/**
 * Earlier formats that can be read; they are rewritten as the newest. Format 1 had no checksums.
 */
export const FORMATS_READ: readonly unknown[] = [1];

export type StoreKey = readonly string[];

export const FORMAT_KEY: StoreKey = ['meta', 'format'];
export const VERSION_KEY: StoreKey = ['meta', 'version'];
export const KEYS_VERSION_KEY: StoreKey = ['meta', 'keys'];
export const MERCHANTS_VERSION_KEY: StoreKey = ['meta', 'merchants'];
/**
 * First parts of keys that even a full store accepts: its own records, and those of making room.
 */
export const ALWAYS_TAKEN: ReadonlySet<string | undefined> = new Set([
  'meta',
  'retired',
  'share',
  'nexus-count',
  'audit',
  'audit-count',
  'audit-block',
  'audit-block-count',
  'new-audit',
  'count',
  'node',
  'lease',
]);

export const KEY_PREFIX = 'key';
export const USAGE_PREFIX = 'usage';
export const DAMAGED_PREFIX = 'damaged';

export const OUTBOX_PREFIX = 'outbox';
export const ENDPOINT_KEY: StoreKey = ['endpoint', 'event'];

/** Digits of milliseconds since 1970, enough until the year 33658. */
const TIME_DIGITS = 15;

/** The text of a time in a key. Its order is that of times, since every time has as many digits. */
export function timeText(at: number): string {
  return String(at).padStart(TIME_DIGITS, '0');
}

/** Key of a record of the outbox. */
export function outboxKey(list: string, kind: string, dueAt: number, id: string): StoreKey {
  return [OUTBOX_PREFIX, list, kind, timeText(dueAt), id];
}

/** Key of the number of records of a kind in the outbox, of an account or of all. */
export function outboxCountKey(kind: string, account?: string): StoreKey {
  return ['count', OUTBOX_PREFIX, kind, ...(account === undefined ? [] : [account])];
}

/** Key of an API key's record. */
export function apiKeyKey(id: string): StoreKey {
  return [KEY_PREFIX, id];
}

/** Key of the usage of an API key in a month. */
export function usageKey(month: string, id: string): StoreKey {
  return [USAGE_PREFIX, month, id];
}

/** The record of an API key, which does not contain the key itself. */
export type KeyRecord = ReturnType<typeof parseKeyRecord>;

export const parseKeyRecord = recordReader('key', 1, {
  /** SHA-256 of the key in hex. */
  id: text,
  /** First characters of the key, by which people recognize it in a list. */
  prefix: text,
  account: text,
  plan: choice(PLANS),
  /** Limit of requests in a rolling minute. */
  rate: number,
  /** Bits of the key's entitlements. */
  grants: number,
  /** Bits of the key's scopes; all of them in records that are older than scopes. */
  scopes: since(number, ALL_SCOPES),
  /** Limit of lookups in a calendar month; 0 for none, as in records older than limits. */
  coreLimit: since(number, 0),
  /** Limit of those lookups that are by address or coordinates; 0 for none. */
  geoLimit: since(number, 0),
  /** Limit of merchant operations in a calendar month; 0 for none. */
  merchantLimit: since(number, 0),
  active: flag,
  /** Milliseconds since 1970. */
  createdAt: number,
});

/**
 * Number of slots for what is kept of each key in memory. Keys with the same slot replace one
 * another there, and are then found by their id.
 */
export const KEY_SLOTS = 4_096;

/** An API key with its slot, as requests use it. */
export interface KnownKey extends KeyRecord {
  /** A hint where to look first, from 0 to KEY_SLOTS - 1. */
  readonly slot: number;
}

/** Limits of a key in a calendar month. */
export type Quotas = Pick<KeyRecord, 'coreLimit' | 'geoLimit' | 'merchantLimit'>;

/** The usage of a key in one month. */
export type UsageRecord = ReturnType<typeof parseUsageRecord>;

export const parseUsageRecord = recordReader('usage', 1, {
  /** Id of the key. */
  id: text,
  account: text,
  /** YYYYMM in UTC. */
  month: text,
  /** Lookups that were answered with rates. */
  core: number,
  /** Those lookups that were by address or coordinates. */
  geo: number,
  merchant: number,
});
