/**
 * The table of a layer: rows as an analyst fills them in, checked cell by cell. Faults are
 * collected with line, column and reason; nothing is guessed.
 */
import { FIVE_DIGITS } from '../../base/patterns.js';
import { sheetRows } from '../source/table-text.js';
import { type DateInt, parseDate } from '../../tax/date.js';
import { LEVELS, type Level } from '../../tax/jurisdiction.js';
import { PRODUCT_SCOPES } from '../../tax/product-rule.js';
import type { Rate } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import { DATE_OPEN } from '../rates/list.js';
import { unknownName } from '../spelling.js';
import { Cells, LAYER_COLUMNS, type LayerFaults } from './checked-cells.js';

const DAY_MS = 86_400_000;
/** Number of columns that are required. */
const REQUIRED_COLUMNS = 7;
/** Values of `basis` that a row may have, as in `RateRow`. */
const BASES = ['own', 'total', 'sole'] as const;
interface LayerRow {
  readonly line: number;
  /** Two letters. */
  readonly state: string;
  readonly from: DateInt;
  readonly to: DateInt;
  /** The source of the rate, as cited. */
  readonly source: string;
  readonly asOf: DateInt;
}

/** A jurisdiction with its rate in a period, or with only its boundary. */
export interface LayerRate extends LayerRow {
  readonly level: Level;
  /** Its name, or "*" for every city of the county that the layer does not name. */
  readonly name: string;
  readonly code: string;
  readonly counties: readonly string[];
  readonly cities: readonly string[];
  readonly zips: readonly number[];
  /** File beside the table; "" for none. */
  readonly boundary: string;
  readonly basis: RateRow['basis'];
  /** Null in a row that only has a boundary. */
  readonly sales: Rate | null;
  readonly use: Rate | null;
}

/** A rule for product codes. */
export interface LayerProduct extends LayerRow {
  readonly tics: readonly string[];
  readonly taxable: 'Y' | 'N';
  readonly scope: string;
  readonly condition: string;
  /** A rate of the product's own; null for the ordinary rate. */
  readonly rate: Rate | null;
}

function commonOf(cells: Cells): LayerRow {
  const state = cells.required('state').toUpperCase();
  const from = cells.day('from', null);
  const to = cells.day('until', DATE_OPEN);
  if (to < from) cells.bad('until', 'it is before "from"');
  const asOf = cells.day('as_of', null);
  // The newest date names the release. In some time zones it is tomorrow already.
  const tomorrow = parseDate(new Date(Date.now() + DAY_MS).toISOString().slice(0, 10));
  if (asOf !== DATE_OPEN && asOf > (tomorrow ?? DATE_OPEN)) {
    cells.bad('as_of', 'it is to come, and says when the source was read');
  }
  return { line: cells.line, state, from, to, source: cells.required('source'), asOf };
}

function rateOf(cells: Cells): LayerRate {
  const boundary = cells.text('boundary');
  const level = cells.oneOf('level', LEVELS, null);
  // A row may have only a boundary, if the lists have the rate.
  const alone = cells.text('rate') === '' && boundary !== '';
  const sales = alone ? null : cells.rate('rate');
  const use = cells.text('use') === '' ? sales : cells.rate('use');
  if (level === 'state' || level === 'county') {
    for (const column of ['boundary', 'zips', 'city'] as const) {
      if (cells.text(column) !== '') {
        cells.bad(column, 'states and counties have the boundaries of the base');
      }
    }
  }
  if (level === 'city' && cells.text('zips') !== '') {
    cells.bad('zips', 'a city has a boundary; what has ZIPs alone is a district');
  }
  for (const column of ['taxable', 'scope', 'condition'] as const) {
    if (cells.text(column) !== '') cells.bad(column, 'it belongs to a product rule, which has tic');
  }
  return {
    ...commonOf(cells),
    level,
    boundary,
    sales,
    use,
    code: cells.text('code'),
    name: level === 'state' ? cells.text('name') : cells.required('name'),
    counties: cells.list('county'),
    cities: cells.list('city'),
    zips: cells.zips(),
    basis: cells.oneOf('basis', BASES, 'own'),
  };
}

function productOf(cells: Cells): LayerProduct {
  if (!['', 'state'].includes(cells.text('level').toLowerCase())) {
    cells.bad('level', "a product rule is a state's: leave it empty");
  }
  for (const column of ['code', 'county', 'city', 'zips', 'boundary', 'use', 'basis'] as const) {
    if (cells.text(column) !== '') cells.bad(column, 'a product rule has none');
  }
  const tics = cells.list('tic');
  for (const tic of tics) if (!FIVE_DIGITS.test(tic)) cells.bad('tic', `"${tic}" is no code`);
  return {
    ...commonOf(cells),
    tics,
    taxable: cells.oneOf('taxable', ['Y', 'N'] as const, null),
    scope: cells.oneOf('scope', PRODUCT_SCOPES, 'all'),
    condition: cells.text('condition'),
    rate: cells.text('rate') === '' ? null : cells.rate('rate'),
  };
}

/** The contents of a table, with the newest date of its rows. */
export interface LayerTable {
  readonly rates: readonly LayerRate[];
  readonly products: readonly LayerProduct[];
  readonly asOf: DateInt;
}

function headerOf(cells: readonly string[], faults: LayerFaults): readonly string[] {
  const header = cells.map((cell) =>
    cell
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  );
  const names: readonly string[] = LAYER_COLUMNS;
  header.forEach((name, at) => {
    if (name !== '' && !names.includes(name)) faults.add(1, '', unknownName('column', name, names));
    if (name !== '' && header.indexOf(name) !== at) faults.add(1, '', `column ${name} twice`);
  });
  for (const name of LAYER_COLUMNS.slice(0, REQUIRED_COLUMNS)) {
    if (!header.includes(name)) faults.add(1, '', `it has no column ${name}`);
  }
  faults.settle();
  return header;
}

/**
 * Reads a comma-separated table with a header.
 * @throws Error with every fault: file, line, column and reason.
 */
export function readLayerTable(
  text: string,
  faults: LayerFaults,
  written: (cell: string) => string = (cell) => cell,
): LayerTable {
  const rows = sheetRows(text);
  const header = headerOf(rows[0] ?? [], faults);
  const [rates, products]: [LayerRate[], LayerProduct[]] = [[], []];
  rows.slice(1).forEach((row, index) => {
    if (row.every((cell) => cell.trim() === '')) return;
    const line = index + 2;
    if (row.length > header.length && row.slice(header.length).some((cell) => cell.trim() !== '')) {
      faults.add(line, '', `it has ${row.length} cells, the header ${header.length}`);
    }
    const cells = new Cells(line, faults, (column) => {
      const cell = (row[header.indexOf(column)] ?? '').trim();
      return ['from', 'until', 'as_of'].includes(column) ? written(cell) : cell;
    });
    if (cells.text('tic') === '') rates.push(rateOf(cells));
    else products.push(productOf(cells));
  });
  if (rates.length + products.length === 0) faults.add(1, '', 'it has no rows');
  faults.settle();
  const days = [...rates, ...products].map(({ asOf }) => asOf);
  return { rates, products, asOf: days.reduce((last, day) => (day > last ? day : last)) };
}
