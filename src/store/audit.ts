/**
 * Who did what to keys, credentials, merchants, nexus, releases and secrets. Entries are added
 * in the transaction of the change they tell of and never changed; no secret is in them. Each
 * account has a list of its own, so that none can push out what is told of another or of the
 * operator.
 *
 * ["audit", list, order, id]  AuditRecord; the list is "operator" or "account:" and its name, the
 *                             order is the time, or behind the last one where a clock is set back
 * ["audit-count", list]       how many there are, order of the last one, time of the first
 */
import { randomUUID } from 'node:crypto';
import type { StoreKey } from './format.js';
import { member, number, optional, orNull, recordReader, text } from './record-reader.js';
import { savedTime } from './service-clock.js';
import { countRecord } from './set-aside.js';
import type { Store, StoreTransaction } from './store.js';

/** Newest entries kept of each list. */
export const AUDIT_ENTRIES_MAX = 10_000;
/** How long an entry is kept. */
export const AUDIT_MS_MAX = 400 * 86_400_000;

const PREFIX = 'audit';
const COUNT_PREFIX = 'audit-count';
const TIME_DIGITS = 15;
/** Entries beyond those that are kept which wait to go together: looking for them costs most. */
const PRUNED_TOGETHER = 64;
/** Entries that go by their number with a new one at most. */
const OVER_MAX = 4 * PRUNED_TOGETHER;
/** Entries that go by their age with a new one at most. */
const PRUNED_MAX = 10;
/** So many of them are looked at before the others. */
const PRUNED_FIRST = 2;

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

/** Who did it. */
export type Actor =
  /** A caller of the API: the beginnings of its key and of the key's id. */
  | { readonly kind: 'key'; readonly prefix: string; readonly id: string }
  /** Whoever ran the command, as the system knows them. */
  | { readonly kind: 'cli'; readonly uid: number; readonly user: string }
  /** The server by itself, as for the first key. */
  | { readonly kind: 'server' };

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

function isActor(value: unknown): value is Actor {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    (value.kind === 'key' || value.kind === 'cli' || value.kind === 'server')
  );
}

const parseEntry = recordReader('audit', 1, {
  /** Milliseconds since 1970. */
  at: number,
  actor: member(isActor),
  account: orNull(text),
  /** One of another version's actions, too. */
  action: text,
  object: text,
});

/** What a key is made of; the order is there where it is not the time. */
const parseAge = recordReader('audit', 1, { at: number, id: text, order: optional(number) });
/** Without `last` or `oldest`, as earlier versions write it, these are to be looked for. */
const parseCount = recordReader('audit count', 1, {
  count: number,
  last: optional(number),
  oldest: optional(number),
});
type AuditCount = Omit<ReturnType<typeof parseCount>, 'v'>;

export type AuditRecord = Omit<ReturnType<typeof parseEntry>, 'v'>;

function parseAudit(value: unknown): AuditRecord {
  const { v: _, ...entry } = parseEntry(value);
  return entry;
}

function countOf(transaction: StoreTransaction, list: string): AuditCount {
  const found = countRecord(transaction, [COUNT_PREFIX, list], () => ({
    v: 1,
    count: transaction.list([PREFIX, list]).length,
  }));
  return found === undefined ? { count: 0 } : parseCount(found);
}

function orderOf({ at, order }: ReturnType<typeof parseAge>): number {
  return order ?? at;
}

/**
 * Whether an entry is too old, by the clock and by the service's own: the machine's may be set
 * ahead by years.
 */
function isExpired(transaction: StoreTransaction, entry: number, at: number): boolean {
  return entry <= at - AUDIT_MS_MAX && entry <= (savedTime(transaction) ?? 0) - AUDIT_MS_MAX;
}

function keyOf(list: string, order: number, id: string): StoreKey {
  return [PREFIX, list, String(order).padStart(TIME_DIGITS, '0'), id];
}

/** The order of the last entry of a list; before all times where there is none. */
function lastOrder(transaction: StoreTransaction, list: string): number {
  const last = transaction.last([PREFIX, list]);
  return last === undefined ? -1 : orderOf(parseAge(last));
}

/**
 * Removes the first entries of a list while there are more than `AUDIT_ENTRIES_MAX` or they are too
 * old, some at a time.
 * @returns how many are left, and the time of the first where it was seen
 */
function prune(
  transaction: StoreTransaction,
  list: string,
  before: number,
  at: number,
): AuditCount {
  if (before > AUDIT_ENTRIES_MAX + PRUNED_TOGETHER) {
    const over = Math.min(before - AUDIT_ENTRIES_MAX, OVER_MAX);
    for (const key of transaction.keys([PREFIX, list], over)) transaction.remove(key);
    return { count: before - over };
  }
  let count = before;
  // One of the others has come of age at most, unless nothing was added for long.
  for (const limit of [PRUNED_FIRST, PRUNED_MAX - PRUNED_FIRST]) {
    for (const value of transaction.list([PREFIX, list], limit)) {
      const old = parseAge(value);
      if (!isExpired(transaction, old.at, at)) return { count, oldest: old.at };
      transaction.remove(keyOf(list, orderOf(old), old.id));
      count -= 1;
    }
  }
  return { count };
}

/** Adds an entry within the transaction of the change; the oldest ones make room. */
export function addAudit(
  transaction: StoreTransaction,
  { actor, account, action, object }: AuditEntry,
  at: number,
): void {
  const list = account === null ? 'operator' : `account:${account}`;
  // Twelve digits of a UUID that are random; Node makes many of them at once.
  const id = randomUUID().slice(-12);
  const { count: before, last, oldest } = countOf(transaction, list);
  // Behind those that are there, whatever the clock says: the first in the list make room.
  const order = Math.max(at, (last ?? lastOrder(transaction, list)) + 1);
  transaction.put(
    keyOf(list, order, id),
    order === at
      ? { v: 1, at, id, actor, account, action, object }
      : { v: 1, at, id, actor, account, action, object, order },
  );
  // The list is looked at only where its first entry may have to go: none does whose time is not
  // up by the later one of the two clocks.
  const left: AuditCount =
    before < AUDIT_ENTRIES_MAX + PRUNED_TOGETHER &&
    oldest !== undefined &&
    oldest > at - AUDIT_MS_MAX
      ? { count: before + 1, oldest }
      : prune(transaction, list, before + 1, at);
  const { count, oldest: first } = left;
  transaction.put(
    [COUNT_PREFIX, list],
    first === undefined
      ? { v: 1, count, last: order }
      : { v: 1, count, oldest: first, last: order },
  );
}

/** The entries of all lists from a time on, the oldest first; none older than they are kept. */
export function listAudit(store: Store, since: number, now: number): readonly AuditRecord[] {
  const from = Math.max(since, now - AUDIT_MS_MAX);
  const lists = new Map<string | null, AuditRecord[]>();
  for (const entry of store.list([PREFIX]).map(parseAudit)) {
    const list = lists.get(entry.account);
    if (list === undefined) lists.set(entry.account, [entry]);
    else list.push(entry);
  }
  // Those beyond the number go some at a time.
  return [...lists.values()]
    .flatMap((list) => list.slice(-AUDIT_ENTRIES_MAX))
    .filter(({ at }) => at >= from)
    .sort((left, right) => left.at - right.at);
}
