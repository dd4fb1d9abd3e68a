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

/** Raised when an older program could not read what a newer one wrote. */
export const FORMAT_VERSION = 2;
/** Earlier ones, which are read and go on as the newest. Format 1 had no checksums. */
export const FORMATS_READ: readonly unknown[] = [1];

export type StoreKey = readonly string[];

export const FORMAT_KEY: StoreKey = ['meta', 'format'];
export const VERSION_KEY: StoreKey = ['meta', 'version'];
export const KEYS_VERSION_KEY: StoreKey = ['meta', 'keys'];
export const MERCHANTS_VERSION_KEY: StoreKey = ['meta', 'merchants'];
/** Beginnings of keys that a full store takes too: its own, and what comes with making room. */
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

/** Milliseconds since 1970 have fewer digits until the year 33658. */
const TIME_DIGITS = 15;

/** A time in a key, so that the order of texts is that of times. */
export function timeText(at: number): string {
  return String(at).padStart(TIME_DIGITS, '0');
}

/** Key of something that is to be sent. */
export function outboxKey(list: string, kind: string, dueAt: number, id: string): StoreKey {
  return [OUTBOX_PREFIX, list, kind, timeText(dueAt), id];
}

/** Key of how much of a kind is to be sent, of an account or of all. */
export function outboxCountKey(kind: string, account?: string): StoreKey {
  return ['count', OUTBOX_PREFIX, kind, ...(account === undefined ? [] : [account])];
}

/** Key of an API key's record. */
export function apiKeyKey(id: string): StoreKey {
  return [KEY_PREFIX, id];
}

/** Key of what an API key used in a month. */
export function usageKey(month: string, id: string): StoreKey {
  return [USAGE_PREFIX, month, id];
}

/** An API key as it is kept: never the key itself. */
export type KeyRecord = ReturnType<typeof parseKeyRecord>;

export const parseKeyRecord = recordReader('key', 1, {
  /** SHA-256 of the key in hex. */
  id: text,
  /** First characters of the key, to tell keys apart in a list. */
  prefix: text,
  account: text,
  plan: choice(PLANS),
  /** Requests in a rolling minute. */
  rate: number,
  /** Entitlement bits. */
  grants: number,
  /** Bits of what it may be used for; all of them in records older than scopes. */
  scopes: since(number, ALL_SCOPES),
  /** Lookups in a calendar month; 0, as in records older than limits, is as many as it likes. */
  coreLimit: since(number, 0),
  /** Those of them by address or coordinates, likewise. */
  geoLimit: since(number, 0),
  /** Merchant operations, likewise. */
  merchantLimit: since(number, 0),
  active: flag,
  /** Milliseconds since 1970. */
  createdAt: number,
});

/**
 * Slots that what is kept of a key in memory may lie in. Keys of one slot push one another out, to
 * where it is looked for by their ids.
 */
export const KEY_SLOTS = 4_096;

/** An API key as requests have it. */
export interface KnownKey extends KeyRecord {
  /** A hint where to look first: 0 to KEY_SLOTS - 1. */
  readonly slot: number;
}

/** What a key may do in a calendar month. */
export type Quotas = Pick<KeyRecord, 'coreLimit' | 'geoLimit' | 'merchantLimit'>;

/** What a key used in one month. */
export type UsageRecord = ReturnType<typeof parseUsageRecord>;

export const parseUsageRecord = recordReader('usage', 1, {
  /** Id of the key. */
  id: text,
  account: text,
  /** YYYYMM in UTC. */
  month: text,
  /** Lookups that were answered with rates. */
  core: number,
  /** Those of them by address or coordinates. */
  geo: number,
  merchant: number,
});
