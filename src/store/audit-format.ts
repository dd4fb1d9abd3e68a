/**
 * How the lists of who did what are kept. The entries that a commit adds to a list, or a few that
 * have one each, are one record, a block: one each would be a put, and later a removal, for every
 * write. The last block of a list stands apart while it takes more: beside the counts that every
 * commit changes, so that a commit writes no page more for it.
 *
 * ["new-audit", list]           AuditBlock, the last one; the list is "operator" or "account:" and
 *                               its name
 * ["audit-block", list, order]  AuditBlock, those before; the order is the time, or behind the last
 *                               one where a clock is set back
 * ["audit-block-count", list]   entries in all of these, order of the last block, time of the first
 *
 * Versions before had no block apart and pass over it. Those before them kept each entry by itself;
 * theirs are told and make room as the others do; they pass over blocks, and count and remove their
 * own entries alone:
 *
 * ["audit", list, order, id]    AuditRecord
 * ["audit-count", list]         how many of them, order of the last one, time of the first
 */
import { isObject } from '../base/json-object.js';
import { timeText, type StoreKey } from './format.js';
import { member, number, optional, orNull, recordReader, text } from './record-reader.js';
import { countRecord } from './set-aside.js';
import type { StoreTransaction } from './store.js';

/** Who did it. */
export type Actor =
  /** A caller of the API: the beginnings of its key and of the key's id. */
  | { readonly kind: 'key'; readonly prefix: string; readonly id: string }
  /** The user of a command, as the system knows them. */
  | { readonly kind: 'cli'; readonly uid: number; readonly user: string }
  /** The server itself, as when it makes the first key. */
  | { readonly kind: 'server' };

export const NEW_PREFIX = 'new-audit';
const BLOCK_PREFIX = 'audit-block';
const BLOCK_COUNT_PREFIX = 'audit-block-count';
const SINGLE_PREFIX = 'audit';
const SINGLE_COUNT_PREFIX = 'audit-count';
function isActor(value: unknown): value is Actor {
  if (!isObject(value)) return false;
  const { kind } = value;
  return kind === 'key' || kind === 'cli' || kind === 'server';
}

const parseEntry = recordReader('audit', 1, {
  /** Milliseconds since 1970. */
  at: number,
  actor: member(isActor),
  account: orNull(text),
  /** May also be an action of another version. */
  action: text,
  object: text,
});

export type AuditRecord = Omit<ReturnType<typeof parseEntry>, 'v'>;

/** Reads an entry that is a record of its own. */
export function parseAudit(value: unknown): AuditRecord {
  const { v: _, ...entry } = parseEntry(value);
  return entry;
}

/** The time of an entry or block, and its order where that differs from the time. */
export const parseAge = recordReader('audit', 1, { at: number, order: optional(number) });

/** The order of an entry or block, which follows the list in its key. */
export function orderOf({ at, order }: ReturnType<typeof parseAge>): number {
  return order ?? at;
}

/** An actor and an action, stored once in a block however many entries have them. */
interface Act {
  readonly actor: Actor;
  readonly action: string;
}

function isAct(value: unknown): value is Act {
  return isObject(value) && isActor(value['actor']) && typeof value['action'] === 'string';
}

function isActs(value: unknown): value is readonly Act[] {
  return Array.isArray(value) && value.every(isAct);
}

/** A block: the entries of one commit, or of a few. */
export const parseBlock = recordReader('audit block', 1, {
  /** Time of the first entry, in milliseconds since 1970. */
  at: number,
  account: orNull(text),
  acts: member(isActs),
  /** Number of entries. */
  count: number,
  /**
   * Lines that `blockLine` makes. They are one text because adding to it, and packing it, is as
   * fast as for a single entry.
   */
  told: text,
  order: optional(number),
});
export type AuditBlock = ReturnType<typeof parseBlock>;

/**
 * The line of an entry: milliseconds since the block's time (negative where the clock was set
 * back), index of the act, id of the object.
 */
export function blockLine(after: number, act: number, object: string): string {
  return `${after} ${act} ${object}\n`;
}

/** The entries of a block, in the form of those that are records of their own. */
export function entriesOf({ at, account, acts, told }: AuditBlock): readonly AuditRecord[] {
  return told
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      const [, after = '', place = '', object = ''] = /^(-?\d+) (\d+) (.*)$/.exec(line) ?? [];
      const act = acts[Number(place)];
      if (act === undefined) return [];
      const { actor, action } = act;
      return [{ at: at + Number(after), actor, account, action, object }];
    });
}

/** Some versions write no `last` and `oldest`; these then have to be looked up. */
const parseCount = recordReader('audit count', 1, {
  count: number,
  last: optional(number),
  oldest: optional(number),
});
export interface AuditCount {
  readonly count: number;
  readonly last?: number | undefined;
  readonly oldest?: number | undefined;
}

export type LayoutName = 'blocks' | 'singles';

/** One of the two ways in which the entries of a list are stored. */
export interface AuditLayout {
  readonly name: LayoutName;
  readonly prefix: string;
  readonly countPrefix: string;
  /** How many entries a record contains. */
  readonly size: (record: unknown) => number;
}

export const BLOCKS: AuditLayout = {
  name: 'blocks',
  prefix: BLOCK_PREFIX,
  countPrefix: BLOCK_COUNT_PREFIX,
  size: (record) => parseBlock(record).count,
};

/** Entries as earlier versions store them, one a record. */
export const SINGLES: AuditLayout = {
  name: 'singles',
  prefix: SINGLE_PREFIX,
  countPrefix: SINGLE_COUNT_PREFIX,
  size: () => 1,
};

let lastNewKey: StoreKey = [];

/**
 * Key of the block that takes new entries. Returns the same array each time, because callers
 * compare it by identity.
 */
export function newKey(list: string): StoreKey {
  if (lastNewKey[1] !== list) lastNewKey = [NEW_PREFIX, list];
  return lastNewKey;
}

/** Key of a block that takes no more entries. */
export function blockKey(list: string, order: number): StoreKey {
  return [BLOCK_PREFIX, list, timeText(order)];
}

let lastCountKey: StoreKey = [];

function countKey({ countPrefix }: AuditLayout, list: string): StoreKey {
  if (lastCountKey[1] !== list || lastCountKey[0] !== countPrefix)
    lastCountKey = [countPrefix, list];
  return lastCountKey;
}

/** Counts the entries of a list in a layout by reading them. */
export function countAnew(
  reader: Pick<StoreTransaction, 'list'>,
  { prefix, size }: AuditLayout,
  list: string,
): number {
  return reader.list([prefix, list]).reduce((sum: number, record) => sum + size(record), 0);
}

/** How many entries of a list there are in a layout. */
export function auditCount(
  transaction: StoreTransaction,
  layout: AuditLayout,
  list: string,
): AuditCount {
  const key = countKey(layout, list);
  const found = countRecord(transaction, key, () => ({
    v: 1,
    count: countAnew(transaction, layout, list),
  }));
  return found === undefined ? { count: 0 } : parseCount(found);
}

/** Stores the number of entries; 0 is stored by removing the record. */
export function putAuditCount(
  transaction: StoreTransaction,
  layout: AuditLayout,
  list: string,
  { count, last, oldest }: AuditCount,
): void {
  const key = countKey(layout, list);
  // The key array is made in only one place, because this runs with every entry.
  if (count === 0) transaction.remove(key);
  else if (last === undefined) transaction.put(key, { v: 1, count });
  else if (oldest === undefined) transaction.put(key, { v: 1, count, last });
  else transaction.put(key, { v: 1, count, oldest, last });
}

/** The order of the last entry or block of a list; lower than any time where there is none. */
export function lastOrder(
  transaction: StoreTransaction,
  { prefix }: AuditLayout,
  list: string,
): number {
  const last = transaction.last([prefix, list]);
  return last === undefined ? -1 : orderOf(parseAge(last));
}
