/**
 * Explanations of lookups: the rows of every tax area of an answer with the source of each figure,
 * and how the place was found. Plain values, as in explanations of carts.
 */
import type { AreaRecord } from '../../dataset/records.js';
import { DATE_OPEN, formatDate, type DateInt } from '../../tax/date.js';
import { formatRate } from '../../tax/rate.js';
import { dayText, type SourceNotes } from '../cart/explain-source.js';
import type { SourceNote } from '../cart/outcome.js';
import type { PostalOutcome, SitusOutcome } from '../lookup-query.js';
import type { Precision, Situs } from '../situs.js';
import { periodOn, type KnownRates } from './area-rates.js';

/** What one jurisdiction levies, and on which source's word. */
export interface RowNote {
  readonly level: string;
  readonly jurisdiction: string;
  readonly code: string | null;
  /** Decimal fractions. */
  readonly sales: string;
  readonly use: string;
  /** First and last day of the rate, YYYY-MM-DD; "" where open or where it levies nothing. */
  readonly from: string;
  readonly to: string;
  /** Null where the list is complete and does not name the jurisdiction: nothing is levied. */
  readonly source: SourceNote | null;
  readonly estimated: boolean;
}

/** A tax area of an answer. */
export interface AreaNote {
  readonly area: number;
  readonly date: string;
  readonly state: string;
  readonly county: string;
  readonly city: string;
  /** Last day that every list behind the area was published for; "" where open. */
  readonly publishedUntil: string;
  readonly sales: string;
  readonly use: string;
  readonly rows: readonly RowNote[];
}

export interface LookupExplanation {
  readonly dataset: string;
  /** Kind of boundary or evidence that led to the area; "zip" for lists by postal code. */
  readonly precision: Precision | 'zip';
  readonly boundary: string;
  readonly normalizedAddress: string;
  /** Of precision "city": what the rate may be instead. */
  readonly assumed?: { readonly lowest: string; readonly highest: string };
  readonly areas: readonly AreaNote[];
}

const BOUNDARIES: Readonly<Record<Precision | 'zip', string>> = {
  none: '',
  point: 'address point',
  range: 'street range',
  zip9: 'ZIP+4 range',
  street: 'whole street in one tax area',
  polygon: 'boundary polygon',
  postal: 'ZIP whose tax areas have equal rates',
  city: 'ZIP or city, assumed: it has other rates as well',
  zip: 'every tax area that overlaps the ZIP',
};

/** The same where the state's own boundary file decided. */
const STATED: Partial<Readonly<Record<Precision, string>>> = {
  point: "address point, in an address range of the state's boundary file, which decides",
  range: "address range of the state's boundary file",
  zip9: "ZIP+4 record of the state's boundary file",
  postal: "ZIP record of the state's boundary file, with which all it states in the ZIP agrees",
};

function boundaryOf({ precision, stated }: Situs): string {
  return (stated === true ? STATED[precision] : undefined) ?? BOUNDARIES[precision];
}

function openDay(date: DateInt): string {
  return date >= DATE_OPEN ? '' : formatDate(date);
}

function areaNote(
  sources: SourceNotes, area: AreaRecord, rates: KnownRates, date: DateInt,
): AreaNote {
  return {
    area: area.id, date: formatDate(date), state: area.state, county: area.countyFullName,
    city: area.placeName, publishedUntil: openDay(area.staleAfter),
    sales: formatRate(rates.sales), use: formatRate(rates.use),
    rows: rates.rows.map(({ component, sales, use, source, estimated }): RowNote => {
      const period = periodOn(component.periods, date);
      return {
        level: component.level, jurisdiction: component.jurName, code: component.jurCode,
        sales: formatRate(sales), use: formatRate(use),
        from: period === null ? '' : dayText(period.from),
        to: period === null ? '' : openDay(period.to),
        source: sources.listed(source), estimated,
      };
    }),
  };
}

/** Explains an answer to a lookup of a release. */
export function explainLookup(
  release: string, sources: SourceNotes, outcome: SitusOutcome | PostalOutcome,
): LookupExplanation {
  if (outcome.kind === 'postal') {
    return {
      dataset: release, precision: 'zip', boundary: BOUNDARIES.zip, normalizedAddress: '',
      areas: outcome.rows.map(({ area, rates, date }) => areaNote(sources, area, rates, date)),
    };
  }
  const { situs, area, rates, date } = outcome;
  return {
    dataset: release, precision: situs.precision, boundary: boundaryOf(situs),
    normalizedAddress: situs.normalizedAddress,
    ...(situs.assumed === undefined ? {} : { assumed: {
      lowest: formatRate(situs.assumed.lowest), highest: formatRate(situs.assumed.highest),
    } }),
    areas: [areaNote(sources, area, rates, date)],
  };
}
