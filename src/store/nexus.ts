/**
 * Nexus locations of self-managed merchants. The record of a deleted location is kept, but not
 * found.
 */
import { gather, type StoreScanner } from './gather.js';
import { NEXUS_PREFIX, nexusKey } from './merchant-format.js';
import type { StoreReader } from './merchants.js';
import { number, optional, recordReader, text, type MembersRead } from './record-reader.js';
import { countNexus } from './nexus-count.js';
import { retire } from './retired.js';
import { addShare, putShared, recordBytes } from './share.js';
import type { StoreTransaction } from './store.js';

const PLACE = {
  name: optional(text),
  line1: text,
  line2: optional(text),
  city: text,
  /** Two capitals. */
  state: text,
  zip: text,
  normalizedAddress: text,
  /** Microdegrees; zero where no door was found. */
  lat: number,
  lng: number,
};

/** The address as it was given, and where it was found. */
export type NexusPlace = MembersRead<typeof PLACE>;

export type NexusRecord = ReturnType<typeof parseNexus>;

/**
 * An object whose members are set one by one, because spreading would make a new hidden class each
 * time and is slow.
 */
type Draft<T> = { -readonly [Name in keyof T]?: T[Name] };

function addPlace(draft: Draft<NexusPlace>, place: NexusPlace): void {
  const { name, line1, line2, city, state, zip, normalizedAddress, lat, lng } = place;
  if (name !== undefined) draft.name = name;
  draft.line1 = line1;
  if (line2 !== undefined) draft.line2 = line2;
  draft.city = city;
  draft.state = state;
  draft.zip = zip;
  draft.normalizedAddress = normalizedAddress;
  draft.lat = lat;
  draft.lng = lng;
}

/** The record of a location. */
export function nexusRecord(
  { locationId, merchantId, account }: Pick<NexusRecord, 'locationId' | 'merchantId' | 'account'>,
  place: NexusPlace,
  times: Pick<NexusRecord, 'position' | 'createdAt' | 'updatedAt'>,
): NexusRecord {
  const draft: Draft<NexusRecord> = { v: 1, locationId, merchantId, account };
  addPlace(draft, place);
  draft.position = times.position;
  draft.createdAt = times.createdAt;
  draft.updatedAt = times.updatedAt;
  return draft as NexusRecord;
}

export const parseNexus = recordReader('nexus', 1, {
  /** UUID in lower case. */
  locationId: text,
  merchantId: text,
  account: text,
  ...PLACE,
  /** Position in the request that made it, since the locations of a request share their time. */
  position: number,
  /** Milliseconds since 1970, as are the other times of the record. */
  createdAt: number,
  updatedAt: number,
  deletedAt: optional(number),
});

/**
 * A location that is not deleted; null for an unknown id, one of another merchant, or a deleted
 * one.
 */
export function findNexus(
  reader: StoreReader,
  account: string,
  merchantId: string,
  locationId: string,
): NexusRecord | null {
  const found = reader.get(nexusKey(account, merchantId, locationId));
  if (found === undefined) return null;
  const record = parseNexus(found);
  return record.deletedAt === undefined ? record : null;
}

/** The locations of a merchant, the oldest first. */
export async function listNexus(
  store: StoreScanner,
  account: string,
  merchantId: string,
): Promise<readonly NexusRecord[]> {
  const live = await gather(store, [NEXUS_PREFIX, account, merchantId], (value) => {
    const location = parseNexus(value);
    return location.deletedAt === undefined ? location : null;
  });
  return live.sort(
    (left, right) =>
      left.createdAt - right.createdAt ||
      left.position - right.position ||
      (left.locationId < right.locationId ? -1 : 1),
  );
}

/**
 * Stores a new or changed location.
 * @throws LimitReached when the account has used up its share.
 */
export function putNexus(
  transaction: StoreTransaction,
  record: NexusRecord,
  before?: NexusRecord,
): void {
  const { account, merchantId, locationId } = record;
  const key = nexusKey(account, merchantId, locationId);
  putShared(transaction, account, key, record, before);
}

/**
 * Deletes a location.
 * @param now milliseconds since 1970
 * @param age time of the service's own clock, from which the record is kept
 */
export function deleteNexus(
  transaction: StoreTransaction,
  record: NexusRecord,
  now: number,
  age: number,
): void {
  const { account, merchantId, locationId } = record;
  const deleted: NexusRecord = { ...record, deletedAt: now, updatedAt: now };
  const key = nexusKey(account, merchantId, locationId);
  addShare(transaction, 'merchants', account, recordBytes(deleted) - recordBytes(record));
  countNexus(transaction, account, merchantId, -1);
  transaction.put(key, deleted);
  retire(transaction, account, key, age);
}
