/**
 * Splits query strings of lookups into parameters. The first non-empty value of a repeated
 * parameter counts; an empty value counts as a parameter that was not sent.
 */
import { WordTable } from '../../base/tables.js';
import { FORMATS, type Format } from '../../wire/tree.js';
import { PARAMETER_NAMES, type ParameterName, type RawParameters } from './parameter-table.js';

const NO_NAMES: readonly ParameterName[] = [];
const NAMES = new WordTable(PARAMETER_NAMES.map((name) => [name, name] as const));

/**
 * The parameters of a query that has none. They are written out, since this runs for every lookup:
 * copying an object, or filling one name by name, takes twenty to two hundred times as long. The
 * type makes sure that every name of the table is here.
 */
export function noParameters(): RawParameters {
  return {
    format: null,
    countryCode: null,
    postalcode: null,
    address: null,
    state: null,
    stateCode: null,
    city: null,
    county: null,
    lat: null,
    lng: null,
    adjustment: null,
    sat_item_total: null,
    historical: null,
    taxabilityCode: null,
    addressDetailExtended: null,
    shippingExtended: null,
    explain: null,
    dataset: null,
    at: null,
    receipt: null,
    addressSent: false,
    undecodable: NO_NAMES,
  };
}

const AMPERSAND = 38;
const EQUALS = 61;
const PLUS = 43;
const SPACE = 32;
const PERCENT = 37;
const ASCII_MAX = 127;

/**
 * Decodes '+' and percent sequences; `raw` has one character for each byte. Bytes above ASCII that
 * were sent without encoding are read as UTF-8, like encoded ones. Null when they are not valid
 * UTF-8. The front end passes whole characters instead of bytes; those above 255 stay as they are.
 */
export function decodeValue(raw: string): string | null {
  try {
    return decodeURIComponent(
      raw.replaceAll('+', ' ').replace(/[^\0-\x7f]/gu, (char) => {
        const byte = char.codePointAt(0) ?? 0;
        return byte > 255 ? encodeURIComponent(char) : `%${byte.toString(16)}`;
      }),
    );
  } catch {
    return null;
  }
}

/** The value of each ASCII character as a hexadecimal digit; −1 for any other character. */
export const HEX_DIGITS = Int8Array.from({ length: ASCII_MAX + 1 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);

const { latin1Slice } = Buffer.prototype;

/** Memory in which values are decoded; longer values are left to `decodeValue`. */
export const DECODED = Buffer.allocUnsafeSlow(1024);

/** The common case of `decodeValue`: a value that is ASCII only; null for anything else. */
function decodeAscii(raw: string): string | null {
  if (raw.length > DECODED.length) return null;
  let length = 0;
  for (let at = 0; at < raw.length; at += 1) {
    let code = raw.charCodeAt(at);
    if (code === PLUS) {
      code = SPACE;
    } else if (code === PERCENT) {
      // Past the end of the text there is no hexadecimal digit, so −1 results.
      const high = HEX_DIGITS[raw.charCodeAt(at + 1) | 0] ?? -1;
      const low = HEX_DIGITS[raw.charCodeAt(at + 2) | 0] ?? -1;
      if (high < 0 || high > 7 || low < 0) return null;
      code = high * 16 + low;
      at += 2;
    } else if (code > ASCII_MAX) {
      return null;
    }
    DECODED[length] = code;
    length += 1;
  }
  return latin1Slice.call(DECODED, 0, length);
}

function store(into: RawParameters, key: string, raw: string, coded: boolean): void {
  const decoded = key.includes('%') ? decodeValue(key) : key;
  const name = decoded === null ? undefined : NAMES.get(decoded);
  if (name === undefined) return;
  if (name === 'address') into.addressSent = true;
  if (raw === '' || into[name] !== null) return;
  const value = coded ? (decodeAscii(raw) ?? decodeValue(raw)) : raw;
  if (value !== null) into[name] = value;
  else into.undecodable = [...into.undecodable, name];
}

/** Reads the known parameters of a query string that has no '?'. */
export function readParameters(text: string): RawParameters {
  const found = noParameters();
  const { length } = text;
  let start = 0;
  let equals = -1;
  let coded = false;
  for (let at = 0; at <= length; at += 1) {
    const char = at === length ? AMPERSAND : text.charCodeAt(at);
    if (char === AMPERSAND) {
      const end = equals < 0 ? at : equals;
      if (end > start) {
        const value = equals < 0 ? '' : text.slice(equals + 1, at);
        store(found, text.slice(start, end), value, coded);
      }
      start = at + 1;
      equals = -1;
      coded = false;
    } else if (equals < 0) {
      if (char === EQUALS) equals = at;
    } else if (char === PLUS || char === PERCENT || char > ASCII_MAX) {
      coded = true;
    }
  }
  return found;
}

export function formatOf(text: string | null): Format | null {
  if (text === null) return 'json';
  const lower = text.toLowerCase();
  return FORMATS.find((format) => format === lower) ?? null;
}

/**
 * The format that a query asks for, JSON where it asks for none; null where it is not a known one.
 */
export function formatStated(raw: string): Format | null {
  const { format, undecodable } = readParameters(raw);
  return undecodable.includes('format') ? null : formatOf(format);
}

/**
 * The format to refuse a query in, JSON where the query asks for none or its format is not known.
 */
export function formatAsked(raw: string): Format {
  return formatOf(readParameters(raw).format) ?? 'json';
}
