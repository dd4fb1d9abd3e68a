/** Nexus locations of self-managed merchants. A deleted one is kept, and seen no more. */
import { gather, type StoreScanner } from './gather.js';
import { NEXUS_PREFIX, nexusKey } from './merchant-format.js';
import type { StoreReader } from './merchants.js';
import { damaged, present, textOf, upgraded } from './record.js';
import type { StoreTransaction } from './store.js';

/** The address as it was given, and what became of it. */
export interface NexusPlace {
  readonly name?: string;
  readonly line1: string;
  readonly line2?: string;
  readonly city: string;
  /** Two capitals. */
  readonly state: string;
  readonly zip: string;
  readonly normalizedAddress: string;
  /** Millionths of a degree; zero without a door. */
  readonly lat: number;
  readonly lng: number;
}

export interface NexusRecord extends NexusPlace {
  readonly v: 1;
  /** UUID in lower case. */
  readonly locationId: string;
  readonly merchantId: string;
  readonly account: string;
  /** Place in the request that made it: locations of one request share their time. */
  readonly position: number;
  /** Milliseconds since 1970, as are the two below. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt?: number;
}

/**
 * Reads a location.
 * @throws Error when the record has another shape.
 */
export function parseNexus(value: unknown): NexusRecord {
  const kind = 'nexus';
  const fields = upgraded(value, kind);
  const {
    locationId, merchantId, account, line1, city, state, zip, normalizedAddress, lat, lng,
    position, createdAt, updatedAt, deletedAt,
  } = fields;
  if (
    typeof locationId !== 'string' || typeof merchantId !== 'string' ||
    typeof account !== 'string' || typeof line1 !== 'string' || typeof city !== 'string' ||
    typeof state !== 'string' || typeof zip !== 'string' ||
    typeof normalizedAddress !== 'string' || typeof lat !== 'number' || typeof lng !== 'number' ||
    typeof position !== 'number' || typeof createdAt !== 'number' ||
    typeof updatedAt !== 'number' || (deletedAt !== undefined && typeof deletedAt !== 'number')
  ) {
    throw damaged(kind);
  }
  return {
    v: 1, locationId, merchantId, account,
    ...present({ name: textOf(fields, 'name', kind), line2: textOf(fields, 'line2', kind) }),
    line1, city, state, zip, normalizedAddress, lat, lng, position, createdAt, updatedAt,
    ...(deletedAt === undefined ? {} : { deletedAt }),
  };
}

/** A location that was not deleted; null for an unknown id or another merchant's alike. */
export function findNexus(
  reader: StoreReader, account: string, merchantId: string, locationId: string,
): NexusRecord | null {
  const found = reader.get(nexusKey(account, merchantId, locationId));
  if (found === undefined) return null;
  const record = parseNexus(found);
  return record.deletedAt === undefined ? record : null;
}

/** The locations of a merchant, the oldest first. */
export async function listNexus(
  store: StoreScanner, account: string, merchantId: string,
): Promise<readonly NexusRecord[]> {
  const live = await gather(store, [NEXUS_PREFIX, account, merchantId], (value) => {
    const location = parseNexus(value);
    return location.deletedAt === undefined ? location : null;
  });
  return live.sort((left, right) => left.createdAt - right.createdAt
    || left.position - right.position
    || (left.locationId < right.locationId ? -1 : 1));
}

/** Stores a location, new or changed. */
export function putNexus(transaction: StoreTransaction, record: NexusRecord): void {
  const { account, merchantId, locationId } = record;
  transaction.put(nexusKey(account, merchantId, locationId), record);
}

/** Deletes a location. */
export function deleteNexus(
  transaction: StoreTransaction, record: NexusRecord, now: number,
): void {
  putNexus(transaction, { ...record, deletedAt: now, updatedAt: now });
}
