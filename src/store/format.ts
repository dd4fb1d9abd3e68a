/**
 * The layout of the store: one LMDB environment, records in msgpack, keys as listed here and, for
 * merchants and kept answers, in merchant-format.ts and idempotency.ts. Every record carries the
 * version of its own shape as `v`.
 *
 * key                       record
 * ["meta", "format"]        FORMAT_VERSION
 * ["meta", "version"]       number of transactions so far; how other processes notice a change
 * ["meta", "keys"]          number of those that changed an API key
 * ["meta", "server"]        which process serves it (server-claim.ts)
 * ["vault", "index"]        the key of keyed hashes, sealed (vault.ts)
 * ["key", id]               KeyRecord; the id is the SHA-256 of the API key in hex
 * ["usage", month, id]      UsageRecord of that key in a calendar month of UTC, written YYYYMM
 * ["outbox", list, kind, due, id]   OutboxRecord; list and kind as in outbox-record.ts, due in
 *                           milliseconds since 1970, padded so that text order is time order
 * ["count", "outbox", kind] how many records of the outbox there are
 * ["job", account, id]      JobRecord, as in jobs.ts
 * ["endpoint", "event"]     EndpointRecord: where events go
 */
import { isPlan, type Plan } from './plan.js';

/** Raised when an older program could not read what a newer one wrote. */
export const FORMAT_VERSION = 1;

export type StoreKey = readonly string[];

export const FORMAT_KEY: StoreKey = ['meta', 'format'];
export const VERSION_KEY: StoreKey = ['meta', 'version'];
export const KEYS_VERSION_KEY: StoreKey = ['meta', 'keys'];
export const MERCHANTS_VERSION_KEY: StoreKey = ['meta', 'merchants'];
export const KEY_PREFIX = 'key';
export const USAGE_PREFIX = 'usage';

export const OUTBOX_PREFIX = 'outbox';
export const ENDPOINT_KEY: StoreKey = ['endpoint', 'event'];

/** Milliseconds since 1970 have fewer digits until the year 33658. */
const DUE_DIGITS = 15;

/** Key of something that is to be sent. */
export function outboxKey(list: string, kind: string, dueAt: number, id: string): StoreKey {
  return [OUTBOX_PREFIX, list, kind, String(dueAt).padStart(DUE_DIGITS, '0'), id];
}

/** Key of how much of a kind is to be sent. */
export function outboxCountKey(kind: string): StoreKey {
  return ['count', OUTBOX_PREFIX, kind];
}

/** Key of an API key's record. */
export function apiKeyKey(id: string): StoreKey {
  return [KEY_PREFIX, id];
}

/** Key of what an API key used in a month. */
export function usageKey(month: string, id: string): StoreKey {
  return [USAGE_PREFIX, month, id];
}

/** Lookups and merchant operations a key may make in a calendar month; 0 is as many as it likes. */
export interface Quotas {
  readonly coreLimit: number;
  readonly geoLimit: number;
  readonly merchantLimit: number;
}

/** An API key as it is kept: never the key itself. */
export interface KeyRecord extends Quotas {
  readonly v: 1;
  /** SHA-256 of the key in hex. */
  readonly id: string;
  /** First characters of the key, to tell keys apart in a list. */
  readonly prefix: string;
  readonly account: string;
  readonly plan: Plan;
  /** Requests in a rolling minute. */
  readonly rate: number;
  /** Entitlement bits. */
  readonly grants: number;
  readonly active: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** What a key used in one month. */
export interface UsageRecord {
  readonly v: 1;
  /** Id of the key. */
  readonly id: string;
  readonly account: string;
  /** YYYYMM in UTC. */
  readonly month: string;
  /** Lookups that were answered with rates. */
  readonly core: number;
  /** Those of them by address or coordinates. */
  readonly geo: number;
  readonly merchant: number;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** A limit of a record, unmetered where the record is older than limits. */
function quotaOf(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number') throw new Error('damaged key record in the store');
  return value;
}

/**
 * Reads a key's record.
 * @throws Error when the record has another shape: the store is damaged or from a newer program.
 */
export function parseKeyRecord(value: unknown): KeyRecord {
  if (!isFields(value) || value['v'] !== 1) throw new Error('unreadable key record in the store');
  const { id, prefix, account, plan, rate, grants, active, createdAt } = value;
  if (
    typeof id !== 'string' || typeof prefix !== 'string' || typeof account !== 'string' ||
    typeof plan !== 'string' || !isPlan(plan) || typeof rate !== 'number' ||
    typeof grants !== 'number' || typeof active !== 'boolean' || typeof createdAt !== 'number'
  ) {
    throw new Error('damaged key record in the store');
  }
  return {
    v: 1, id, prefix, account, plan, rate, grants,
    coreLimit: quotaOf(value['coreLimit']),
    geoLimit: quotaOf(value['geoLimit']),
    merchantLimit: quotaOf(value['merchantLimit']),
    active, createdAt,
  };
}

/**
 * Reads a usage record.
 * @throws Error when the record has another shape: the store is damaged or from a newer program.
 */
export function parseUsageRecord(value: unknown): UsageRecord {
  if (!isFields(value) || value['v'] !== 1) throw new Error('unreadable usage record in the store');
  const { id, account, month, core, geo, merchant } = value;
  if (
    typeof id !== 'string' || typeof account !== 'string' || typeof month !== 'string' ||
    typeof core !== 'number' || typeof geo !== 'number' || typeof merchant !== 'number'
  ) {
    throw new Error('damaged usage record in the store');
  }
  return { v: 1, id, account, month, core, geo, merchant };
}
