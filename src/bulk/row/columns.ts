/** The columns that are added to a CSV row: the result of its lookup or the tax of its cart. */
import { RecentCache } from '../../base/tables.js';
import type { Engine } from '../../engine/engine.js';
import type {
  LookupQuery,
  PostalOutcome,
  SitusOutcome,
  KnownRates,
} from '../../engine/lookup-query.js';
import { normalizedAddress, type RateRange } from '../../engine/situs.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { formatMicrodegrees } from '../../geo/microdegrees.js';
import type { Level } from '../../tax/jurisdiction.js';
import { formatRate, sumRates } from '../../tax/rate.js';
import type { AreaCells, WireContext } from '../../api/lookup/context.js';
import {
  areaFlags,
  marksIn,
  marksOf,
  withRules,
  type RatedArea,
} from '../../api/lookup/fragment.js';
import { productDetail } from '../../api/lookup/product-detail.js';
import { parseParameters } from '../../api/lookup/query.js';
import { refusalOf, SUCCESS } from '../../wire/response-code.js';
import { echoOf } from '../../wire/tree.js';
import type { BulkKind } from './chunk-payload.js';
import { csvCell, csvCells, type Dialect } from './dialect.js';
import { refusedRow, type RowAnswer } from './row.js';
import type { CartOutcome } from '../../engine/cart/outcome.js';
import { formatDate } from '../../tax/date.js';
import { formatCents } from '../../tax/amount.js';
import type { RawParameters } from '../../api/lookup/parameter-table.js';

/** Columns that depend only on the tax area and the day. */
const AREA_COLUMNS = [
  'situs_rate',
  'situs_state_rate',
  'situs_county_rate',
  'situs_city_rate',
  'situs_district_rate',
  'situs_use_rate',
  'situs_state',
  'situs_county',
  'situs_city',
  'situs_freight_taxable',
  'situs_service_taxable',
  'situs_sourcing',
  'situs_note',
] as const;

/** The columns that are added to every row of lookups, in order. */
export const APPENDED_COLUMNS = [
  ...AREA_COLUMNS,
  'situs_address',
  'situs_lat',
  'situs_lng',
  'situs_precision',
  'situs_code',
  'situs_message',
] as const;

/** For how many tax areas the cells are kept, in the dialect of a file. */
const AREAS_MAX = 16_384;
/** Larger than every YYYYMMDD. */
const DATE_SPAN = 100_000_000;

function rateAt({ rows }: KnownRates, level: Level): string {
  return formatRate(
    sumRates(rows.filter((row) => row.component.level === level).map((row) => row.sales)),
  );
}

/**
 * The note of a row: the marks of its area on the day; "assumed 0.05-0.079", the range of the rate
 * where a city is assumed, followed by "unknown" where the rate of part of the ZIP is not known;
 * and "unruled" for a product code without a rule.
 */
function rowNote(note: string, unruled: string, assumed: RateRange | null): string {
  let text = note;
  if (assumed !== null) {
    const { lowest, highest, isOpen } = assumed;
    text +=
      `${text === '' ? '' : ' '}assumed ${formatRate(lowest)}-${formatRate(highest)}` +
      (isOpen ? ' unknown' : '');
  }
  return unruled === '' ? text : `${text}${text === '' ? '' : ' '}unruled`;
}

const DIFFERENT_RATES = refusalOf(
  fail(
    'address-incomplete',
    'The ZIP has areas with different rates; give the street address, or ask NDJSON for all',
  ),
);

/** The cells of an area, in the order of AREA_COLUMNS. */
function areaCells(engine: Engine, rated: RatedArea): readonly string[] | Failure {
  const ruled = withRules(engine, rated);
  if (isFailure(ruled)) return ruled;
  const { area, rates, rules } = ruled;
  return [
    formatRate(rates.sales),
    rateAt(rates, 'state'),
    rateAt(rates, 'county'),
    rateAt(rates, 'city'),
    rateAt(rates, 'district'),
    formatRate(rates.use),
    area.state,
    area.countyName,
    area.placeName,
    rules.freightTaxable,
    rules.serviceTaxable,
    rules.sourcing,
    marksIn(marksOf(areaFlags(rated))).join(' '),
  ];
}

/** The areas whose cells are known in a dialect. They are kept from chunk to chunk. */
function areasIn(
  { columns }: WireContext,
  { id }: Engine,
  { delimiter, quoteAll }: Dialect,
): RecentCache<number, AreaCells> {
  const byDialect = columns.get(id);
  const name = `${delimiter}${quoteAll}`;
  let areas = byDialect.get(name);
  if (areas === undefined) {
    areas = new RecentCache(AREAS_MAX);
    byDialect.set(name, areas);
  }
  return areas;
}

/** Answers the lookups of a chunk with columns in a dialect. */
export class LookupColumns {
  readonly #context: WireContext;
  readonly #engine: Engine;
  readonly #dialect: Dialect;
  readonly #areas: RecentCache<number, AreaCells>;
  /** Code and message of a row that is answered with success, as cells. */
  readonly #answered: string;

  constructor(context: WireContext, engine: Engine, dialect: Dialect) {
    this.#context = context;
    this.#engine = engine;
    this.#dialect = dialect;
    this.#areas = areasIn(context, engine, dialect);
    this.#answered = this.#join([String(SUCCESS.code), '']);
  }

  /** Looks a row up; the body of the answer is what is added to the row. */
  answer(raw: RawParameters, grants: number, nowMs: number): RowAnswer {
    const parsed = parseParameters(raw, 60, grants);
    if (isFailure(parsed)) return refusedRow(refusalOf(parsed));
    const { query } = parsed;
    const outcome = this.#engine.lookup(query, nowMs, this.#context.precisionMin);
    if (isFailure(outcome)) return refusedRow(refusalOf(outcome));
    return outcome.kind === 'postal' ? this.#postal(outcome) : this.#located(query, outcome);
  }

  #located(query: LookupQuery, outcome: SitusOutcome): RowAnswer {
    const { situs, area, date } = outcome;
    const plain = area.id * DATE_SPAN + date;
    // What a boundary file decided may be up to date until another day, so it is kept apart.
    const key = situs.stated === true ? -plain : plain;
    const product =
      query.options.taxabilityCode === null
        ? null
        : productDetail(this.#context, this.#engine, query, outcome, 'json');
    if (product !== null && isFailure(product)) return refusedRow(refusalOf(product));
    const unruled = product?.unruled ?? '';
    let known = this.#areas.get(key);
    if (known === undefined) {
      const cells = areaCells(this.#engine, outcome);
      if (isFailure(cells)) return refusedRow(refusalOf(cells));
      const note = cells.at(-1)!;
      known = { cells: this.#join(cells.slice(0, -1)), note, noteCell: this.#join([note]) };
      this.#areas.set(key, known);
    }
    // An assumption depends on the ZIP, and a missing rule on the product code, so neither is kept.
    const note =
      situs.assumed === undefined && unruled === ''
        ? known.noteCell
        : this.#join([rowNote(known.note, unruled, situs.assumed ?? null)]);
    const located = situs.lat !== 0 || situs.lng !== 0;
    const [lat, lng] =
      query.kind === 'point'
        ? [echoOf(query.latDegrees).decimal, echoOf(query.lngDegrees).decimal]
        : located
          ? [formatMicrodegrees(situs.lat), formatMicrodegrees(situs.lng)]
          : ['', ''];
    return this.#success(
      [known.cells, note],
      [normalizedAddress(situs), lat, lng, situs.precision],
      true,
    );
  }

  /**
   * Answers a ZIP. One row cannot show several rates, so this succeeds only if all areas of the ZIP
   * have the same.
   */
  #postal({ rows }: PostalOutcome): RowAnswer {
    const all: (readonly string[])[] = [];
    for (const row of rows) {
      const cells = areaCells(this.#engine, row);
      if (isFailure(cells)) return refusedRow(refusalOf(cells));
      all.push(cells);
    }
    const joined: string[] = AREA_COLUMNS.map((name, index) => {
      const values = new Set(all.map((cells) => cells[index] ?? ''));
      // The note has the marks of all areas.
      if (name === 'situs_note') {
        const words = [...values].flatMap((note) => note.split(' '));
        return [...new Set(words)].filter((word) => word !== '').join(' ');
      }
      return values.size === 1 ? [...values][0]! : '';
    });
    const [rate, , , , , use, state] = joined;
    if (rate === '' || use === '' || state === '') return refusedRow(DIFFERENT_RATES);
    return this.#success([this.#join(joined)], ['', '', '', 'postal'], false);
  }

  /** The body stays in parts, since joining them to one text makes it no faster to write. */
  #success(area: readonly string[], own: readonly string[], geo: boolean): RowAnswer {
    const { delimiter } = this.#dialect;
    const body: string[] = [...area];
    for (const cell of own) body.push(delimiter, csvCell(cell, this.#dialect));
    body.push(this.#answered);
    return { code: SUCCESS.code, geo, body, refusal: null };
  }

  #join(cells: readonly string[]): string {
    return csvCells(cells, this.#dialect);
  }
}

/** The columns that are added to every row of carts, in order. */
export const CART_COLUMNS = [
  'situs_tax_rate',
  'situs_tax_amount',
  'situs_tax_state',
  'situs_tax_date',
  'situs_sourcing',
  'situs_note',
  'situs_precision',
  'situs_code',
  'situs_message',
] as const;

/** The columns that are added to rows of a kind. */
export function columnsOf(kind: BulkKind): readonly string[] {
  return kind === 'cart' ? CART_COLUMNS : APPENDED_COLUMNS;
}

const SOURCING = { origin: 'O', destination: 'D', mixed: 'M' } as const;

/** The cells for a calculated cart of one line. */
export function cartColumns({ lines, marks }: CartOutcome, dialect: Dialect): string {
  const { rate, amount } = lines[0]!;
  const { state, date, sourcing, precision, assumed, unruled } = marks;
  const note = rowNote(marksIn(marks).join(' '), unruled.join(), assumed);
  return csvCells(
    [
      formatRate(rate),
      formatCents(BigInt(amount)),
      state,
      formatDate(date),
      SOURCING[sourcing],
      note,
      precision,
      String(SUCCESS.code),
      '',
    ],
    dialect,
  );
}
