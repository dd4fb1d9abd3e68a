/** What a reader of a publisher's list gets and gives. */
import {
  DATE_MIN,
  DATE_OPEN,
  type DateInt,
  dateOf,
  formatDate,
  parseDate,
} from '../../tax/date.js';
import { parsePercent, parseRate, type Rate, RATE_ONE, RATE_ZERO } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { DistrictMember } from './facts.js';
import type { Gazetteer, NameMatch } from './gazetteer.js';

/** Districts their publisher gives no code have one of ours; the wire shows none for them. */
export const OWN_CODE = '~';

/** What a row has in place of a rate that is not known; a note says why. */
export const UNKNOWN_RATE = { basis: 'unknown', sales: RATE_ZERO, use: RATE_ZERO } as const;

/** Code of the district row of a list whose locations are all land: it is what lies outside. */
export const NO_CODE = '';

/** The row that says so: what no location that is drawn has is not known. */
export function outsideRow(context: ListContext, name: string, from: DateInt): RateRow {
  const note = `${name}: no location of the list is drawn here; newer boundaries would fill it.`;
  return unknownRow(context, { level: 'district', name: '', code: NO_CODE, from, note });
}

/** What a row says beside its rate. */
type Listed = Pick<RateRow, 'level' | 'name' | 'from'> & Partial<RateRow>;

/**
 * The row of a list for a rate in parts per billion: unless told, the jurisdiction's own part, on
 * sales and on use, from its first day on, with no county, place or code.
 */
export function listedRow(
  { state, source, asOf }: ListContext,
  rate: Rate,
  listed: Listed,
): RateRow {
  return {
    state,
    county: '',
    place: '',
    code: '',
    basis: 'own',
    sales: rate,
    use: rate,
    to: DATE_OPEN,
    source,
    asOf,
    ...listed,
  };
}

/** Where a rate is not known, and why. */
type Unknown = Pick<RateRow, 'level' | 'name' | 'note'> & Partial<RateRow>;

/** The row of a list for a rate that is not known, on any day unless told. */
export function unknownRow(context: ListContext, where: Unknown): RateRow {
  return listedRow(context, RATE_ZERO, { basis: 'unknown', from: DATE_MIN, ...where });
}

/** Where a district of the list holds: on any day, and in the whole of its county, unless told. */
export function districtMember(
  { state }: Pick<ListContext, 'state'>,
  code: string,
  where: Pick<DistrictMember, 'scope' | 'county'> & Partial<DistrictMember>,
): DistrictMember {
  return { state, code, place: '', except: [], from: DATE_MIN, to: DATE_OPEN, ...where };
}

/** Whether a row is such a one. */
export function isOutside({ level, county, place, code }: RateRow): boolean {
  return level === 'district' && county === '' && place === '' && code === NO_CODE;
}

/** A city an official list names and no boundary is held for: the area around it is uncertain. */
export interface UnplacedCity {
  readonly state: string;
  readonly name: string;
  /** Place code where the list gives one, else "". */
  readonly place: string;
  /** County it lies in, "" where the list does not say. */
  readonly county: string;
}

/** How many rows of a list became rates, and what happened to the rest. */
export class ListReport {
  read = 0;
  joined = 0;
  readonly dropped: string[] = [];
  readonly unmatched: string[] = [];
  /** Sentences on days that its rows, or older publications of it, give other rates for. */
  readonly contradictions: string[] = [];
  /** Listed places that no place boundary or place fact is held for. */
  readonly unplaced: UnplacedCity[] = [];

  constructor(readonly list: string) {}

  /** Notes a row left out on purpose. */
  drop(name: string, why: string): void {
    this.dropped.push(`${name}: ${why}`);
  }

  /** Notes a row whose jurisdiction is not known. */
  miss(name: string): void {
    this.unmatched.push(name);
  }

  /** Notes a listed city that no boundary or place fact is held for. */
  unplace(state: string, name: string, place: string, county: string): void {
    const known = this.unplaced.some((city) => city.name === name && city.county === county);
    if (!known) this.unplaced.push({ state, name, place, county });
  }
}

/** Options of a list in a recipe; the table of readers says which each reader takes. */
export type ListOptions = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What a reader knows beside the text of its list. */
export interface ListContext {
  /** State of the list, "" where the list names states itself. */
  readonly state: string;
  readonly gazetteer: Gazetteer;
  readonly source: number;
  /** A source by its name, for lists whose rows name their own. */
  readonly sourceOf: (name: string) => number;
  /** As-of date of the source, for rows that carry none. */
  readonly asOf: DateInt;
  readonly options: ListOptions;
  readonly report: ListReport;
  /** Text of a further file of the list by the name of its option. */
  readonly extra: (option: string) => string;
  /** Code of a district by the name its publisher lists. */
  readonly districtCode: (listed: string) => string | null;
}

/** County and municipality, by five and by seven or ten digits; "" for none. */
export interface Land {
  readonly county: string;
  readonly place: string;
}

/** What a list became. */
export interface ListResult {
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
  /** Counties and municipalities that its own codes stand for, or that its locations lie in. */
  readonly codes?: ReadonlyMap<string, Land>;
}

/** Reads one publisher's format. */
export type RateReader = (text: string, context: ListContext) => ListResult;

/** A number of a list; a malformed one is an error of the file, not a zero. */
export function percentOf(text: string, where: string): Rate {
  const rate = parsePercent(text);
  if (rate === null) throw new RangeError(`${where}: not a percentage: ${text}`);
  return rate;
}

/** A decimal fraction of a list. */
export function fractionOf(text: string, where: string): Rate {
  const rate = parseRate(text);
  if (rate === null) throw new RangeError(`${where}: not a rate: ${text}`);
  return rate;
}

/** No place levies more; what is listed with more is a percentage that was read as a fraction. */
export const RATE_MAX = RATE_ONE / 4;
/** Of a list with rates some are more; else they are fractions that were read as percentages. */
const HIGHEST_MIN = RATE_ONE / 500;

/** @throws RangeError where no list can have such rates: its figures are written otherwise. */
export function checkFigures(rows: readonly RateRow[]): void {
  const rates = rows.flatMap(({ sales, use }) => [sales, use]);
  const highest = rates.reduce((most: number, rate) => (rate > most ? rate : most), 0);
  const row = rows.find(({ sales, use }) => sales === highest || use === highest);
  if (row === undefined || highest === 0 || (highest >= HIGHEST_MIN && highest <= RATE_MAX)) return;
  throw new RangeError(
    `its layout is another: ${row.name || row.state} has its highest rate, ` +
      `${highest / 1e7} %: fractions and percentages are not told apart`,
  );
}

/** A rate less others; negative results stay for the caller to judge. */
export function minus(rate: Rate, ...others: readonly Rate[]): Rate {
  return others.reduce((rest: number, other) => rest - other, rate) as Rate;
}

/** A text option, or a default. */
export function textOption(context: ListContext, name: string, missing = ''): string {
  const value = context.options[name];
  return typeof value === 'string' ? value : missing;
}

/** A list option. */
export function listOption(context: ListContext, name: string): readonly string[] {
  const value = context.options[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** The code a city's name joined to; one that no place bears is noted with its county. */
export function joinedCity(
  context: ListContext,
  name: string,
  match: NameMatch,
  county: string,
): string | null {
  if (match.kind === 'unmatched') {
    context.report.unplace(context.state, name, '', county);
    return null;
  }
  return joined(context, name, match);
}

/** The code a name joined to; notes a drop or a miss in the report and gives null. */
export function joined(context: ListContext, label: string, match: NameMatch): string | null {
  if (match.kind === 'code') {
    context.report.joined += 1;
    return match.code;
  }
  if (match.kind === 'dropped') context.report.drop(label, match.why);
  else context.report.miss(label);
  return null;
}

// Days of rate lists: the day after, and dates as lists print them.

export { DATE_MIN, DATE_OPEN, dateOf, formatDate };

/** The day after a date; "still in force" stays what it is. */
export function dayAfter(date: DateInt): DateInt {
  if (date >= DATE_OPEN) return DATE_OPEN;
  const year = Math.floor(date / 10000);
  const month = Math.floor(date / 100) % 100;
  const day = date % 100;
  return (
    dateOf(year, month, day + 1) ??
    dateOf(year, month + 1, 1) ??
    dateOf(year + 1, 1, 1) ??
    DATE_OPEN
  );
}

/** Reads a date of a list; "" gives `empty`, a date no calendar has is an error of the file. */
export function listDate(text: string, empty: DateInt): DateInt {
  if (text === '') return empty;
  const date = parseDate(text);
  if (date === null) throw new RangeError(`not a date: ${text}`);
  // Publishers write "no end" as the last day of some far year (2999, 9999).
  return date >= 29990101 ? DATE_OPEN : date;
}
