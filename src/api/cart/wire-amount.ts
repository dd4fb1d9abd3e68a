/**
 * Prices and quantities of carts: from JSON numbers to exact integers and back. A double stands for
 * the decimal that was written if that has at most 15 significant digits (`json-digits` finds
 * longer ones), and the shortest text of the double is that decimal.
 */
import { Piece, type ByteWriter } from '../../base/byte-writer.js';
import { QUANTITY_ONE } from '../../engine/cart/outcome.js';
import { type Exact, exactOf } from '../../tax/exact.js';

/** Highest unit price, in dollars. */
export const PRICE_MAX = 1_000_000_000;
/** Decimals that a price may have; amounts are stored in 10⁻⁹ dollars. */
export const PRICE_DECIMALS_MAX = 9;
/** Decimals that a quantity may have. */
export const QUANTITY_DECIMALS_MAX = 4;

const CENTS = 100;
const NANO_PER_CENT = 10_000_000;
const EXPONENT = /^(\d+)(?:\.(\d+))?e([+-]\d+)$/;

/** The digits of a number, and how many of them are decimals. */
function decimalOf(value: number): { readonly digits: string; readonly scale: number } {
  const text = String(value);
  const found = EXPONENT.exec(text);
  if (found === null) {
    const [whole = '', fraction = ''] = text.split('.');
    return { digits: whole + fraction, scale: fraction.length };
  }
  const [, whole = '', fraction = '', power = '0'] = found;
  return { digits: whole + fraction, scale: fraction.length - Number(power) };
}

/** Reads a price as 10⁻⁹ dollars; null when it has more decimals. */
export function readPrice(price: number): Exact | null {
  const cents = Math.round(price * CENTS);
  // The double nearest to whole cents is the number with two decimals, so the price is exact.
  if (Number.isSafeInteger(cents) && cents / CENTS === price) {
    const nano = cents * NANO_PER_CENT;
    return Number.isSafeInteger(nano) ? nano : BigInt(cents) * BigInt(NANO_PER_CENT);
  }
  const { digits, scale } = decimalOf(price);
  if (scale > PRICE_DECIMALS_MAX) return null;
  return exactOf(BigInt(digits) * 10n ** BigInt(PRICE_DECIMALS_MAX - scale));
}

/** Reads a quantity as ten-thousandths; null when it has more decimals. */
export function readQuantity(quantity: number): number | null {
  const scaled = Math.round(quantity * QUANTITY_ONE);
  return scaled / QUANTITY_ONE === quantity ? scaled : null;
}

/**
 * Fewer cents are printed from a table, in a third of the time. In 10⁻⁹ dollars they are a safe
 * integer.
 */
const SHORT_CENTS_MAX = 900_000_000;
/** The decimals of a number of cents: "", ".01" to ".99". */
const CENT_TEXTS: readonly string[] = Array.from({ length: CENTS }, (_, cents) =>
  String(cents / CENTS).slice(1),
);

/** Prints whole cents as the shortest decimal, "7.5". */
function formatCents(cents: number): string {
  const dollars = Math.trunc(cents / CENTS);
  return `${dollars}${CENT_TEXTS[cents - dollars * CENTS]}`;
}

const CENT_PIECES = CENT_TEXTS.map((text) => new Piece(text));

function writeCents(into: ByteWriter, cents: number): void {
  const dollars = Math.trunc(cents / CENTS);
  into.number(dollars);
  into.piece(CENT_PIECES[cents - dollars * CENTS]!);
}

/** Writes a number of dollars in the form of JSON. */
export function writePrice(into: ByteWriter, price: number): void {
  const cents = Math.round(price * CENTS);
  if (cents >= 0 && cents < SHORT_CENTS_MAX && cents / CENTS === price) writeCents(into, cents);
  else into.number(price);
}

const NANO_DIGITS = 9;
const NANO = 1_000_000_000n;
/** A smaller amount of five decimals has at most fifteen digits, so a double prints it exactly. */
const SHORT_MAX = 1_000_000_000_000_000_000n;
const NANO_PER_SHORT = 10_000n;
const SHORT_ONE = 100_000;

/** Prints 10⁻⁹ dollars as the shortest decimal: "7.75", "1.45528", "0". */
export function formatDollars(amount: Exact): string {
  const cents = Number(amount) / NANO_PER_CENT;
  // Doubles of this size lie closer together than 10⁻⁷, so only whole cents give an integer.
  if (cents < SHORT_CENTS_MAX && Number.isInteger(cents)) return formatCents(cents);
  const nano = BigInt(amount);
  const short = nano / NANO_PER_SHORT;
  if (short * NANO_PER_SHORT === nano && nano < SHORT_MAX) {
    return String(Number(short) / SHORT_ONE);
  }
  const whole = nano / NANO;
  const rest = nano - whole * NANO;
  if (rest === 0n) return String(whole);
  return `${whole}.${String(rest).padStart(NANO_DIGITS, '0').replace(/0+$/, '')}`;
}

/** Writes what `formatDollars` prints. */
export function writeDollars(into: ByteWriter, amount: Exact): void {
  const cents = Number(amount) / NANO_PER_CENT;
  if (cents < SHORT_CENTS_MAX && Number.isInteger(cents)) writeCents(into, cents);
  else into.text(formatDollars(amount));
}
