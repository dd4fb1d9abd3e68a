/**
 * Combines lists that were fetched for a state with those of its recipe. The newer list counts from
 * its first day on, for the levels that it completes: what it lacks is no longer levied, unless
 * some of its names are unmatched, since each of these may be what is missing. Rates that older
 * lists announce for days after the newer list's last one are kept.
 */
import type { SourceRecord } from '../../dataset/records.js';
import { DATE_OPEN, type DateInt, dayBefore } from '../../tax/date.js';
import { RATE_ZERO } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { Source } from '../publisher/catalogue.js';
import { endByRhythm } from '../publisher/held-files.js';
import type { ListMark } from './facts.js';
import { dayAfter, formatDate, isOutside, type ListReport } from './list.js';

export interface HeldList {
  /** Key in the catalogue, which is also the name of its source. */
  readonly name: string;
  readonly publisher: string;
  readonly licence: string;
  readonly asOf: DateInt;
  readonly until: DateInt;
  readonly rhythm: Source['rhythm'];
  /** Two letters. */
  readonly state: string;
  readonly levels: readonly string[];
  /** Set if it only concerns codes of boundary files. */
  readonly stated?: boolean;
}

/** The sources, with one more for each list that was fetched. */
export function withSources(
  sources: readonly SourceRecord[],
  held: readonly HeldList[],
): readonly SourceRecord[] {
  return [
    ...sources,
    ...held.map(
      ({ name, publisher, licence, asOf }, at): SourceRecord => ({
        id: sources.length + at,
        name,
        publisher,
        licence,
        asOf,
        estimated: false,
      }),
    ),
  ];
}

type Jurisdiction = Pick<RateRow, 'level' | 'place' | 'county' | 'code'>;

function keyOf({ level, place, county, code }: Jurisdiction): string {
  return level === 'county' ? `${level} ${county}/${place}` : `${level} ${place || county || code}`;
}

/** A list with the number of its source, and its rows. */
interface Read extends HeldList {
  readonly id: number;
  readonly rows: readonly RateRow[];
  /** The first day of its rows, and of each jurisdiction in it. */
  readonly first: DateInt;
  readonly firsts: ReadonlyMap<string, DateInt>;
  /** Its unmatched names, by the levels that they may be of. */
  readonly strange: Readonly<Partial<Record<RateRow['level'], readonly string[]>>>;
}

/** The part of a list's report that names what was not matched. */
type Strangers = Pick<ListReport, 'unmatched' | 'unplaced'>;

function readOf(
  list: HeldList,
  id: number,
  all: readonly RateRow[],
  strangers: Strangers | undefined,
): Read {
  const rows = all.filter(({ source }) => source === id);
  const firsts = new Map<string, DateInt>();
  for (const row of rows) {
    const known = firsts.get(keyOf(row));
    if (known === undefined || row.from < known) firsts.set(keyOf(row), row.from);
  }
  const least = rows.reduce((day, { from }) => (from < day ? from : day), DATE_OPEN);
  const { unmatched = [], unplaced = [] } = strangers ?? {};
  return {
    ...list,
    id,
    rows,
    firsts,
    strange: { county: unmatched, city: [...unmatched, ...unplaced.map(({ name }) => name)] },
    first: least !== DATE_OPEN && least > list.asOf ? least : list.asOf,
  };
}

function completes({ state, levels, id }: Read, row: RateRow): boolean {
  return (
    row.state === state && row.level !== 'state' && row.source !== id && levels.includes(row.level)
  );
}

/** Most unmatched names that are listed one by one. */
const TOLD_MAX = 5;

/**
 * What replaces a row that a newer list lacks, where one of the list's unmatched names may be that
 * row's.
 */
function lackedRows(row: RateRow, list: Read, from: DateInt): readonly RateRow[] {
  const strange = list.strange[row.level] ?? [];
  const isLevied = row.basis !== 'unknown' && (row.sales > 0 || row.use > 0);
  if (strange.length === 0 || list.firsts.has(keyOf(row)) || !isLevied) return [];
  const more = strange.length > TOLD_MAX ? ` and ${strange.length - TOLD_MAX} more` : '';
  const note =
    `${row.name}: the list ${list.name} does not name it, and names ` +
    `${strange.slice(0, TOLD_MAX).join(', ')}${more}, which is no place held; an entry for the ` +
    'spelling of that name would fill it.';
  return [
    {
      ...row,
      basis: 'unknown',
      sales: RATE_ZERO,
      use: RATE_ZERO,
      from,
      to: DATE_OPEN,
      note,
      source: list.id,
      asOf: list.asOf,
    },
  ];
}

/** The parts of an older row that remain beside a newer list. */
function beside(row: RateRow, list: Read): readonly RateRow[] {
  if (!completes(list, row) || row.from > list.until) return [row];
  const named = list.firsts.get(keyOf(row)) ?? list.first;
  const from = named > list.first ? named : list.first;
  if (row.to < from) return [row];
  const left = row.from >= from ? [] : [{ ...row, to: dayBefore(from) }];
  return [...left, ...lackedRows(row, list, row.from > from ? row.from : from)];
}

/**
 * @throws RangeError where a list has everything that is levied in its locations, and another list
 * has a county or city that would then be levied twice.
 */
function checkLocations(rows: readonly RateRow[]): void {
  for (const { state, from } of rows.filter(isOutside)) {
    const other = rows.find(
      (row) =>
        row.state === state &&
        row.to > from &&
        (row.level === 'county' || row.level === 'city') &&
        row.basis !== 'unknown' &&
        (row.sales > 0 || row.use > 0),
    );
    if (other === undefined) continue;
    throw new RangeError(
      `${state}: ${other.name} has a rate after ${formatDate(from)}, beside ` +
        'locations that have all of it: leave out the lists of counties and cities, or end them',
    );
  }
}

/** The result of combining lists. */
interface Settled {
  readonly rows: readonly RateRow[];
  readonly marks: readonly ListMark[];
  /** A sentence for each fetched list that is older than the recipe's. */
  readonly lines: readonly string[];
}

/** The last day of a list, which is later if it already has rates for the next period. */
function lastDay({ until, rhythm, rows }: Read): DateInt {
  if (until === DATE_OPEN) return until;
  const next = endByRhythm(dayAfter(until), rhythm);
  const ahead = rows.some(({ from }) => from > until && from <= next);
  return ahead ? next : until;
}

/**
 * Whether a list is published for later days than another, or at a later date for the same days.
 */
function isLater(one: HeldList, other: HeldList): boolean {
  return one.until === other.until ? one.asOf > other.asOf : one.until > other.until;
}

/** Whether the recipe's rates of a level that a list completes are newer than the list. */
function isOlder(list: Read, marks: readonly ListMark[], own: readonly RateRow[]): boolean {
  return marks.some(({ state, level, until }) => {
    if (state !== list.state || !list.levels.includes(level)) return false;
    if (until !== DATE_OPEN) return until > list.until;
    return own.some(
      (row) =>
        row.level === level && completes(list, row) && row.asOf > list.asOf && row.asOf < DATE_OPEN,
    );
  });
}

/**
 * A mark of a level that a newer list has rates for; if there was no list before, it becomes
 * partial.
 */
function withList(mark: ListMark, list: Read): ListMark {
  const speaks =
    list.state === mark.state &&
    list.levels.includes(mark.level) &&
    mark.mark !== 'not-levied' &&
    list.rows.length > 0;
  if (!speaks) return mark;
  const until = lastDay(list);
  if (mark.mark === 'none') {
    return list.rows.some(({ level }) => level === mark.level)
      ? {
          ...mark,
          mark: 'partial',
          source: list.id,
          until,
          since: list.first,
          gap: `only what the list ${list.name} names is held`,
        }
      : mark;
  }
  const later = mark.until === DATE_OPEN || mark.until < until ? until : mark.until;
  return { ...mark, source: list.id, until: later };
}

/**
 * Combines rows and marks. `held` are the fetched lists, whose sources are numbered from `firstId`;
 * `strangers` are their unmatched names, by list.
 */
export function settleHeld(
  all: readonly RateRow[],
  marks: readonly ListMark[],
  held: readonly HeldList[],
  firstId: number,
  strangers: ReadonlyMap<string, Strangers> = new Map(),
): Settled {
  const lists = held.flatMap((list, at) =>
    list.stated === true ? [] : [readOf(list, firstId + at, all, strangers.get(list.name))],
  );
  const byId = new Map(lists.map((list) => [list.id, list]));
  const own = all.filter(({ source }) => !byId.has(source));
  const old = new Set(lists.filter((list) => isOlder(list, marks, own)));
  const newer = lists.filter((list) => !old.has(list));
  const isOld = ({ source }: RateRow): boolean => old.has(byId.get(source)!);
  // Where rows overlap the later one counts, so older lists come first.
  const rows = [...all.filter(isOld), ...all.filter((row) => !isOld(row))].flatMap((row) => {
    const from = byId.get(row.source);
    let left: readonly RateRow[] = [row];
    for (const list of newer) {
      if (from === undefined || old.has(from) || isLater(list, from)) {
        left = left.flatMap((one) => (one.source === list.id ? [one] : beside(one, list)));
      }
    }
    return left;
  });
  checkLocations(rows);
  return {
    rows,
    marks: marks.map((mark) => newer.reduce(withList, mark)),
    lines: [...old].map(
      ({ name, asOf, state }) =>
        `${name} is of ${formatDate(asOf)}: ` +
        `older than what the recipe has of ${state}, which holds`,
    ),
  };
}
