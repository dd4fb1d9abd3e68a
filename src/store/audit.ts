/**
 * The audit log: who did what to keys, credentials, merchants, nexus, releases and secrets. An
 * entry is added in the transaction of its change and never altered; it contains no secret. Each
 * account has a list of its own, so that its entries push out no entries of others or of the
 * operator. audit-format.ts describes the records.
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
  NEW_PREFIX,
  newKey,
  orderOf,
  parseAge,
  parseAudit,
  parseBlock,
  putAuditCount,
  SINGLES,
} from './audit-format.js';
import { AUDIT_ENTRIES_MAX, AUDIT_MS_MAX, makeRoom } from './audit-room.js';
import type { StoreKey } from './format.js';
import { orSetAside } from './set-aside.js';
import type { Store, StoreTransaction } from './store.js';

export type { Actor, AuditRecord } from './audit-format.js';
export { AUDIT_ENTRIES_MAX, AUDIT_MS_MAX } from './audit-room.js';

/** Most entries of a block, which then fits a page of the disk. */
const BLOCK_ENTRIES_MAX = 64;
/**
 * A stored block with fewer entries takes those of the next commit too. Otherwise, where each
 * commit has a single entry, blocks would mean as many records to write and remove as entries.
 */
const STORED_ENTRIES_MAX = 16;
/** A block covers a short time only, so that all its entries expire together. */
const BLOCK_MS_MAX = 60_000;

/** All actions in the log: what is acted on and, after the dot, what is done. */
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

/** An entry, except for its time. */
interface AuditEntry {
  readonly actor: Actor;
  /** The account that the list belongs to; null for the operator's list. */
  readonly account: string | null;
  readonly action: AuditAction;
  /** Id of the object that was acted on. */
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

/**
 * A copy of a block with one more entry. The block itself is unchanged, because the action may be
 * undone.
 */
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

/**
 * The block of a list that takes new entries, and how many it may have; null where there is none.
 */
function newBlock(
  transaction: StoreTransaction,
  list: string,
): { readonly block: AuditBlock; readonly most: number } | null {
  const key = newKey(list);
  // A block of this commit was put by this file only, so it need not be read and checked again.
  const own = transaction.unstored(key) as AuditBlock | null;
  if (own !== null) return { block: own, most: BLOCK_ENTRIES_MAX };
  const known = transaction.known(key) as AuditBlock | null;
  const block = known ?? orSetAside(transaction, key, () => storedBlock(transaction, key));
  return block === null ? null : { block, most: STORED_ENTRIES_MAX };
}

/** @throws DamagedRecord */
function storedBlock(transaction: StoreTransaction, key: StoreKey): AuditBlock | null {
  const found = transaction.get(key);
  return found === undefined ? null : parseBlock(found);
}

/** The count of single entries in a list, with the order of the last one. */
function singlesIn(transaction: StoreTransaction, list: string): AuditCount {
  const found = auditCount(transaction, SINGLES, list);
  if (found.count === 0 || found.last !== undefined) return found;
  return { ...found, last: lastOrder(transaction, SINGLES, list) };
}

/**
 * Stores a full block behind the earlier ones, and removes the oldest entries of the list.
 * @returns the count of the blocks after that
 */
function putAway(
  transaction: StoreTransaction,
  list: string,
  block: AuditBlock,
  now: number,
): AuditCount {
  const counted = auditCount(transaction, BLOCKS, list);
  const last = counted.last ?? lastOrder(transaction, BLOCKS, list);
  let order = orderOf(block);
  // A server of an earlier version does not know this block, and may have stored one with the same
  // order.
  if (order <= last) while (transaction.get(blockKey(list, order)) !== undefined) order += 1;
  const singles = singlesIn(transaction, list);
  const room = makeRoom(transaction, list, { blocks: counted, singles }, now);
  transaction.put(blockKey(list, order), order === block.at ? block : { ...block, order });
  const count = {
    count: room.count + block.count,
    last: Math.max(last, order),
    // If no others are left, this block is the oldest.
    oldest: room.count === 0 ? block.at : room.oldest,
  };
  putAuditCount(transaction, BLOCKS, list, count);
  return count;
}

/** Adds an entry within the transaction of its change, and makes room for it. */
export function addAudit(transaction: StoreTransaction, entry: AuditEntry, at: number): void {
  const { account } = entry;
  const list = account === null ? 'operator' : `account:${account}`;
  const found = newBlock(transaction, list);
  if (found !== null) {
    const { block, most } = found;
    if (block.count < most && Math.abs(at - block.at) < BLOCK_MS_MAX) {
      transaction.put(newKey(list), blockWith(block, entry, at));
      return;
    }
  }
  const blocks =
    found === null
      ? auditCount(transaction, BLOCKS, list)
      : putAway(transaction, list, found.block, at);
  const last = blocks.last ?? lastOrder(transaction, BLOCKS, list);
  // The order must be above all others, whatever the clock says, since the lowest are removed
  // first.
  const order = Math.max(at, last + 1, (singlesIn(transaction, list).last ?? -1) + 1);
  const empty = { v: 1, at, account, acts: [], count: 0, told: '' } as const;
  const begun = order === at ? empty : { ...empty, order };
  transaction.put(newKey(list), blockWith(begun, entry, at));
}

/** An entry, with what determines its order among those of all lists. */
interface Told {
  readonly order: number;
  readonly entries: readonly AuditRecord[];
}

/** The entries of all lists from a time on, oldest first, without expired ones. */
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
  for (const prefix of [BLOCKS.prefix, NEW_PREFIX]) {
    for (const record of store.list([prefix])) add(record, entriesOf(parseBlock(record)));
  }
  // Entries above the limit are removed some at a time, so they are left out here.
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
