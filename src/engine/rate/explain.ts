/**
 * Explains lookups: the rows of every tax area of an answer with the source of each figure, and how
 * the place was found. The result consists of plain values, as for carts.
 */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { DATE_MIN, DATE_OPEN, type DateInt, formatDate } from '../../tax/date.js';
import { formatRate } from '../../tax/rate.js';
import type { Citation } from '../cart/cart-facts.js';
import type { RangeNote, SourceNote } from '../cart/outcome.js';
import type { PostalOutcome, SitusOutcome, KnownRates } from '../lookup-query.js';
import { type Cells, cellsOf } from '../product/table-cells.js';
import { normalizedAddress, type Precision, type Situs } from '../situs.js';
import { periodOn } from './on-day.js';

// The sources of figures in explanations.

/** A day as YYYY-MM-DD; "" where it is not recorded. */
function dayText(date: DateInt | null): string {
  return date === null || date <= DATE_MIN ? '' : formatDate(date);
}

/** A fact's source. */
export function citedSource(name: string, { citation, source, asOf }: Citation): SourceNote {
  return { name: source === '' ? name : `${name}: ${source}`, asOf: dayText(asOf), citation };
}

/** Finds the source of each figure of one dataset. */
export class SourceNotes {
  readonly #dataset: Dataset;
  readonly #tables = new Map<string, ReadonlyMap<string, readonly Cells[]>>();

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** A source of the dataset's list. */
  listed(source: number | null): SourceNote | null {
    if (source === null || source < 0) return null;
    const { name, publisher, asOf } = this.#dataset.source(source);
    return { name, asOf: dayText(asOf), citation: publisher };
  }

  /**
   * Rows of a document by the text of some columns, such as "CA|20010". Each document is read once.
   */
  rowsBy(name: string, columns: readonly string[]): ReadonlyMap<string, readonly Cells[]> {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const rows = new Map<string, Cells[]>();
    for (const row of cellsOf(this.#dataset.document(name), name) ?? []) {
      const key = columns.map((column) => row.text(column)).join('|');
      const list = rows.get(key);
      if (list === undefined) rows.set(key, [row]);
      else list.push(row);
    }
    this.#tables.set(name, rows);
    return rows;
  }
}

/** What one jurisdiction levies, and the source of that. */
type RowNote = {
  readonly level: string;
  readonly jurisdiction: string;
  readonly code: string | null;
  /** Decimal fractions. */
  readonly sales: string;
  readonly use: string;
  /** First and last day of the rate, YYYY-MM-DD; "" where it has no such day or levies nothing. */
  readonly from: string;
  readonly to: string;
  /** Null where the list is complete and lacks the jurisdiction, so that nothing is levied. */
  readonly source: SourceNote | null;
  readonly estimated: boolean;
};

/** A tax area of an answer. */
type AreaNote = {
  readonly area: number;
  readonly date: string;
  readonly state: string;
  readonly county: string;
  readonly city: string;
  /** Last day that every list of the area was published for; "" where there is none. */
  readonly publishedUntil: string;
  readonly sales: string;
  readonly use: string;
  readonly rows: readonly RowNote[];
};

export type LookupExplanation = {
  readonly dataset: string;
  /** The kind of boundary or evidence that led to the area; "zip" for lists by postal code. */
  readonly precision: Precision | 'zip';
  readonly boundary: string;
  readonly normalizedAddress: string;
  /** With precision "city": the range of rates that the place may have instead. */
  readonly assumed?: RangeNote;
  readonly areas: readonly AreaNote[];
};

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

/** What the tax area follows from where the state's own boundary file decided, by precision. */
const STATED: Partial<Readonly<Record<Precision, string>>> = {
  point: "address point, in an address range of the state's boundary file, which decides",
  range: "address range of the state's boundary file",
  zip9: "ZIP+4 record of the state's boundary file",
  postal: "ZIP record of the state's boundary file, with which all it states in the ZIP agrees",
};

/** The member with the range of rates that an assumed place may have; none for other places. */
export function assumedNote({ assumed }: Situs): { readonly assumed?: RangeNote } {
  if (assumed === undefined) return {};
  const { lowest, highest } = assumed;
  return { assumed: { lowest: formatRate(lowest), highest: formatRate(highest) } };
}

function boundaryOf({ precision, stated }: Situs): string {
  return (stated === true ? STATED[precision] : undefined) ?? BOUNDARIES[precision];
}

function openDay(date: DateInt): string {
  return date >= DATE_OPEN ? '' : formatDate(date);
}

function areaNote(
  sources: SourceNotes,
  area: AreaRecord,
  rates: KnownRates,
  date: DateInt,
): AreaNote {
  return {
    area: area.id,
    date: formatDate(date),
    state: area.state,
    county: area.countyFullName,
    city: area.placeName,
    publishedUntil: openDay(area.staleAfter),
    sales: formatRate(rates.sales),
    use: formatRate(rates.use),
    rows: rates.rows.map(({ component, sales, use, source, estimated }): RowNote => {
      const period = periodOn(component.periods, date);
      return {
        level: component.level,
        jurisdiction: component.jurName,
        code: component.jurCode,
        sales: formatRate(sales),
        use: formatRate(use),
        from: period === null ? '' : dayText(period.from),
        to: period === null ? '' : openDay(period.to),
        source: sources.listed(source),
        estimated,
      };
    }),
  };
}

/** Explains an answer to a lookup of a release. */
export function explainLookup(
  release: string,
  sources: SourceNotes,
  outcome: SitusOutcome | PostalOutcome,
): LookupExplanation {
  if (outcome.kind === 'postal') {
    return {
      dataset: release,
      precision: 'zip',
      boundary: BOUNDARIES.zip,
      normalizedAddress: '',
      areas: outcome.rows.map(({ area, rates, date }) => areaNote(sources, area, rates, date)),
    };
  }
  const { situs, area, rates, date } = outcome;
  return {
    dataset: release,
    precision: situs.precision,
    boundary: boundaryOf(situs),
    normalizedAddress: normalizedAddress(situs),
    ...assumedNote(situs),
    areas: [areaNote(sources, area, rates, date)],
  };
}
