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

/** What a state's rate file says of the codes in its boundary file. */
export interface StatedList {
  /** Two letters. */
  readonly state: string;
  /** Number of its source, and the last day that it was published for. */
  readonly source: number;
  readonly until: DateInt;
  /** Of counties, cities and districts. */
  readonly rows: readonly RateRow[];
}

/** Whether a row of such a file is told by codes of records. */
export function isStated(row: RateRow): boolean {
  return row.level !== 'state' && !isOutside(row);
}

/** What the codes of lists stand for, by state and code ("TX 2227016"), where they agree. */
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
 * A rate file keeps its past rows: from its first day on nothing is levied before and between them.
 * States began their files when they joined, though localities had levied taxes before.
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

/** A code that the file has is zero on the days that it has no rate for. */
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

/** The input of the book that is asked about what boundary files name. */
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
      // What an operator lays over the lists holds here too.
      ...others.filter(({ state }) => states.has(state)),
    ],
    // Districts without a code are parts of the lists' rates, or of a layer.
    members: input.members.filter(({ code }) => !code.startsWith(OWN_CODE) || laid.has(code)),
    marks: [...input.marks.filter(({ state }) => !states.has(state)), ...lists.flatMap(marksOf)],
  };
}

/** What a state's rate file has, and the day it is of. */
export interface RateFile {
  /** Of districts. */
  readonly codes: ReadonlySet<string>;
  /** Counties by five digits, municipalities by seven or ten. */
  readonly named: ReadonlySet<string>;
  readonly day: DateInt;
}

/** What is known of a rate file whose rows are these. */
export function rateFileOf(list: StatedList, sources: readonly SourceRecord[]): RateFile {
  return {
    codes: new Set(list.rows.filter(({ level }) => level === 'district').map(({ code }) => code)),
    named: new Set(list.rows.map(({ place, county }) => place || county)),
    day: sources[list.source]?.asOf ?? DATE_OPEN,
  };
}
