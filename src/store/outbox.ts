/**
 * The outbox: events and mails that were acknowledged with the change they tell of, in the same
 * transaction, and are sent afterwards. Ordered by the time they are due; what could not be sent is
 * kept in the dead-letter list.
 */
import { randomBytes } from 'node:crypto';
import { endpointOf } from './endpoint.js';
import { outboxCountKey, outboxKey, OUTBOX_PREFIX } from './format.js';
import {
  OUTBOX_KINDS, parseOutboxCount, parseOutboxRecord, type EventRecord, type MailRecord,
  type OutboxCount, type OutboxKind, type OutboxList, type OutboxRecord,
} from './outbox-record.js';
import type { Store, StoreTransaction } from './store.js';

/** Of each kind. What comes above goes to the dead-letter list at once. */
export const WAITING_MAX = 100_000;
/** Of each kind. The oldest make room. */
export const DEAD_MAX = 10_000;
/** Bytes of an event's data, so that its envelope stays below 20,000. */
export const EVENT_DATA_BYTES_MAX = 19_000;

const ID_BYTES = 18;

export interface NewEvent {
  readonly account: string;
  /** Words of letters, digits and underscores with dots between them. */
  readonly type: string;
  readonly data: object;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Invitation {
  readonly account: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly contactFirst?: string;
  readonly contactLast?: string;
  /** The merchant's contactEmail. */
  readonly email: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What an attempt that failed left behind. */
export interface Attempt {
  readonly status: number | null;
  readonly error: string;
}

/** Without dots, which Standard Webhooks rules out. */
function newId(prefix: string): string {
  return `${prefix}_${randomBytes(ID_BYTES).toString('base64url')}`;
}

function countsOf(reader: Pick<StoreTransaction, 'get'>, kind: OutboxKind): OutboxCount {
  return parseOutboxCount(reader.get(outboxCountKey(kind)));
}

function count(
  transaction: StoreTransaction, kind: OutboxKind, list: OutboxList, by: number,
): void {
  const counts = countsOf(transaction, kind);
  transaction.put(outboxCountKey(kind), { v: 1, ...counts, [list]: counts[list] + by });
}

function keyOf(list: OutboxList, { kind, dueAt, id }: OutboxRecord): readonly string[] {
  return outboxKey(list, kind, dueAt, id);
}

function insert(transaction: StoreTransaction, list: OutboxList, record: OutboxRecord): void {
  transaction.put(keyOf(list, record), record);
  count(transaction, record.kind, list, 1);
}

/** Takes a record out of a list; false when it is there no more. */
function take(transaction: StoreTransaction, list: OutboxList, record: OutboxRecord): boolean {
  if (transaction.get(keyOf(list, record)) === undefined) return false;
  transaction.remove(keyOf(list, record));
  count(transaction, record.kind, list, -1);
  return true;
}

function insertDead(transaction: StoreTransaction, record: OutboxRecord): void {
  insert(transaction, 'dead', record);
  const over = countsOf(transaction, record.kind).dead - DEAD_MAX;
  if (over <= 0) return;
  for (const value of transaction.list([OUTBOX_PREFIX, 'dead', record.kind], over)) {
    take(transaction, 'dead', parseOutboxRecord(value));
  }
}

function add(transaction: StoreTransaction, record: OutboxRecord): void {
  if (countsOf(transaction, record.kind).waiting < WAITING_MAX) {
    insert(transaction, 'waiting', record);
  } else insertDead(transaction, { ...record, error: 'the outbox was full' });
}

/**
 * Adds an event. Without a configured endpoint there is none to be told, and nothing is added.
 * @throws Error when the data are larger than an event may be.
 */
export function addEvent(transaction: StoreTransaction, event: NewEvent): void {
  if (endpointOf(transaction) === null) return;
  const { account, type, now } = event;
  const data = JSON.stringify(event.data);
  if (Buffer.byteLength(data) > EVENT_DATA_BYTES_MAX) {
    throw new Error(`the data of an event have at most ${EVENT_DATA_BYTES_MAX} bytes`);
  }
  const record: EventRecord = {
    v: 1, kind: 'event', id: newId('evt'), account, type, data,
    createdAt: now, dueAt: now, attempts: 0, status: null, error: null,
  };
  add(transaction, record);
}

/** Adds the mail that invites a merchant. It waits while no mail server is configured. */
export function addInvitation(transaction: StoreTransaction, invitation: Invitation): void {
  const { account, merchantId, merchantName, email, now } = invitation;
  const record: MailRecord = {
    v: 1, kind: 'mail', id: newId('mail'), account, merchantId, merchantName,
    contactFirst: invitation.contactFirst ?? null,
    contactLast: invitation.contactLast ?? null,
    email, createdAt: now, dueAt: now, attempts: 0, status: null, error: null,
  };
  add(transaction, record);
}

/** How many events and mails wait, and how many could not be sent. */
export function outboxCounts(store: Store): {
  readonly events: OutboxCount;
  readonly mails: OutboxCount;
} {
  return { events: countsOf(store, 'event'), mails: countsOf(store, 'mail') };
}

/** The first of a kind, by due time in `waiting`, the oldest first in `dead`. */
export function listOutbox<K extends OutboxKind>(
  store: Store, list: OutboxList, kind: K, limit?: number,
): readonly Extract<OutboxRecord, { kind: K }>[] {
  return store.list([OUTBOX_PREFIX, list, kind], limit).map(parseOutboxRecord)
    .filter((record): record is Extract<OutboxRecord, { kind: K }> => record.kind === kind);
}

/** It was sent. False when it is there no more. */
export function settle(transaction: StoreTransaction, record: OutboxRecord): boolean {
  return take(transaction, 'waiting', record);
}

/** An attempt failed; it is due again at a later time. */
export function postpone(
  transaction: StoreTransaction, record: OutboxRecord, { status, error }: Attempt, dueAt: number,
): void {
  if (!take(transaction, 'waiting', record)) return;
  insert(transaction, 'waiting', {
    ...record, status, error, dueAt, attempts: record.attempts + 1,
  });
}

/** An attempt failed for good. */
export function bury(
  transaction: StoreTransaction, record: OutboxRecord, { status, error }: Attempt, now: number,
): void {
  if (!take(transaction, 'waiting', record)) return;
  insertDead(transaction, {
    ...record, status, error, dueAt: now, attempts: record.attempts + 1,
  });
}

/** All attempts anew, the first one now. False when it is there no more. */
function revive(
  transaction: StoreTransaction, list: OutboxList, record: OutboxRecord, now: number,
): boolean {
  if (!take(transaction, list, record)) return false;
  insert(transaction, 'waiting', { ...record, dueAt: now, attempts: 0 });
  return true;
}

/** Makes one that waits or is dead due at once; false when there is none of that id. */
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

/** Makes all dead ones due at once; returns how many there were. */
export async function replayDead(store: Store, now: number): Promise<number> {
  const dead = OUTBOX_KINDS.flatMap((kind) => listOutbox(store, 'dead', kind));
  return store.write((transaction) =>
    dead.filter((record) => revive(transaction, 'dead', record, now)).length);
}
