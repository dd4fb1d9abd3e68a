/** The cells of a CSV row to a cart of one line, and its answer. */
import { GRANT_GEO } from '../../pool/types.js';
import { type CartQuery, QUANTITY_ONE } from '../../engine/cart/cart-query.js';
import type { CartOutcome } from '../../engine/cart/outcome.js';
import { formatDate, parseDate } from '../../tax/date.js';
import { formatRate } from '../../tax/rate.js';
import {
  formatDollars,
  PRICE_DECIMALS_MAX,
  PRICE_MAX,
  QUANTITY_DECIMALS_MAX,
  QUANTITY_MAX,
} from '../../api/cart/wire-amount.js';
import type { ByteWriter } from '../../base/byte-writer.js';
import { ticOf } from '../../api/cart/cart-text.js';
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
  writePlace,
} from './cart-parameters.js';
import { calculated, itemOf, itemWith, NO_GEO, ofBareCart, rowCartId } from './cart-row.js';
import type { Table } from './chunk-payload.js';
import type { CartRole, Mapping } from './mapping.js';
import { noRequest, UNREADABLE } from './row-parameters.js';
import {
  refused,
  refusedCart,
  type CsvRow,
  type Place,
  type RowAnswer,
  type RowEngine,
} from './row.js';

const DECIMAL = /^(\d{0,20})(?:\.(\d{0,40}))?$/;
const TRAILING_ZEROS = /0+$/;

/**
 * Reads a decimal without sign as an integer of 10^-decimals.
 * @returns null for anything else, and where it has finer digits
 */
function parseDecimal(text: string, decimals: number): bigint | null {
  const found = DECIMAL.exec(text);
  if (found === null) return null;
  const [, whole = '', written = ''] = found;
  if (whole === '' && written === '') return null;
  const fraction = written.replace(TRAILING_ZEROS, '');
  return fraction.length > decimals ? null : BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Decimals of a dollar in amounts, whatever the shape of the addresses. */
const AMOUNT_DIGITS = 2;
/** Characters of the ids of items and customers. */
const NAME_CHARS_MAX = 50;
/** Ids where the file has none. */
const ITEM = 'item';
const CUSTOMER = 'customer';

const DOLLAR = 10n ** BigInt(PRICE_DECIMALS_MAX);
const TIC_MAX = 100_000;

/** A cart that was read. */
interface CsvCart {
  readonly query: CartQuery;
  readonly customerId: string;
  /** As sent; null without one. */
  readonly tic: number | null;
}

/** The parts of a row that are no places. */
interface Sold {
  readonly price: bigint;
  /** In ten-thousandths. */
  readonly quantity: number;
  readonly tic: number | null;
  readonly instantMs: number | null;
}

function wrong(field: CartRole, what: string): Failure {
  return noRequest(`Parameter ${field}: ${what}`, field);
}

/** Noon in Greenwich is on the same day in every state and territory. */
function momentOf(text: string): number | null {
  const date = parseDate(text);
  return date === null ? parseInstant(text) : Date.parse(`${formatDate(date)}T12:00:00Z`);
}

function readSold(cell: Cell): Sold | Failure {
  const price = parseDecimal(cell('price'), PRICE_DECIMALS_MAX);
  if (price === null || price > BigInt(PRICE_MAX) * DOLLAR) {
    return wrong(
      'price',
      `0 to ${PRICE_MAX} with at most ${PRICE_DECIMALS_MAX} decimals, like 49.99.`,
    );
  }
  const quantity = parseDecimal(cell('quantity') || '1', QUANTITY_DECIMALS_MAX);
  if (quantity === null || Number(quantity) > Math.round(QUANTITY_MAX * QUANTITY_ONE)) {
    return wrong(
      'quantity',
      `0 to ${QUANTITY_MAX} with at most ${QUANTITY_DECIMALS_MAX} decimals, like 1.5.`,
    );
  }
  const code = cell('taxabilityCode');
  if (!/^\d{0,6}$/.test(code) || Number(code) > TIC_MAX) {
    return wrong('taxabilityCode', `a whole number up to ${TIC_MAX}.`);
  }
  const date = cell('transactionDate');
  const instantMs = date === '' ? null : momentOf(date);
  if (date !== '' && instantMs === null) {
    return wrong('transactionDate', 'a date like 2026-08-07, or an RFC 3339 date and time.');
  }
  const tic = code === '' ? null : Number(code);
  return { price, quantity: Number(quantity), tic, instantMs };
}

/** Reads a row. */
function readCart(
  cells: readonly string[],
  mapping: Mapping,
  { run: { defaults } }: RowEngine,
  decoded: boolean,
): CsvCart | Failure {
  let unreadable: CartRole | null = null;
  const cell: Cell = (role) => {
    const column = mapping[role];
    const text = column === undefined ? '' : (cells[column] ?? '').trim();
    if (!decoded && text.includes(UNREADABLE)) unreadable ??= role;
    return text;
  };
  const sold = readSold(cell);
  const [itemId, customerId] = [cell('itemId') || ITEM, cell('customerId') || CUSTOMER];
  const destination = readPlace(cell, DESTINATION) ?? wrong('destination', 'not given.');
  const origin =
    readPlace(cell, ORIGIN) ??
    (defaults.origin === undefined
      ? wrong('origin', 'not given.')
      : linePlace(defaults.origin, 'origin'));
  if (unreadable !== null) return wrong(unreadable, 'not valid UTF-8.');
  if (isFailure(sold)) return sold;
  for (const [role, name] of [
    ['itemId', itemId],
    ['customerId', customerId],
  ] as const) {
    if (name.length > NAME_CHARS_MAX) return wrong(role, `up to ${NAME_CHARS_MAX} characters.`);
  }
  if (isFailure(destination)) return destination;
  if (isFailure(origin)) return origin;
  const { price, quantity, tic, instantMs } = sold;
  const { mode, level, explain } = cartOptions(defaults);
  return {
    customerId,
    tic,
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

function cartLine({ query, tic }: CsvCart, { lines }: CartOutcome): string {
  const { itemId, price, quantity } = query.lines[0]!;
  const { amount, rate, explain } = lines[0]!;
  const dollars = formatDollars(price);
  return (
    `{"index":0,"itemId":${JSON.stringify(itemId)},"price":${dollars},` +
    `"originalPrice":${dollars},"quantity":${quantity / QUANTITY_ONE},"tic":${tic ?? 'null'},` +
    `"tax":{"rate":${formatRate(rate)},"amount":${formatDollars(amount)}}` +
    `${explain === null ? '' : `,"explain":${JSON.stringify(explain)}`}}`
  );
}

/** Writes the cart as its endpoint answers it. */
function writeCart(into: ByteWriter, cart: CsvCart, outcome: CartOutcome, id: string): void {
  const {
    query: { origin, destination },
    customerId,
  } = cart;
  const explain = outcome.explain === null ? '' : `,"explain":${JSON.stringify(outcome.explain)}`;
  into.text(
    `{"cartId":"${id}","customerId":${JSON.stringify(customerId)},` +
      '"currency":{"currencyCode":"USD"},"origin":',
  );
  writePlace(into, origin);
  into.text(',"destination":');
  writePlace(into, destination);
  into.text(`,"lineItems":[${cartLine(cart, outcome)}]${explain}}`);
}

/** Answers a row of the table. */
export function answerCsvCart(
  engine: RowEngine,
  { dialect, mapping }: Table,
  { cells, decoded }: CsvRow,
  place: Place,
): RowAnswer {
  const { run, grants } = engine;
  const ofMerchant = merchantOf(run.defaults) !== null;
  if (!ofMerchant && (grants & GRANT_GEO) === 0) return refusedCart(NO_GEO);
  const cart = readCart(cells, mapping, engine, decoded);
  if (isFailure(cart)) return refused(engine, cart);
  const { bytes, start, stop, line } = place;
  return ofBareCart(
    calculated(engine, cart.query, ofMerchant, (outcome) =>
      run.output === 'csv'
        ? [cartColumns(outcome, dialect)]
        : itemWith(
            itemOf((into) =>
              writeCart(
                into,
                cart,
                outcome,
                rowCartId(run.name, line, bytes.subarray(start, stop)),
              ),
            ),
            situsJson(outcome.marks),
          ),
    ),
  );
}
