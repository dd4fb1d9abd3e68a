/** What a reader of a publisher's list is given, and what it returns. */
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

/**
 * Prefix of our own codes for districts to which the publisher gives none; answers show none for
 * them.
 */
export const OWN_CODE = '~';

/** The members of a row whose rate is not known; its `note` says why. */
export const UNKNOWN_RATE = { basis: 'unknown', sales: RATE_ZERO, use: RATE_ZERO } as const;

/**
 * Code of the district row that stands for land outside all locations, where these cover land only
 * in part.
 */
export const NO_CODE = '';

/** The row for land outside: outside the drawn locations, the rate is unknown. */
export function outsideRow(context: ListContext, name: string, from: DateInt): RateRow {
  const note = `${name}: no location of the list is drawn here; newer boundaries would fill it.`;
  return unknownRow(context, { level: 'district', name: '', code: NO_CODE, from, note });
}

/** Members of a row besides its rate. */
type Listed = Pick<RateRow, 'level' | 'name' | 'from'> & Partial<RateRow>;

/**
 * Makes a row from a rate in parts per billion. By default it is the jurisdiction's own part, on
 * sales and on use, from its first day on, without county, place or code.
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

/** Members of a row without a known rate. */
type Unknown = Pick<RateRow, 'level' | 'name' | 'note'> & Partial<RateRow>;

/** Makes a row for an unknown rate, on every day by default. */
export function unknownRow(context: ListContext, where: Unknown): RateRow {
  return listedRow(context, RATE_ZERO, { basis: 'unknown', from: DATE_MIN, ...where });
}

/** Makes a district's member: on every day and in the whole county by default. */
export function districtMember(
  { state }: Pick<ListContext, 'state'>,
  code: string,
  where: Pick<DistrictMember, 'scope' | 'county'> & Partial<DistrictMember>,
): DistrictMember {
  return { state, code, place: '', except: [], from: DATE_MIN, to: DATE_OPEN, ...where };
}

/** Whether a row is one of `outsideRow`. */
export function isOutside({ level, county, place, code }: RateRow): boolean {
  return level === 'district' && county === '' && place === '' && code === NO_CODE;
}

/** A city in an official list that has no boundary, so that the area around it is uncertain. */
export interface UnplacedCity {
  readonly state: string;
  readonly name: string;
  /** Place code if the list has one; otherwise "". */
  readonly place: string;
  /** County it lies in; "" where the list does not say. */
  readonly county: string;
}

/** Counts the rows of a list that became rates, and records what happened to the others. */
export class ListReport {
  read = 0;
  joined = 0;
  readonly dropped: string[] = [];
  readonly unmatched: string[] = [];
  /** Sentences on days for which rows, or older publications, have different rates. */
  readonly contradictions: string[] = [];
  /** Listed places without a boundary or place fact. */
  readonly unplaced: UnplacedCity[] = [];

  constructor(readonly list: string) {}

  /** Records a row that was left out on purpose. */
  drop(name: string, why: string): void {
    this.dropped.push(`${name}: ${why}`);
  }

  /** Records a row whose jurisdiction is not known. */
  miss(name: string): void {
    this.unmatched.push(name);
  }

  /** Records a listed city without a boundary or place fact. */
  unplace(state: string, name: string, place: string, county: string): void {
    const known = this.unplaced.some((city) => city.name === name && city.county === county);
    if (!known) this.unplaced.push({ state, name, place, county });
  }
}

/** Options of a list in a recipe; the table of readers says which ones each reader accepts. */
export type ListOptions = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What a reader knows in addition to the text of its list. */
export interface ListContext {
  /** State of the list, "" where the list names states itself. */
  readonly state: string;
  readonly gazetteer: Gazetteer;
  readonly source: number;
  /** The number of a source by its name, for lists whose rows name their sources. */
  readonly sourceOf: (name: string) => number;
  /** Date of the source, for rows without one. */
  readonly asOf: DateInt;
  readonly options: ListOptions;
  readonly report: ListReport;
  /** Text of a further file, by the name of the option that gives its path. */
  readonly extra: (option: string) => string;
  /** Code of a district, by its name in the publisher's lists. */
  readonly districtCode: (listed: string) => string | null;
}

/** A county of five digits and a municipality of seven or ten; "" for none. */
export interface Land {
  readonly county: string;
  readonly place: string;
}

/** What a list was read into. */
export interface ListResult {
  readonly rows: readonly RateRow[];
  readonly members: readonly DistrictMember[];
  /** Counties and municipalities that its codes stand for, or that its locations lie in. */
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

/** No place levies more. A list with a higher rate has percentages that were read as fractions. */
export const RATE_MAX = RATE_ONE / 4;
/** In any list some rates are higher. If none is, its fractions were read as percentages. */
const HIGHEST_MIN = RATE_ONE / 500;

/**
 * @throws RangeError where the rates of a list cannot be right, because they are written in another
 * unit.
 */
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

/** A rate minus others. The result may be negative. */
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

/** The code of a city by its name; for a city that is not found, name and county are recorded. */
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

/** The code of a matched name. Records a dropped or unmatched name, and returns null. */
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

/**
 * Reads a date of a list. For "" it returns `empty`.
 * @throws RangeError for a date that does not exist.
 */
export function listDate(text: string, empty: DateInt): DateInt {
  if (text === '') return empty;
  const date = parseDate(text);
  if (date === null) throw new RangeError(`not a date: ${text}`);
  // Publishers write "no end" as the last day of some far year (2999, 9999).
  return date >= 29990101 ? DATE_OPEN : date;
}
