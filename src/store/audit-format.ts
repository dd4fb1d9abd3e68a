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
  /** Whoever ran the command, as the system knows them. */
  | { readonly kind: 'cli'; readonly uid: number; readonly user: string }
  /** The server by itself, as for the first key. */
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
  /** One of another version's actions, too. */
  action: text,
  object: text,
});

export type AuditRecord = Omit<ReturnType<typeof parseEntry>, 'v'>;

/** An entry that is kept by itself. */
export function parseAudit(value: unknown): AuditRecord {
  const { v: _, ...entry } = parseEntry(value);
  return entry;
}

/** When an entry or block was made, and its order where that is not the time. */
export const parseAge = recordReader('audit', 1, { at: number, order: optional(number) });

/** What stands behind the list in the key. */
export function orderOf({ at, order }: ReturnType<typeof parseAge>): number {
  return order ?? at;
}

/** Who did what: once in a block, however often. */
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

/** The entries of a commit, or of a few. */
export const parseBlock = recordReader('audit block', 1, {
  /** Milliseconds since 1970, of the first. */
  at: number,
  account: orNull(text),
  acts: member(isActs),
  /** How many there are. */
  count: number,
  /** Lines as `blockLine` makes them: one text is added to and packed as fast as one entry. */
  told: text,
  order: optional(number),
});
export type AuditBlock = ReturnType<typeof parseBlock>;

/**
 * The line of an entry: milliseconds behind the block's time, less than none where the clock went
 * back, place of the act, id of what it was done to.
 */
export function blockLine(after: number, act: number, object: string): string {
  return `${after} ${act} ${object}\n`;
}

/** Each entry of a block as if it were kept by itself. */
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

/** Without `last` or `oldest`, as some versions write it, these are to be looked for. */
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

/** One of the two ways of keeping a list. */
export interface AuditLayout {
  readonly name: LayoutName;
  readonly prefix: string;
  readonly countPrefix: string;
  /** How many entries a record is. */
  readonly size: (record: unknown) => number;
}

export const BLOCKS: AuditLayout = {
  name: 'blocks',
  prefix: BLOCK_PREFIX,
  countPrefix: BLOCK_COUNT_PREFIX,
  size: (record) => parseBlock(record).count,
};

/** Entries of versions before. */
export const SINGLES: AuditLayout = {
  name: 'singles',
  prefix: SINGLE_PREFIX,
  countPrefix: SINGLE_COUNT_PREFIX,
  size: () => 1,
};

let lastNewKey: StoreKey = [];

/** Key of the block that takes entries; the same array for the same one, which is told by that. */
export function newKey(list: string): StoreKey {
  if (lastNewKey[1] !== list) lastNewKey = [NEW_PREFIX, list];
  return lastNewKey;
}

/** Key of a block that takes no more. */
export function blockKey(list: string, order: number): StoreKey {
  return [BLOCK_PREFIX, list, timeText(order)];
}

let lastCountKey: StoreKey = [];

function countKey({ countPrefix }: AuditLayout, list: string): StoreKey {
  if (lastCountKey[1] !== list || lastCountKey[0] !== countPrefix)
    lastCountKey = [countPrefix, list];
  return lastCountKey;
}

/** Entries of a list in a layout, added up. */
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

/** States how many there are; of no entries there is no count. */
export function putAuditCount(
  transaction: StoreTransaction,
  layout: AuditLayout,
  list: string,
  { count, last, oldest }: AuditCount,
): void {
  const key = countKey(layout, list);
  // Each made in one place: it is put with every entry.
  if (count === 0) transaction.remove(key);
  else if (last === undefined) transaction.put(key, { v: 1, count });
  else if (oldest === undefined) transaction.put(key, { v: 1, count, last });
  else transaction.put(key, { v: 1, count, oldest, last });
}

/** The order of the last entry or block of a list; before all times where there is none. */
export function lastOrder(
  transaction: StoreTransaction,
  { prefix }: AuditLayout,
  list: string,
): number {
  const last = transaction.last([prefix, list]);
  return last === undefined ? -1 : orderOf(parseAge(last));
}
