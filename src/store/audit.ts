/**
 * Who did what to keys, credentials, merchants, nexus, releases and secrets. Entries are added
 * in the transaction of the change they tell of and never changed; no secret is in them. Each
 * account has a list of its own, so that none can push out what is told of another or of the
 * operator. How they are kept is in audit-format.ts.
 */
import {
  type Actor,
  type AuditBlock,
  auditCount,
  type AuditCount,
  type AuditRecord,
  blockKey,
  blockLine,
  BLOCKS,
  entriesOf,
  lastOrder,
  orderOf,
  parseAge,
  parseAudit,
  parseBlock,
  putAuditCount,
  SINGLES,
} from './audit-format.js';
import { AUDIT_ENTRIES_MAX, AUDIT_MS_MAX, makeRoom } from './audit-room.js';
import { DamagedRecord } from './fault.js';
import type { StoreKey } from './format.js';
import type { Store, StoreTransaction } from './store.js';

export type { Actor, AuditRecord } from './audit-format.js';
export { AUDIT_ENTRIES_MAX, AUDIT_MS_MAX } from './audit-room.js';

/** Entries of a block at most: a page of the disk has room for them. */
const BLOCK_ENTRIES_MAX = 64;
/**
 * With fewer, a block takes the entries of the next commit too: where each has one alone, a block
 * for each would be as much to put, and later to remove, as an entry for each.
 */
const STORED_ENTRIES_MAX = 16;
/** A block is of about one time, as a commit is: its entries come of age together. */
const BLOCK_MS_MAX = 60_000;

/** Everything that is written down: what it is done to and, behind the dot, what is done. */
export const AUDIT_ACTIONS = [
  'key.create',
  'key.update',
  'key.enable',
  'key.disable',
  'merchant.create',
  'merchant.update',
  'merchant.delete',
  'credentials.set',
  'credentials.get',
  'credentials.delete',
  'nexus.create',
  'nexus.update',
  'nexus.delete',
  'release.activate',
  'release.rollback',
  'secrets.rotate',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What was done. */
export interface AuditEntry {
  readonly actor: Actor;
  /** Whose list it belongs to; null for what is the operator's. */
  readonly account: string | null;
  readonly action: AuditAction;
  /** Id of what it was done to. */
  readonly object: string;
}

/** The actor of a request with a key. */
export function keyActor({ prefix, id }: { readonly prefix: string; readonly id: string }): Actor {
  return { kind: 'key', prefix, id: id.slice(0, 12) };
}

function isSameActor(one: Actor, other: Actor): boolean {
  switch (one.kind) {
    case 'key':
      return other.kind === 'key' && one.id === other.id && one.prefix === other.prefix;
    case 'cli':
      return other.kind === 'cli' && one.uid === other.uid && one.user === other.user;
    case 'server':
      return other.kind === 'server';
  }
}

/** A block with an entry more; the block itself stays, for an action that may be undone. */
function blockWith(
  block: AuditBlock,
  { actor, action, object }: AuditEntry,
  at: number,
): AuditBlock {
  const { v, at: from, account, order } = block;
  let { acts } = block;
  let act = acts.findIndex((each) => each.action === action && isSameActor(each.actor, actor));
  if (act < 0) {
    act = acts.length;
    acts = [...acts, { actor, action }];
  }
  const count = block.count + 1;
  const told = block.told + blockLine(at - from, act, object);
  return order === undefined
    ? { v, at: from, account, acts, count, told }
    : { v, at: from, account, acts, count, told, order };
}

/** The last block of a list where it takes another entry. */
function openBlock(
  transaction: StoreTransaction,
  list: string,
  { last }: AuditCount,
  at: number,
): AuditBlock | null {
  if (last === undefined) return null;
  const key = blockKey(list, last);
  // That of the commit under way was put here alone, and so is not read again.
  const own = transaction.unstored(key) as AuditBlock | null;
  const block = own ?? storedBlock(transaction, key);
  if (block === null) return null;
  if (block.count >= (own === null ? STORED_ENTRIES_MAX : BLOCK_ENTRIES_MAX)) return null;
  return Math.abs(at - block.at) < BLOCK_MS_MAX ? block : null;
}

/** A block of a commit before; null where it is damaged, which whoever makes room finds. */
function storedBlock(transaction: StoreTransaction, key: StoreKey): AuditBlock | null {
  try {
    const found = transaction.get(key);
    return found === undefined ? null : parseBlock(found);
  } catch (error) {
    if (error instanceof DamagedRecord) return null;
    throw error;
  }
}

/** Begins a block with an entry; the oldest ones of the list make room. */
function beginBlock(
  transaction: StoreTransaction,
  list: string,
  entry: AuditEntry,
  at: number,
  counted: AuditCount,
): void {
  const before = auditCount(transaction, SINGLES, list);
  const singles =
    before.count === 0 || before.last !== undefined
      ? before
      : { ...before, last: lastOrder(transaction, SINGLES, list) };
  const last = counted.last ?? lastOrder(transaction, BLOCKS, list);
  // Behind those that are there, whatever the clock says: the first in the list make room.
  const order = Math.max(at, last + 1, (singles.last ?? -1) + 1);
  const { account } = entry;
  const empty = { v: 1, at, account, acts: [], count: 0, told: '' } as const;
  const room = makeRoom(transaction, list, { blocks: counted, singles }, at);
  transaction.put(
    blockKey(list, order),
    blockWith(order === at ? empty : { ...empty, order }, entry, at),
  );
  putAuditCount(transaction, BLOCKS, list, {
    count: room.count + 1,
    last: order,
    // Of none that are left it is the first.
    oldest: room.count === 0 ? at : room.oldest,
  });
}

/** Adds an entry within the transaction of the change; the oldest ones make room. */
export function addAudit(transaction: StoreTransaction, entry: AuditEntry, at: number): void {
  const { account } = entry;
  const list = account === null ? 'operator' : `account:${account}`;
  const counted = auditCount(transaction, BLOCKS, list);
  const block = openBlock(transaction, list, counted, at);
  if (block === null) {
    beginBlock(transaction, list, entry, at, counted);
    return;
  }
  transaction.put(blockKey(list, orderOf(block)), blockWith(block, entry, at));
  const { count, last, oldest } = counted;
  putAuditCount(transaction, BLOCKS, list, { count: count + 1, last, oldest });
}

/** Entries of a list with what orders them. */
interface Told {
  readonly order: number;
  readonly entries: readonly AuditRecord[];
}

/** The entries of all lists from a time on, the oldest first; none older than they are kept. */
export function listAudit(store: Store, since: number, now: number): readonly AuditRecord[] {
  const from = Math.max(since, now - AUDIT_MS_MAX);
  const lists = new Map<string, Told[]>();
  const add = (record: unknown, entries: readonly AuditRecord[]): void => {
    const told = { order: orderOf(parseAge(record)), entries };
    const account = entries[0]?.account ?? null;
    const name = account === null ? 'operator' : `account:${account}`;
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [told]);
    else list.push(told);
  };
  for (const record of store.list([SINGLES.prefix])) add(record, [parseAudit(record)]);
  for (const record of store.list([BLOCKS.prefix])) add(record, entriesOf(parseBlock(record)));
  // Those beyond the number go some at a time.
  return [...lists]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([, list]) =>
      list
        .sort((left, right) => left.order - right.order)
        .flatMap(({ entries }) => entries)
        .slice(-AUDIT_ENTRIES_MAX),
    )
    .filter(({ at }) => at >= from)
    .sort((left, right) => left.at - right.at);
}
