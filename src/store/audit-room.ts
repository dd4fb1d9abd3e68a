/**
 * Decides which entries of the audit log are removed when new ones are added: the oldest, in
 * whichever layout they are stored.
 */
import {
  type AuditCount,
  type AuditLayout,
  BLOCKS,
  countAnew,
  entriesOf,
  type LayoutName,
  parseAge,
  parseBlock,
  putAuditCount,
  SINGLES,
} from './audit-format.js';
import type { StoreKey } from './format.js';
import { savedTime } from './service-clock.js';
import { orSetAside } from './set-aside.js';
import type { StoreTransaction } from './store.js';

/** How many of the newest entries of each list are kept. */
export const AUDIT_ENTRIES_MAX = 10_000;
/** How long an entry is kept at most. */
export const AUDIT_MS_MAX = 400 * 86_400_000;

/**
 * Entries above the limit that may gather before they are removed together, since finding them is
 * what costs most.
 */
const WAITING_MAX = 256;
/** Most records of each layout that are removed when a block is added. */
const REMOVED_MAX: Readonly<Record<LayoutName, number>> = { singles: 2 * WAITING_MAX, blocks: 16 };
/** Most records of each layout that are removed only because of their age. */
const AGED_MAX = 10;

/** The counts of a list in both layouts. */
type Counts = Readonly<Record<LayoutName, AuditCount>>;

function isTooMany({ blocks, singles }: Counts): boolean {
  return blocks.count + singles.count > AUDIT_ENTRIES_MAX + WAITING_MAX;
}

/** A record, of an entry or a block, that may have to be removed. */
interface Place {
  readonly layout: AuditLayout;
  readonly key: StoreKey;
}

/** What the record itself says. */
interface Seen {
  /** Times of its first entry (`first`) and of its last. */
  readonly first: number;
  readonly last: () => number;
  /** Number of its entries. */
  readonly size: number;
}

/** Stands for a single entry that need not be read. */
const ONE: Seen = { first: 0, last: () => 0, size: 1 };

/** Whether the oldest entry of a layout may have expired, by the machine's clock. */
function mayExpire({ count, oldest }: AuditCount, at: number): boolean {
  return count > 0 && (oldest === undefined || oldest <= at - AUDIT_MS_MAX);
}

/**
 * Whether an entry has expired by the machine's clock and by the service's own, because the
 * machine's clock may be set years ahead.
 */
function isExpired(transaction: StoreTransaction, entry: number, at: number): boolean {
  return entry <= at - AUDIT_MS_MAX && entry <= (savedTime(transaction) ?? 0) - AUDIT_MS_MAX;
}

/** The first records of a list in both layouts. */
interface Oldest {
  /** In order, ending where an unread record might be older than the next. */
  readonly places: readonly Place[];
  /** By layout, whether these are all the records there are. */
  readonly isAll: Readonly<Record<LayoutName, boolean>>;
}

function oldestOf(
  transaction: StoreTransaction,
  list: string,
  counts: Counts,
  isOver: boolean,
): Oldest {
  const isAll = { blocks: true, singles: true };
  const orderIn = ({ key }: Place): string => key[2] ?? '';
  let end: string | null = null;
  const all = [SINGLES, BLOCKS].flatMap((layout): readonly Place[] => {
    const { name, prefix } = layout;
    if (counts[name].count === 0) return [];
    const most = isOver ? REMOVED_MAX[name] : AGED_MAX;
    const found = transaction.keys([prefix, list], most).map((key) => ({ layout, key }));
    isAll[name] = found.length < most;
    const last = found.at(-1);
    if (!isAll[name] && last !== undefined && (end === null || orderIn(last) < end)) {
      end = orderIn(last);
    }
    return found;
  });
  const isKnown = (place: Place): boolean => end === null || orderIn(place) <= end;
  for (const place of all) if (!isKnown(place)) isAll[place.layout.name] = false;
  const places = all
    .filter(isKnown)
    .sort((left, right) => (orderIn(left) < orderIn(right) ? -1 : 1));
  return { places, isAll };
}

/** Reads a record; null where it is damaged, and then it is put aside. */
function lookAt(transaction: StoreTransaction, { layout, key }: Place): Seen | null {
  return orSetAside(transaction, key, () => {
    const record = transaction.get(key);
    if (layout === SINGLES) {
      const { at } = parseAge(record);
      return { first: at, last: () => at, size: 1 };
    }
    const block = parseBlock(record);
    const last = (): number =>
      entriesOf(block).reduce((latest, { at }) => Math.max(latest, at), block.at);
    return { first: block.at, last, size: block.count };
  });
}

/** Removes records from the front while they have to go. Returns how many entries are left. */
function clear(
  transaction: StoreTransaction,
  list: string,
  places: readonly Place[],
  counts: Counts,
  at: number,
): { readonly left: Record<LayoutName, number>; readonly staying: readonly Place[] } {
  const left = { blocks: counts.blocks.count, singles: counts.singles.count };
  const isOver = isTooMany(counts);
  let gone = 0;
  for (const place of places) {
    const { layout, key } = place;
    const spare = isOver ? left.blocks + left.singles - AUDIT_ENTRIES_MAX : 0;
    // A record of the old layout is one entry, so it need not be read.
    const seen = layout === SINGLES && spare > 0 ? ONE : lookAt(transaction, place);
    if (seen === null) left[layout.name] = countAnew(transaction, layout, list);
    else {
      if (seen.size > spare && !isExpired(transaction, seen.first, at)) break;
      if (seen.size > spare && !isExpired(transaction, seen.last(), at)) break;
      transaction.remove(key);
      left[layout.name] -= seen.size;
    }
    gone += 1;
  }
  return { left, staying: places.slice(gone) };
}

/**
 * Removes the first entries of a list while there are more than `AUDIT_ENTRIES_MAX`, or they have
 * expired, many at a time. The count of the old layout is corrected here.
 * @returns how many entries are left in blocks, and the time of the first one where it was read
 */
export function makeRoom(
  transaction: StoreTransaction,
  list: string,
  counts: Counts,
  at: number,
): AuditCount {
  const { blocks, singles } = counts;
  const isOver = isTooMany(counts);
  if (!isOver && !mayExpire(blocks, at) && !mayExpire(singles, at)) return blocks;
  const { places, isAll } = oldestOf(transaction, list, counts, isOver);
  const { left, staying } = clear(transaction, list, places, counts, at);
  const leftOf = (layout: AuditLayout): AuditCount => {
    const { name } = layout;
    const { last, oldest } = counts[name];
    const count = Math.max(left[name], 0);
    const first = staying.find((place) => place.layout === layout);
    if (first !== undefined) return { count, last, oldest: lookAt(transaction, first)?.first };
    // If all records were seen and removed, nothing is left, even if the count says otherwise.
    if (isAll[name]) return { count: 0, last };
    const isTouched = places.some((place) => place.layout === layout);
    return isTouched ? { count, last } : { count, last, oldest };
  };
  if (singles.count > 0) putAuditCount(transaction, SINGLES, list, leftOf(SINGLES));
  return leftOf(BLOCKS);
}
