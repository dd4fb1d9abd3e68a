/** The columns that a row of a cart gets. */
import type { CartOutcome } from '../../engine/cart-outcome.js';
import type { Failure } from '../../failure.js';
import { formatDate } from '../../tax/date.js';
import { formatRate } from '../../tax/rate.js';
import { formatCents } from '../amount.js';
import { SUCCESS } from '../response-code.js';
import { answerCsvCart, isUnanswered, ofMerchant } from './cart-cells.js';
import type { CartAnswer } from './cart-row.js';
import type { RowColumns } from './columns.js';
import { csvCell, type Dialect } from './dialect.js';
import type { Mapping } from './mapping.js';
import { refusedCart, type RowEngine } from './row.js';

/** What is appended to every row, in order. */
export const CART_COLUMNS = [
  'situs_tax_rate', 'situs_tax_amount', 'situs_tax_state', 'situs_tax_date', 'situs_sourcing',
  'situs_note', 'situs_precision', 'situs_code', 'situs_message',
] as const;

const SOURCING = { origin: 'O', destination: 'D', mixed: 'M' } as const;

function join(cells: readonly string[], dialect: Dialect): string {
  return cells.map((cell) => dialect.delimiter + csvCell(cell, dialect)).join('');
}

function answered({ lines, marks }: CartOutcome): readonly string[] {
  const { rate, amount } = lines[0]!;
  const { state, date, sourcing, precision, estimated, stale } = marks;
  const note = [...(estimated ? ['estimated'] : []), ...(stale ? ['stale'] : [])].join(' ');
  return [
    formatRate(rate), formatCents(amount), state, formatDate(date), SOURCING[sourcing], note,
    precision, String(SUCCESS.code), '',
  ];
}

function refusedColumns(answer: CartAnswer, dialect: Dialect): RowColumns {
  const { code, message = '', field = null } = answer;
  const empty = CART_COLUMNS.slice(0, -2).map(() => '');
  return {
    code, geo: false, message, field, text: join([...empty, String(code), message], dialect),
  };
}

/** The columns of a row without an answer: all empty but code and message. */
export function refuseCart(failure: Failure, dialect: Dialect): RowColumns {
  return refusedColumns(refusedCart(failure), dialect);
}

/** Calculates the cart of a row. */
export function cartColumns(
  engine: RowEngine, cells: readonly string[], mapping: Mapping, decoded: boolean,
  dialect: Dialect,
): RowColumns {
  const found = answerCsvCart(engine, cells, mapping, decoded);
  if (isUnanswered(found)) return refusedColumns(found, dialect);
  return {
    code: SUCCESS.code, geo: true, merchant: ofMerchant(engine), message: '',
    text: join(answered(found.outcome), dialect),
  };
}
