/** The columns that a row of a cart gets. */
import type { CartOutcome } from '../../engine/cart/outcome.js';
import { formatDate } from '../../tax/date.js';
import { formatRate } from '../../tax/rate.js';
import { formatCents } from '../../tax/amount.js';
import { SUCCESS } from '../../wire/response-code.js';
import { csvCells, type Dialect } from './dialect.js';

/** What is appended to every row, in order. */
export const CART_COLUMNS = [
  'situs_tax_rate', 'situs_tax_amount', 'situs_tax_state', 'situs_tax_date', 'situs_sourcing',
  'situs_note', 'situs_precision', 'situs_code', 'situs_message',
] as const;

const SOURCING = { origin: 'O', destination: 'D', mixed: 'M' } as const;

/** The columns of a cart of one line that was calculated. */
export function cartColumns({ lines, marks }: CartOutcome, dialect: Dialect): string {
  const { rate, amount } = lines[0]!;
  const { state, date, sourcing, precision, estimated, stale, unruled } = marks;
  const note = [
    ...(estimated ? ['estimated'] : []), ...(stale ? ['stale'] : []),
    ...(unruled.length > 0 ? ['unruled'] : []),
  ].join(' ');
  return csvCells([
    formatRate(rate), formatCents(amount), state, formatDate(date), SOURCING[sourcing], note,
    precision, String(SUCCESS.code), '',
  ], dialect);
}
