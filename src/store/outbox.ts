/**
 * The outbox: events and mails are stored in the transaction of the change that they report, and
 * are sent afterwards, in the order of the times they are due. What could not be sent is kept in
 * the dead-letter list.
 */
import { randomBytes } from 'node:crypto';
import { endpointOf } from './endpoint.js';
import { sealEventData, type EventVault } from './event-seal.js';
import { outboxKey, OUTBOX_PREFIX } from './format.js';
import { countOutbox, outboxCountOf, removeOldestDead } from './outbox-count.js';
import {
  type Attempt,
  type EventRecord,
  type Invitation,
  type MailRecord,
  type NewEvent,
  OUTBOX_KINDS,
  OUTBOX_LISTS,
  type OutboxKind,
  type OutboxList,
  type OutboxRecord,
  parseOutboxRecord,
} from './outbox-record.js';
import type { Store, StoreTransaction } from './store.js';

/** Most waiting records of each kind. Further ones go to the dead-letter list at once. */
export const WAITING_MAX = 100_000;
/** Most dead records of each kind. The oldest are removed for new ones. */
export const DEAD_MAX = 10_000;
/** Most waiting records of each kind and account, so that none uses up the room of others. */
export const WAITING_ACCOUNT_MAX = WAITING_MAX / 10;
/** Most dead records of each kind and account. The account's oldest are removed for new ones. */
export const DEAD_ACCOUNT_MAX = DEAD_MAX / 10;
/** Most bytes of an event's data, so that the whole body stays below 20,000. */
export const EVENT_DATA_BYTES_MAX = 19_000;

const ID_BYTES = 18;
/** How many events of an earlier version are sealed in one transaction. */
const SEAL_BATCH = 500;

/** Without dots, which Standard Webhooks forbids. */
function newId(prefix: string): string {
  return `${prefix}_${randomBytes(ID_BYTES).toString('base64url')}`;
}

/** First members of every record: due at once, and not attempted yet. */
function untried(now: number) {
  return { createdAt: now, dueAt: now, attempts: 0, status: null, error: null };
}

function keyOf(list: OutboxList, { kind, dueAt, id }: OutboxRecord): readonly string[] {
  return outboxKey(list, kind, dueAt, id);
}

function insert(transaction: StoreTransaction, list: OutboxList, record: OutboxRecord): void {
  countOutbox(transaction, record, list, 1);
  transaction.put(keyOf(list, record), record);
}

/**
 * Removes a record from a list and returns it as it was stored, because a rotation may have wrapped
 * its key again after the given one was read. Null when it is no longer there.
 */
function take(
  transaction: StoreTransaction,
  list: OutboxList,
  record: OutboxRecord,
): OutboxRecord | null {
  const found = transaction.get(keyOf(list, record));
  if (found === undefined) return null;
  const taken = parseOutboxRecord(found);
  countOutbox(transaction, taken, list, -1);
  transaction.remove(keyOf(list, record));
  return taken;
}

function insertDead(transaction: StoreTransaction, record: OutboxRecord): void {
  // Must come after all others, whatever the clock says, since the first ones are removed.
  const last = transaction.last([OUTBOX_PREFIX, 'dead', record.kind]);
  const after = last === undefined ? 0 : parseOutboxRecord(last).dueAt + 1;
  insert(transaction, 'dead', { ...record, dueAt: Math.max(record.dueAt, after) });
  const { kind, account } = record;
  const own = outboxCountOf(transaction, kind, account).dead - DEAD_ACCOUNT_MAX;
  if (own > 0) removeOldestDead(transaction, kind, account, own);
  const over = outboxCountOf(transaction, record.kind).dead - DEAD_MAX;
  if (over <= 0) return;
  for (const value of transaction.list([OUTBOX_PREFIX, 'dead', record.kind], over)) {
    take(transaction, 'dead', parseOutboxRecord(value));
  }
}

function add(transaction: StoreTransaction, record: OutboxRecord): void {
  const { kind, account } = record;
  if (outboxCountOf(transaction, kind, account).waiting >= WAITING_ACCOUNT_MAX) {
    insertDead(transaction, { ...record, error: 'the account had its share of the outbox' });
  } else if (outboxCountOf(transaction, kind).waiting >= WAITING_MAX) {
    insertDead(transaction, { ...record, error: 'the outbox was full' });
  } else insert(transaction, 'waiting', record);
}

/**
 * Adds an event. Without a configured endpoint, nothing is added.
 * @throws Error when the data are larger than an event may be.
 */
export function addEvent(
  transaction: StoreTransaction,
  vault: Pick<EventVault, 'seal'>,
  event: NewEvent,
): void {
  if (endpointOf(transaction) === null) return;
  const { account, type, now } = event;
  const data = JSON.stringify(event.data);
  if (Buffer.byteLength(data) > EVENT_DATA_BYTES_MAX) {
    throw new Error(`the data of an event have at most ${EVENT_DATA_BYTES_MAX} bytes`);
  }
  const id = newId('evt');
  const record: EventRecord = {
    v: 2,
    kind: 'event',
    id,
    account,
    type,
    data: sealEventData(vault, { account, id }, data),
    ...untried(now),
  };
  add(transaction, record);
}

/** An id for the mail that invites a merchant. */
export function newInvitationId(): string {
  return newId('mail');
}

/** Adds the mail that invites a merchant. It waits as long as no mail server is configured. */
export function addInvitation(transaction: StoreTransaction, invitation: Invitation): void {
  const { id = newInvitationId(), account, merchantId, merchantName, email, now } = invitation;
  const record: MailRecord = {
    v: 1,
    kind: 'mail',
    id,
    account,
    merchantId,
    merchantName,
    contactFirst: invitation.contactFirst ?? null,
    contactLast: invitation.contactLast ?? null,
    email,
    ...untried(now),
  };
  add(transaction, record);
}

/** The first records of a kind: by due time in `waiting`, the oldest first in `dead`. */
export function listOutbox<K extends OutboxKind>(
  store: Store,
  list: OutboxList,
  kind: K,
  limit?: number,
): readonly Extract<OutboxRecord, { kind: K }>[] {
  return store
    .list([OUTBOX_PREFIX, list, kind], limit)
    .map(parseOutboxRecord)
    .filter((record): record is Extract<OutboxRecord, { kind: K }> => record.kind === kind);
}

/** The record of a list that is due last; null when there is none. */
export function lastOutbox<K extends OutboxKind>(
  store: Store,
  list: OutboxList,
  kind: K,
): Extract<OutboxRecord, { kind: K }> | null {
  const found = store.last([OUTBOX_PREFIX, list, kind]);
  const record = found === undefined ? null : parseOutboxRecord(found);
  return record?.kind === kind ? (record as Extract<OutboxRecord, { kind: K }>) : null;
}

/** Removes a record that was sent. False when it is no longer there. */
export function settle(transaction: StoreTransaction, record: OutboxRecord): boolean {
  return take(transaction, 'waiting', record) !== null;
}

/** Stores another address for a waiting mail. */
export function readdress(
  transaction: StoreTransaction,
  record: MailRecord,
  {
    merchantName,
    contactFirst,
    contactLast,
    email,
  }: Pick<MailRecord, 'merchantName' | 'contactFirst' | 'contactLast' | 'email'>,
): void {
  const key = keyOf('waiting', record);
  const found = transaction.get(key);
  const mail = found === undefined ? null : parseOutboxRecord(found);
  if (mail?.kind !== 'mail') return;
  transaction.put(key, { ...mail, merchantName, contactFirst, contactLast, email });
}

/** Stores a later time for a record whose attempt failed. */
export function postpone(
  transaction: StoreTransaction,
  record: OutboxRecord,
  { status, error }: Attempt,
  dueAt: number,
): void {
  const taken = take(transaction, 'waiting', record);
  if (taken === null) return;
  insert(transaction, 'waiting', {
    ...taken,
    status,
    error,
    dueAt,
    attempts: taken.attempts + 1,
  });
}

/** Puts a record whose last attempt failed into the dead-letter list. */
export function bury(
  transaction: StoreTransaction,
  record: OutboxRecord,
  { status, error }: Attempt,
  now: number,
): void {
  const taken = take(transaction, 'waiting', record);
  if (taken === null) return;
  insertDead(transaction, {
    ...taken,
    status,
    error,
    dueAt: now,
    attempts: taken.attempts + 1,
  });
}

/** Begins the attempts of a record again, the first one now. False when it is no longer there. */
function revive(
  transaction: StoreTransaction,
  list: OutboxList,
  record: OutboxRecord,
  now: number,
): boolean {
  const taken = take(transaction, list, record);
  if (taken === null) return false;
  insert(transaction, 'waiting', { ...taken, dueAt: now, attempts: 0 });
  return true;
}

/** Makes a waiting or dead record due at once; false when there is none of that id. */
export async function replay(store: Store, id: string, now: number): Promise<boolean> {
  for (const kind of OUTBOX_KINDS) {
    for (const list of ['dead', 'waiting'] as const) {
      const record = listOutbox(store, list, kind).find((each) => each.id === id);
      if (record === undefined) continue;
      return store.write((transaction) => revive(transaction, list, record, now));
    }
  }
  return false;
}

/** Makes all dead records due at once; returns how many there were. */
export async function replayDead(store: Store, now: number): Promise<number> {
  const dead = OUTBOX_KINDS.flatMap((kind) => listOutbox(store, 'dead', kind));
  return store.write(
    (transaction) => dead.filter((record) => revive(transaction, 'dead', record, now)).length,
  );
}

/** Seals the data of events that an earlier version stored as text; returns how many there were. */
export async function sealOldEvents(
  store: Store,
  vault: Pick<EventVault, 'seal'>,
): Promise<number> {
  const listed = OUTBOX_LISTS.flatMap((list) =>
    listOutbox(store, list, 'event')
      .filter(({ data }) => typeof data === 'string')
      .map((record) => ({ list, record })),
  );
  let sealed = 0;
  for (let from = 0; from < listed.length; from += SEAL_BATCH) {
    sealed += await store.write(
      (transaction) =>
        listed.slice(from, from + SEAL_BATCH).filter(({ list, record }) => {
          const found = transaction.get(keyOf(list, record));
          const event = found === undefined ? null : parseOutboxRecord(found);
          if (event?.kind !== 'event' || typeof event.data !== 'string') return false;
          const data = sealEventData(vault, event, event.data);
          transaction.put(keyOf(list, event), { ...event, data });
          return true;
        }).length,
      { quiet: true },
    );
  }
  return sealed;
}
