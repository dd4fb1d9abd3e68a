/**
 * Writes calculated carts as their endpoints answer them: those of merchants with addresses in
 * parts or on one line, others with addresses on one line.
 */
import { Piece, type ByteWriter } from '../../base/byte-writer.js';
import { RecentCache } from '../../base/tables.js';
import type { CartOutcome, LineOutcome } from '../../engine/cart/outcome.js';
import { formatRate, type Rate } from '../../tax/rate.js';
import type { ReadCalculation } from './calculation.js';
import type { SentAddress } from './cart-shape.js';
import type { ReadCart, RepeatedLine, SentPlace } from './merchant-cart.js';
import { writeDollars, writePrice } from './wire-amount.js';

/** Constant text between the values of an answer. */
const PIECES = {
  cartId: new Piece('{"cartId":'),
  customerId: new Piece(',"customerId":'),
  currencyAndOrigin: new Piece(',"currency":{"currencyCode":"USD"},"origin":'),
  origin: new Piece(',"origin":'),
  destination: new Piece(',"destination":'),
  lines: new Piece(',"lineItems":['),
  address: new Piece('{"address":'),
  line1: new Piece('{"line1":'),
  line2: new Piece(',"line2":'),
  city: new Piece(',"city":'),
  state: new Piece(',"state":'),
  zip: new Piece(',"zip":'),
  country: new Piece(',"countryCode":"US"}'),
  index: new Piece('{"index":'),
  itemId: new Piece(',"itemId":'),
  price: new Piece(',"price":'),
  originalPrice: new Piece(',"originalPrice":'),
  quantity: new Piece(',"quantity":'),
  tic: new Piece(',"tic":'),
  none: new Piece('null'),
  firstItemId: new Piece('{"itemId":'),
  nextItemId: new Piece(',{"itemId":'),
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;

function writeAddress(into: ByteWriter, { line1, line2, city, state, zip }: SentAddress): void {
  into.piece(PIECES.line1);
  into.json(line1);
  if (line2 !== undefined && line2 !== null) {
    into.piece(PIECES.line2);
    into.json(line2);
  }
  into.piece(PIECES.city);
  into.json(city);
  into.piece(PIECES.state);
  into.json(state);
  into.piece(PIECES.zip);
  into.json(zip);
  into.piece(PIECES.country);
}

function writePlace(into: ByteWriter, place: SentPlace): void {
  if (place.address === undefined) return writeAddress(into, place);
  into.piece(PIECES.address);
  into.json(place.address);
  into.byte(CLOSE_BRACE);
}

/** How many rates have their text kept; rates have five decimals and repeat from line to line. */
const RATES_MAX = 4_096;
const RATES = new RecentCache<Rate, Piece>(RATES_MAX);
/**
 * The last two rates with their text, since most carts have one ordinary rate and lines without
 * tax.
 */
let last = { rate: Number.NaN as Rate, piece: PIECES.none };
let before = last;

/** The text of a line's tax that precedes the amount. */
function taxPiece(rate: Rate): Piece {
  if (last.rate === rate) return last.piece;
  const known = before.rate === rate ? before : { rate, piece: keptPiece(rate) };
  before = last;
  last = known;
  return known.piece;
}

function keptPiece(rate: Rate): Piece {
  let piece = RATES.get(rate);
  if (piece === undefined) {
    piece = new Piece(`,"tax":{"rate":${formatRate(rate)},"amount":`);
    RATES.set(rate, piece);
  }
  return piece;
}

/** Writes how a line or a cart came about; nothing where `explain` is null. */
function writeExplanation(into: ByteWriter, explain: object | null): void {
  if (explain !== null) into.text(`,"explain":${JSON.stringify(explain)}`);
}

/** Writes the tax of a line and the end of the line. */
function writeTax(into: ByteWriter, { amount, rate, explain }: LineOutcome): void {
  into.piece(taxPiece(rate));
  writeDollars(into, amount);
  into.byte(CLOSE_BRACE);
  writeExplanation(into, explain);
  into.byte(CLOSE_BRACE);
}

function writeLine(into: ByteWriter, line: RepeatedLine, outcome: LineOutcome): void {
  into.piece(PIECES.index);
  into.number(line.index);
  into.piece(PIECES.itemId);
  into.json(line.itemId);
  into.piece(PIECES.price);
  const from = into.length;
  if (typeof line.price === 'bigint') writeDollars(into, line.price);
  else writePrice(into, line.price);
  const to = into.length;
  into.piece(PIECES.originalPrice);
  into.again(from, to);
  into.piece(PIECES.quantity);
  into.number(line.quantity);
  into.piece(PIECES.tic);
  if (line.tic === undefined || line.tic === null) into.piece(PIECES.none);
  else into.number(line.tic);
  writeTax(into, outcome);
}

/** Writes the id of a cart: one that the caller sent, or the characters of a new one. */
function writeId(into: ByteWriter, id: string | Uint8Array): void {
  into.piece(PIECES.cartId);
  if (typeof id === 'string') return into.json(id);
  into.byte(QUOTE);
  into.copy(id);
  into.byte(QUOTE);
}

/** Writes a calculated cart. `cartId` is what the caller sent or a new id. */
export function writeCart(
  into: ByteWriter,
  { sent }: ReadCart,
  outcome: CartOutcome,
  cartId: string | Uint8Array,
): void {
  const { lineItems } = sent;
  writeId(into, cartId);
  into.piece(PIECES.customerId);
  into.json(sent.customerId);
  into.piece(PIECES.currencyAndOrigin);
  writePlace(into, sent.origin);
  into.piece(PIECES.destination);
  writePlace(into, sent.destination);
  into.piece(PIECES.lines);
  for (let at = 0; at < lineItems.length; at += 1) {
    if (at > 0) into.byte(COMMA);
    writeLine(into, lineItems[at]!, outcome.lines[at]!);
  }
  into.byte(CLOSE_BRACKET);
  writeExplanation(into, outcome.explain);
  into.byte(CLOSE_BRACE);
}

/** Writes a calculated cart of no merchant. */
export function writeCalculation(
  into: ByteWriter,
  { sent }: ReadCalculation,
  outcome: CartOutcome,
  cartId: string | Uint8Array,
): void {
  const { customerId, destination, origin, lineItems } = sent;
  writeId(into, cartId);
  into.piece(PIECES.customerId);
  into.json(customerId);
  into.piece(PIECES.destination);
  writePlace(into, destination);
  into.piece(PIECES.origin);
  writePlace(into, origin);
  into.piece(PIECES.lines);
  for (let at = 0; at < lineItems.length; at += 1) {
    const { itemId, price, quantity } = lineItems[at]!;
    into.piece(at === 0 ? PIECES.firstItemId : PIECES.nextItemId);
    into.json(itemId);
    into.piece(PIECES.price);
    writePrice(into, price);
    into.piece(PIECES.quantity);
    into.number(quantity);
    writeTax(into, outcome.lines[at]!);
  }
  into.byte(CLOSE_BRACKET);
  writeExplanation(into, outcome.explain);
  into.byte(CLOSE_BRACE);
}
