/**
 * Rates by the codes of a state's boundary file. Where the recipe has the state's local rates by
 * other codes, its file's codes are worth what the rate file beside it says, and nothing else: the
 * tax is what county, city and every district that a record names levy (Streamlined Sales Tax,
 * Technology Guide, chapter 5). Points, cities and ZIPs without a record go by the recipe's lists.
 */
import type { SourceRecord } from '../../dataset/records.js';
import type { DateInt } from '../../tax/date.js';
import { RATE_ZERO } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { RateBookInput } from './book.js';
import type { ListMark } from './facts.js';
import { DATE_MIN, DATE_OPEN, isOutside, type Land, OWN_CODE } from './list.js';

/** A state's rate file for the codes in its boundary file. */
export interface StatedList {
  /** Two letters. */
  readonly state: string;
  /** Number of its source, and last day that it was published for. */
  readonly source: number;
  readonly until: DateInt;
  /** Rows of counties, cities and districts. */
  readonly rows: readonly RateRow[];
}

/** Whether a row belongs to a level that records of boundary files identify by code. */
export function isStated(row: RateRow): boolean {
  return row.level !== 'state' && !isOutside(row);
}

/**
 * The land that codes of lists stand for, by state and code ("TX 2227016"), where the lists agree.
 */
export function landOfCodes(
  lists: readonly { readonly state: string; readonly codes: ReadonlyMap<string, Land> }[],
): ReadonlyMap<string, Land> {
  const found = new Map<string, Land>();
  const torn = new Set<string>();
  for (const { state, codes } of lists) {
    for (const [code, land] of codes) {
      const key = `${state} ${code}`;
      const { county, place } = found.get(key) ?? land;
      if (county !== land.county || place !== land.place) torn.add(key);
      found.set(key, land);
    }
  }
  for (const key of torn) found.delete(key);
  return found;
}

const LEVELS = ['county', 'city', 'district'] as const;

/**
 * Marks for a rate file. It keeps past rows, so from its first day on nothing is levied where it
 * has none. Before that rates are unknown, because states began their files only when they joined.
 */
function marksOf({ state, source, until, rows }: StatedList): readonly ListMark[] {
  const since = rows.reduce((first, { from }) => (from < first ? from : first), DATE_OPEN);
  return LEVELS.map(
    (level): ListMark => ({
      state,
      level,
      mark: 'complete',
      unlisted: 'nothing',
      since,
      history: 'full',
      until,
      source,
      fill: "the state's rate file",
      gap: '',
    }),
  );
}

/** For each code in the file, a zero rate on days without a row. */
function zerosOf({ rows }: StatedList): readonly RateRow[] {
  const districts = new Map(
    rows.filter(({ level }) => level === 'district').map((row) => [row.code, row]),
  );
  return [...districts.values()].map(
    (row): RateRow => ({
      ...row,
      basis: 'own',
      sales: RATE_ZERO,
      use: RATE_ZERO,
      from: DATE_MIN,
      to: DATE_OPEN,
    }),
  );
}

/** The input of the book that resolves what boundary files name. */
export function statedInput(input: RateBookInput, lists: readonly StatedList[]): RateBookInput {
  const states = new Set(lists.map(({ state }) => state));
  const isLayer = ({ source }: RateRow): boolean =>
    input.sources[source]?.name.startsWith('layer:') === true;
  const others = input.rows.filter((row) => row.level === 'state' || isLayer(row));
  const laid = new Set(input.rows.filter(isLayer).map(({ code }) => code));
  return {
    ...input,
    stated: [],
    estimates: [],
    rows: [
      ...lists.flatMap((list) => [...zerosOf(list), ...list.rows]),
      // Layers of an operator apply to these rates too.
      ...others.filter(({ state }) => states.has(state)),
    ],
    // Districts with codes of our own are left out, since the lists' rates include them, unless a
    // layer adds them.
    members: input.members.filter(({ code }) => !code.startsWith(OWN_CODE) || laid.has(code)),
    marks: [...input.marks.filter(({ state }) => !states.has(state)), ...lists.flatMap(marksOf)],
  };
}

/** The codes in a state's rate file, and its date. */
export interface RateFile {
  /** Codes of districts. */
  readonly codes: ReadonlySet<string>;
  /** Counties by five digits, municipalities by seven or ten. */
  readonly named: ReadonlySet<string>;
  readonly day: DateInt;
}

/** What is known of the rate file with these rows. */
export function rateFileOf(list: StatedList, sources: readonly SourceRecord[]): RateFile {
  return {
    codes: new Set(list.rows.filter(({ level }) => level === 'district').map(({ code }) => code)),
    named: new Set(list.rows.map(({ place, county }) => place || county)),
    day: sources[list.source]?.asOf ?? DATE_OPEN,
  };
}
