/**
 * The versions and formats of lookups, and bodies as ordered trees, so that each version is
 * described once and printed as JSON or XML. A number that is no small integer is given as the
 * decimal text of an exact integer. In XML, each member is an element, in the same order; a list
 * repeats the element of its name; null and empty text are empty elements.
 */
import { formatMicrodegrees, toMicrodegrees, type Microdegrees } from '../geo/microdegrees.js';
import { formatRate, type Rate } from '../tax/rate.js';

export const API_VERSIONS = [10, 20, 30, 40, 50, 60] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

export const FORMATS = ['json', 'xml'] as const;
export type Format = (typeof FORMATS)[number];

export interface Decimal {
  readonly decimal: string;
}

export type WireValue = string | number | boolean | null | Decimal | WireObject | WireList;
/** Members are printed in the order in which they were written. */
export interface WireObject {
  readonly [name: string]: WireValue;
}
/** A list of objects, or of texts. */
export type WireList = readonly (WireObject | string)[];

/** Tells a decimal from an object or a list; no object has a member of that name. */
function isDecimal(value: Decimal | WireObject | WireList): value is Decimal {
  return 'decimal' in value;
}

function isList(value: WireObject | WireList): value is WireList {
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

/** Degrees to print: microdegrees, or a text where more digits were given. */
export type Degrees = Microdegrees | string;

/** Degrees as the caller gave them, without an exponent. */
export function echoed(degrees: number): Degrees {
  // Nearly all are whole microdegrees, whose digits are the same and cost far less to print.
  const micro = toMicrodegrees(degrees);
  if (micro / 1e6 === degrees) return micro;
  const text = String(degrees);
  return text.includes('e') ? formatMicrodegrees(micro) : text;
}

/** The same as a decimal number of an answer. */
export function echoOf(degrees: number): Decimal {
  const found = echoed(degrees);
  return { decimal: typeof found === 'number' ? formatMicrodegrees(found) : found };
}

/**
 * Characters that JSON must escape. Lone surrogates are among them, so that bodies are always valid
 * UTF-8.
 */
const ESCAPED = /["\\\0-\x1f\ud800-\udfff]/;

/** The members of an object as JSON, without its braces. */
export function jsonMembers(object: WireObject): string {
  let text = '';
  for (const name in object) {
    if (text !== '') text += ',';
    text += `"${name}":${jsonValue(object[name] ?? null)}`;
  }
  return text;
}

/** A value as JSON. */
export function jsonValue(value: WireValue): string {
  if (typeof value === 'string') return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (isDecimal(value)) return value.decimal;
  if (!isList(value)) return `{${jsonMembers(value)}}`;
  return `[${value.map((item) => jsonValue(item)).join(',')}]`;
}

const SPECIAL = /[&<>\r\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;
const MARKUP = /[&<>\r]/g;
/**
 * Characters that XML 1.0 cannot contain, even escaped: controls, lone surrogates and two
 * noncharacters.
 */
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
};

/** Escapes a text for XML. */
export function xmlText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replace(ILLEGAL, '\ufffd').replace(MARKUP, (mark) => ENTITIES[mark] ?? mark);
}

/** An element; a list becomes an element for each item. */
export function xmlElement(name: string, value: WireValue): string {
  if (value === null || value === '') return `<${name}></${name}>`;
  if (typeof value === 'string') return `<${name}>${xmlText(value)}</${name}>`;
  if (typeof value !== 'object') return `<${name}>${value}</${name}>`;
  if (isDecimal(value)) return `<${name}>${value.decimal}</${name}>`;
  if (!isList(value)) return `<${name}>${xmlMembers(value)}</${name}>`;
  return value.map((item) => xmlElement(name, item)).join('');
}

/** The elements of an object's members. */
export function xmlMembers(object: WireObject): string {
  let text = '';
  for (const name in object) text += xmlElement(name, object[name] ?? null);
  return text;
}

/** Matches texts and numbers of JSON. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*/g;

/**
 * The same for members that are printed as JSON. Their decimals are read as texts, since numbers
 * would be rounded.
 */
export function xmlOfMembers(json: Uint8Array): string {
  const texts = Buffer.from(json)
    .toString('utf8')
    .replace(JSON_TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`));
  return xmlMembers(JSON.parse(`{${texts}}`) as WireObject);
}

/** Prints members in a format. */
export function printMembers(object: WireObject, format: Format): string {
  return format === 'json' ? jsonMembers(object) : xmlMembers(object);
}
