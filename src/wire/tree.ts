/**
 * Bodies as ordered trees, so that every version is described once and printed as JSON or XML.
 * Numbers that are not small integers travel as the decimal text of an exact integer.
 */
import { formatMicrodegrees, toMicrodegrees, type Microdegrees } from '../geo/microdegrees.js';
import { formatRate, type Rate } from '../tax/rate.js';

export interface Decimal {
  readonly decimal: string;
}

export type WireValue = string | number | boolean | null | Decimal | WireObject | WireList;
/** Members print in the order they were written. */
export interface WireObject {
  readonly [name: string]: WireValue;
}
/** Objects, or plain texts. */
export type WireList = readonly (WireObject | string)[];

/** Tells a decimal from an object or a list; no object has a member of that name. */
export function isDecimal(value: Decimal | WireObject | WireList): value is Decimal {
  return 'decimal' in value;
}

/** Tells a list from an object. */
export function isList(value: WireObject | WireList): value is WireList {
  return Array.isArray(value);
}

/** A rate as its shortest decimal fraction. */
export function rateOf(rate: Rate): Decimal {
  return { decimal: formatRate(rate) };
}

/** Degrees with at most six decimals. */
export function degreesOf(value: Microdegrees): Decimal {
  return { decimal: formatMicrodegrees(value) };
}

/** Degrees as a caller gave them, without an exponent. */
export function echoText(degrees: number): string {
  // Whole microdegrees, as nearly all are: their digits are these, and cost far less to print.
  const micro = toMicrodegrees(degrees);
  if (micro / 1e6 === degrees) return formatMicrodegrees(micro);
  const text = String(degrees);
  return text.includes('e') ? formatMicrodegrees(micro) : text;
}

/** The same as a value. */
export function echoOf(degrees: number): Decimal {
  return { decimal: echoText(degrees) };
}

/** What JSON escapes; lone surrogates are among them, so that bodies are always valid UTF-8. */
const ESCAPED = /["\\\0-\x1f\ud800-\udfff]/;

/** Members of an object without its braces. */
export function jsonMembers(object: WireObject): string {
  let text = '';
  for (const name in object) {
    if (text !== '') text += ',';
    text += `"${name}":${jsonValue(object[name] ?? null)}`;
  }
  return text;
}

/** One value. */
export function jsonValue(value: WireValue): string {
  if (typeof value === 'string') return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (isDecimal(value)) return value.decimal;
  if (!isList(value)) return `{${jsonMembers(value)}}`;
  return `[${value.map((item) => jsonValue(item)).join(',')}]`;
}
