/** Reads the cells of a CSV row as a cart of one line, and answers it. */
import { GRANT_GEO } from '../../pool/types.js';
import { QUANTITY_MAX, QUANTITY_ONE, TIC_MAX } from '../../engine/cart/outcome.js';
import { formatDate, parseDate } from '../../tax/date.js';
import {
  PRICE_DECIMALS_MAX,
  PRICE_MAX,
  QUANTITY_DECIMALS_MAX,
} from '../../api/cart/wire-amount.js';
import { longerThan } from '../../base/validator.js';
import { ticOf } from '../../api/cart/cart-text.js';
import { AMOUNT_DIGITS, type ReadCart } from '../../api/cart/merchant-cart.js';
import { writeCart } from '../../api/cart/print-cart.js';
import { PROVIDER_ID_CHARS_MAX } from '../../api/merchant/relay-shape.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { parseInstant } from '../../wire/instant.js';
import { isFailure, type Failure } from '../../failure.js';
import { situsJson } from '../../wire/situs-note.js';
import { cartColumns } from './columns.js';
import {
  cartOptions,
  type Cell,
  DESTINATION,
  linePlace,
  merchantOf,
  ORIGIN,
  readPlace,
  sentPlace,
} from './cart-parameters.js';
import { calculated, itemOf, itemWith, NOT_GEOCODED, rowCartId } from './cart-row.js';
import type { Table } from './chunk-payload.js';
import type { CartRole, Mapping } from './mapping.js';
import { cellAt, UNREADABLE } from './row-parameters.js';
import { refused, type CsvRow, type Place, type RowAnswer, type RowEngine } from './row.js';

const DECIMAL = /^(\d{0,20})(?:\.(\d{0,40}))?$/;
const TRAILING_ZEROS = /0+$/;

/**
 * Reads a decimal without a sign as an integer of 10^-decimals.
 * @returns null for anything else, and for a number with more decimals
 */
function parseDecimal(text: string, decimals: number): bigint | null {
  const found = DECIMAL.exec(text);
  if (found === null) return null;
  const [, whole = '', written = ''] = found;
  if (whole === '' && written === '') return null;
  const fraction = written.replace(TRAILING_ZEROS, '');
  return fraction.length > decimals ? null : BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Ids for rows without one. */
const ITEM = 'item';
const CUSTOMER = 'customer';

const DOLLAR = 10n ** BigInt(PRICE_DECIMALS_MAX);

/** The members of a row except its places. */
interface Sold {
  /** In 10⁻⁹ dollars. */
  readonly price: bigint;
  /** In ten-thousandths. */
  readonly quantity: number;
  readonly tic: number | null;
  readonly instantMs: number | null;
}

/**
 * The moment of a sale. For a date it is noon in Greenwich, which is on the same day in every state
 * and territory.
 */
function momentOf(text: string): number | null {
  const date = parseDate(text);
  return date === null ? parseInstant(text) : Date.parse(`${formatDate(date)}T12:00:00Z`);
}

function readSold(cell: Cell): Sold | Failure {
  const price = parseDecimal(cell('price'), PRICE_DECIMALS_MAX);
  if (price === null || price > BigInt(PRICE_MAX) * DOLLAR) {
    return wrongParameter(
      'price',
      `0 to ${PRICE_MAX} with at most ${PRICE_DECIMALS_MAX} decimals, like 49.99.`,
    );
  }
  const quantity = parseDecimal(cell('quantity') || '1', QUANTITY_DECIMALS_MAX);
  if (quantity === null || Number(quantity) > Math.round(QUANTITY_MAX * QUANTITY_ONE)) {
    return wrongParameter(
      'quantity',
      `0 to ${QUANTITY_MAX} with at most ${QUANTITY_DECIMALS_MAX} decimals, like 1.5.`,
    );
  }
  const code = cell('taxabilityCode');
  if (!/^\d{0,6}$/.test(code) || Number(code) > TIC_MAX) {
    return wrongParameter('taxabilityCode', `a whole number up to ${TIC_MAX}.`);
  }
  const date = cell('transactionDate');
  const instantMs = date === '' ? null : momentOf(date);
  if (date !== '' && instantMs === null) {
    return wrongParameter(
      'transactionDate',
      'a date like 2026-08-07, or an RFC 3339 date and time.',
    );
  }
  const tic = code === '' ? null : Number(code);
  return { price, quantity: Number(quantity), tic, instantMs };
}

/**
 * Reads a row as a cart of one line. Its amounts have as many decimals as those of a merchant's
 * cart.
 */
function readCart(
  cells: readonly string[],
  mapping: Mapping,
  { run: { defaults } }: RowEngine,
  decoded: boolean,
): ReadCart | Failure {
  let unreadable: CartRole | null = null;
  const cell: Cell = (role) => {
    const text = cellAt(cells, mapping[role]);
    if (!decoded && text.includes(UNREADABLE)) unreadable ??= role;
    return text;
  };
  const sold = readSold(cell);
  const [itemId, customerId] = [cell('itemId') || ITEM, cell('customerId') || CUSTOMER];
  const destination = readPlace(cell, DESTINATION) ?? wrongParameter('destination', 'not given.');
  const origin =
    readPlace(cell, ORIGIN) ??
    (defaults.origin === undefined
      ? wrongParameter('origin', 'not given.')
      : linePlace(defaults.origin, 'origin'));
  if (unreadable !== null) return wrongParameter(unreadable, 'not valid UTF-8.');
  if (isFailure(sold)) return sold;
  for (const [role, name] of [
    ['itemId', itemId],
    ['customerId', customerId],
  ] as const) {
    if (!longerThan(name, PROVIDER_ID_CHARS_MAX)) continue;
    return wrongParameter(role, `up to ${PROVIDER_ID_CHARS_MAX} characters.`);
  }
  if (isFailure(destination)) return destination;
  if (isFailure(origin)) return origin;
  const { price, quantity, tic, instantMs } = sold;
  const { mode, level, explain } = cartOptions(defaults);
  return {
    sent: {
      customerId,
      origin: sentPlace(origin),
      destination: sentPlace(destination),
      lineItems: [{ index: 0, itemId, price, quantity: quantity / QUANTITY_ONE, tic }],
    },
    query: {
      instantMs,
      origin,
      destination,
      explain,
      lines: [{ index: 0, itemId, price, quantity, tic: ticOf(tic) }],
      rounding: { mode, level, digits: AMOUNT_DIGITS },
    },
  };
}

/**
 * Names the column at fault: a refusal of the row's only line is about its product code, if it has
 * one.
 */
function inCells(answer: RowAnswer, { query }: ReadCart): RowAnswer {
  const { refusal } = answer;
  if (refusal?.field?.startsWith('lineItems') !== true) return answer;
  const field = query.lines[0]?.tic == null ? null : 'taxabilityCode';
  return { ...answer, refusal: { ...refusal, field } };
}

/** Answers a row of a table of carts. */
export function answerCsvCart(
  engine: RowEngine,
  { dialect, mapping }: Table,
  { cells, decoded }: CsvRow,
  place: Place,
): RowAnswer {
  const { run, grants } = engine;
  const ofMerchant = merchantOf(run.defaults) !== null;
  if (!ofMerchant && (grants & GRANT_GEO) === 0) return NOT_GEOCODED;
  const cart = readCart(cells, mapping, engine, decoded);
  if (isFailure(cart)) return refused(engine, cart);
  const { bytes, start, stop, line } = place;
  const answer = calculated(engine, cart.query, ofMerchant, 'tic', 'row', (outcome) =>
    run.output === 'csv'
      ? [cartColumns(outcome, dialect)]
      : itemWith(
          itemOf((into) =>
            writeCart(into, cart, outcome, rowCartId(run.name, line, bytes.subarray(start, stop))),
          ),
          situsJson(outcome.marks),
        ),
  );
  return inCells(answer, cart);
}
