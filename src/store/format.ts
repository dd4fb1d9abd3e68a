/**
 * The layout of the store: one LMDB environment, records in msgpack, keys as listed here and
 * nowhere else. Every record carries the version of its own shape as `v`.
 *
 * key                       record
 * ["meta", "format"]        FORMAT_VERSION
 * ["meta", "version"]       number of transactions so far; how other processes notice a change
 * ["key", id]               KeyRecord; the id is the SHA-256 of the API key in hex
 */
import { isPlan, type Plan } from './plan.js';

/** Raised when an older program could not read what a newer one wrote. */
export const FORMAT_VERSION = 1;

export type StoreKey = readonly string[];

export const FORMAT_KEY: StoreKey = ['meta', 'format'];
export const VERSION_KEY: StoreKey = ['meta', 'version'];
export const KEY_PREFIX = 'key';

/** Key of an API key's record. */
export function apiKeyKey(id: string): StoreKey {
  return [KEY_PREFIX, id];
}

/** An API key as it is kept: never the key itself. */
export interface KeyRecord {
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

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
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
  return { v: 1, id, prefix, account, plan, rate, grants, active, createdAt };
}
