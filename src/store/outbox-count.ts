/**
 * How many records of the outbox there are, of all accounts and of each, so that none takes the
 * room of the others; and which of the dead ones are whose.
 *
 * ["count", "outbox", kind]            OutboxCount
 * ["count", "outbox", kind, account]   OutboxCount; none where both are 0
 * ["outbox-dead", kind, account, due, id]   { v: 1, dueAt, id } of a dead record
 */
import { outboxCountKey, outboxKey, OUTBOX_PREFIX, type StoreKey } from './format.js';
import {
  OUTBOX_KINDS,
  OUTBOX_LISTS,
  parseOutboxCount,
  parseOutboxRecord,
  type OutboxCount,
  type OutboxKind,
  type OutboxList,
  type OutboxRecord,
} from './outbox-record.js';
import { number, recordReader, text } from './record-reader.js';
import { countRecord, type CountReader } from './set-aside.js';
import type { Store, StoreTransaction } from './store.js';

/** Set when the records of each account in the store were counted. */
const OUTBOX_COUNTED_KEY: StoreKey = ['meta', 'outbox'];

const DEAD_PREFIX = 'outbox-dead';

const readDead = recordReader('dead outbox', 1, { dueAt: number, id: text });

/** The members of a record that are needed to count it. */
type Counted = Pick<OutboxRecord, 'kind' | 'account' | 'dueAt' | 'id'>;

/**
 * A damaged record is left out. It is reported where it is needed, and must not stop the service.
 */
function readable(value: unknown): readonly OutboxRecord[] {
  try {
    return [parseOutboxRecord(value)];
  } catch {
    return [];
  }
}

/** The number of records of a kind, of an account or of all. */
export function outboxCountOf(
  reader: CountReader,
  kind: OutboxKind,
  account?: string,
): OutboxCount {
  const lengthOf = (list: OutboxList): number =>
    reader
      .list([OUTBOX_PREFIX, list, kind])
      .flatMap(readable)
      .filter((record) => account === undefined || record.account === account).length;
  return parseOutboxCount(
    countRecord(reader, outboxCountKey(kind, account), () => ({
      v: 1,
      waiting: lengthOf('waiting'),
      dead: lengthOf('dead'),
    })),
  );
}

function deadKey({ kind, account, dueAt, id }: Counted): StoreKey {
  const [, , , due = ''] = outboxKey('dead', kind, dueAt, id);
  return [DEAD_PREFIX, kind, account, due, id];
}

function noteDead(transaction: StoreTransaction, record: Counted): void {
  transaction.put(deadKey(record), { v: 1, dueAt: record.dueAt, id: record.id });
}

function countAccount(
  transaction: StoreTransaction,
  { kind, account }: Counted,
  list: OutboxList,
  by: number,
): void {
  const before = outboxCountOf(transaction, kind, account);
  const counts = { ...before, [list]: Math.max(0, before[list] + by) };
  const key = outboxCountKey(kind, account);
  if (counts.waiting + counts.dead === 0) transaction.remove(key);
  else transaction.put(key, { v: 1, ...counts });
}

/** Counts a record that is added to a list (1) or removed (-1), before it is. */
export function countOutbox(
  transaction: StoreTransaction,
  record: Counted,
  list: OutboxList,
  by: 1 | -1,
): void {
  const all = outboxCountOf(transaction, record.kind);
  transaction.put(outboxCountKey(record.kind), { v: 1, ...all, [list]: all[list] + by });
  countAccount(transaction, record, list, by);
  if (list !== 'dead') return;
  if (by === 1) noteDead(transaction, record);
  else transaction.remove(deadKey(record));
}

/** Removes the oldest dead record of an account, even one that cannot be read. */
export function removeOldestDead(
  transaction: StoreTransaction,
  kind: OutboxKind,
  account: string,
  most: number,
): void {
  for (const value of transaction.list([DEAD_PREFIX, kind, account], most)) {
    const { dueAt, id } = readDead(value);
    countOutbox(transaction, { kind, account, dueAt, id }, 'dead', -1);
    transaction.remove(outboxKey('dead', kind, dueAt, id));
  }
}

/** How many events and mails wait, and how many have failed for good. */
export function outboxCounts(store: Store): {
  readonly events: OutboxCount;
  readonly mails: OutboxCount;
} {
  return { events: outboxCountOf(store, 'event'), mails: outboxCountOf(store, 'mail') };
}

/** Counts the records of each account in a store of an earlier version, before it is used. */
export async function countOutboxAccounts(store: Store): Promise<void> {
  if (store.get(OUTBOX_COUNTED_KEY) !== undefined) return;
  await store.write(
    (transaction) => {
      // Another server may have counted them meanwhile, and be using the counts.
      if (transaction.get(OUTBOX_COUNTED_KEY) !== undefined) return;
      for (const key of store.keys(['count', OUTBOX_PREFIX])) {
        if (key.length > outboxCountKey('event').length) transaction.remove(key);
      }
      for (const kind of OUTBOX_KINDS) {
        for (const list of OUTBOX_LISTS) {
          for (const record of transaction.list([OUTBOX_PREFIX, list, kind]).flatMap(readable)) {
            countAccount(transaction, record, list, 1);
            if (list === 'dead') noteDead(transaction, record);
          }
        }
      }
      transaction.put(OUTBOX_COUNTED_KEY, { v: 1 });
    },
    { quiet: true },
  );
}
