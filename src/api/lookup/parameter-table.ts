/**
 * The parameters of lookups, each defined once: what values it may have, since which version,
 * whether a row of a file may have it, and its description. Readers, rows and descriptions are
 * derived from this table.
 */
import { RELEASE_NAME } from '../../dataset/release.js';
import { oneOf, type Schema } from '../../base/json-schema.js';
import { longerThan } from '../../base/validator.js';
import { dateOf, type DateInt } from '../../tax/date.js';
import { COUNTRIES } from '../../tax/jurisdiction.js';
import { parseDollars } from '../../tax/amount.js';
import { FORMATS, type ApiVersion } from '../../wire/tree.js';

/** Longest address, in characters. */
export const ADDRESS_CHARS_MAX = 100;
/** Longest state, city or county, in characters. */
export const NAME_CHARS_MAX = 50;
/**
 * Values of `adjustment`. `auto` drops the rates of the postal city where an address lies outside
 * it, and the county's apply. Every address is answered like that, so the other values change
 * nothing.
 */
export const ADJUSTMENTS = ['auto', 'origin', 'destination'] as const;

/** Longest free text of `adjustment` in version 50. */
export const ADJUSTMENT_CHARS_MAX = 100;

const CONTROL = /[\0-\x1f\x7f-\x9f]/;
const LINE_SPACE = /[\t\r\n]+/g;
const LETTER = /\p{L}/u;
const NUMBER = /^[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?$/;
const MONTH = /^[0-9]{6}$/;
export const LAT_DEGREES_MAX = 90;
export const LNG_DEGREES_MAX = 180;
export const ZIP = /^[0-9]{5}$/;
export const STATE_CODE = /^[A-Z]{2}$/;
export const TAXABILITY = /^[A-Za-z0-9]{1,10}$/;

/**
 * An address as one line; line ends and tabs become spaces. Null when it has other control
 * characters, is too long or blank.
 */
export function parseAddressLine(text: string): string | null {
  if (longerThan(text, ADDRESS_CHARS_MAX)) return null;
  let line = text.trim();
  if (CONTROL.test(line)) {
    line = line.replace(LINE_SPACE, ' ');
    if (CONTROL.test(line)) return null;
  }
  return line === '' ? null : line;
}

/** The name of a place; null when it cannot be one. */
export function parsePlaceName(text: string): string | null {
  if (longerThan(text, NAME_CHARS_MAX) || CONTROL.test(text) || !LETTER.test(text)) return null;
  return text.trim();
}

/** A county's name or number; null when it is too long or has control characters. */
export function parseCounty(text: string): string | null {
  return longerThan(text, NAME_CHARS_MAX) || CONTROL.test(text) ? null : text.trim();
}

const MINUS = 45;
const POINT = 46;
/** Whole numbers of up to so many digits are exact in a double. */
const EXACT_FIGURES_MAX = 15;
const POWERS_OF_TEN = Array.from({ length: EXACT_FIGURES_MAX + 1 }, (_, power) => 10 ** power);

/**
 * Reads a number of a few digits with at most one decimal point; null for any other notation. The
 * two numbers that are divided are exact, so the quotient is the nearest double.
 */
export function plainNumber(text: string, start: number, end: number): number | null {
  if (end - start > EXACT_FIGURES_MAX) return null;
  const from = text.charCodeAt(start) === MINUS ? start + 1 : start;
  let whole = 0;
  let count = 0;
  let point = -1;
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === POINT && point < 0) point = count;
    else if (code < 48 || code > 57) return null;
    else {
      whole = whole * 10 + code - 48;
      count += 1;
    }
  }
  if (count === 0) return null;
  const size = point < 0 ? whole : whole / POWERS_OF_TEN[count - point]!;
  return from > start ? -size : size;
}

/**
 * Degrees within ±`max`; null for anything else. A '+' sign in a query string arrives as a space.
 */
export function parseDegrees(text: string, max: number): number | null {
  const plain = plainNumber(text, 0, text.length);
  if (plain !== null) return Math.abs(plain) <= max ? plain : null;
  const number = text.trim();
  if (!NUMBER.test(number)) return null;
  const degrees = Number(number);
  return Math.abs(degrees) <= max ? degrees : null;
}

/** A single article's total in 10⁻⁹ dollars; null when negative or not a number. */
export function parseTotal(text: string): bigint | null {
  return parseDollars(text.trim());
}

/** The first day of a month written YYYYMM; null when there is no such month. */
export function parseMonth(text: string): DateInt | null {
  return MONTH.test(text) ? dateOf(Number(text.slice(0, 4)), Number(text.slice(4)), 1) : null;
}

/** true or false in any case; null for anything else. */
export function parseBoolean(text: string): boolean | null {
  if (text === 'true' || text === 'false') return text === 'true';
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : null;
}

interface ParameterEntry {
  /** The first version that has it; earlier ones ignore it. */
  readonly since: ApiVersion;
  /**
   * Whether a row of a file may have it; null if not. A shared one may also be given once for the
   * whole file, for rows without a value of their own.
   */
  readonly row: 'own' | 'shared' | null;
  readonly schema: Schema;
  /** The schema of versions before `until`. */
  readonly before?: { readonly until: ApiVersion; readonly schema: Schema };
  readonly description: string;
}

function pattern({ source }: RegExp): Schema {
  return { type: 'string', pattern: source };
}

function upTo(max: number): Schema {
  return { type: 'string', maxLength: max };
}

function degrees(max: number): Schema {
  return { type: 'number', minimum: -max, maximum: max };
}

const FLAG: Schema = { type: 'boolean', default: false };

// biome-ignore format: a parameter in few lines, what it is in the last of them
const TABLE = {
  format: {
    since: 10, row: null, schema: { ...oneOf(FORMATS), default: 'json' },
    description: 'Format of the answer, refusals included; in any case.',
  },
  countryCode: {
    since: 50, row: 'shared', schema: { ...oneOf(COUNTRIES), default: 'USA' },
    description: 'Country of the address or coordinates. CAN needs rate_loc_can, else code 112.',
  },
  postalcode: {
    since: 10, row: 'own', schema: pattern(ZIP),
    description: 'A five-digit ZIP. Lists every combination of rates that overlaps it.',
  },
  address: {
    since: 10, row: 'own', schema: upTo(ADDRESS_CHARS_MAX),
    description: 'A street address on one line. Goes before lat and lng.',
  },
  state: {
    since: 10, row: 'own', schema: upTo(NAME_CHARS_MAX),
    before: { until: 50, schema: pattern(STATE_CODE) },
    description: 'Name or abbreviation; narrows a list by postalcode.',
  },
  stateCode: {
    since: 50, row: 'own', schema: pattern(STATE_CODE),
    description: 'Abbreviation; narrows a list by postalcode.',
  },
  city: {
    since: 10, row: 'own', schema: upTo(NAME_CHARS_MAX),
    description: 'Narrows a list by postalcode.',
  },
  county: {
    since: 50, row: 'own', schema: upTo(NAME_CHARS_MAX),
    description: 'Narrows a list by postalcode.',
  },
  lat: {
    since: 50, row: 'own', schema: degrees(LAT_DEGREES_MAX),
    description: 'Latitude in degrees, with lng. Goes before postalcode.',
  },
  lng: {
    since: 50, row: 'own', schema: degrees(LNG_DEGREES_MAX),
    description: 'Longitude in degrees, with lat.',
  },
  adjustment: {
    since: 50, row: 'shared',
    schema: { ...oneOf(ADJUSTMENTS), default: 'auto' },
    before: { until: 60, schema: upTo(ADJUSTMENT_CHARS_MAX) },
    description: 'auto drops the rates of the postal city where the address lies outside it, '
      + 'as every answer does; the others change nothing.',
  },
  sat_item_total: {
    since: 50, row: 'shared', schema: { type: 'number', minimum: 0 },
    description: 'Total of a single article in dollars. v50 answers with satTaxDetail.',
  },
  historical: {
    since: 50, row: 'shared', schema: pattern(MONTH),
    description: 'A past month, YYYYMM; its first day counts. Needs historical, else code 107.',
  },
  taxabilityCode: {
    since: 60, row: 'shared', schema: pattern(TAXABILITY),
    description: 'A product code, which adds productDetail. Needs product_rates: without it codes '
      + 'of digits are refused with code 113, and others add nothing.',
  },
  addressDetailExtended: {
    since: 60, row: 'shared', schema: FLAG, description: 'Adds addressDetail.address.',
  },
  shippingExtended: {
    since: 60, row: 'shared', schema: FLAG, description: 'Adds shipping.shippingExtended.',
  },
  explain: {
    since: 60, row: 'shared', schema: FLAG,
    description: 'Adds explain: the boundary, each rate and the source of each.',
  },
  dataset: {
    since: 10, row: null, schema: { type: 'string', pattern: RELEASE_NAME.source },
    description: 'A kept dataset that answers in place of the active one. Needs historical, else '
      + 'code 107.',
  },
  at: {
    since: 10, row: null, schema: { type: 'string', format: 'date-time' },
    description: 'The moment that today is told from, with dataset; now unless given.',
  },
  receipt: {
    since: 10, row: null, schema: FLAG,
    description: 'Adds the header X-Situs-Receipt, with which the same answer can be given again.',
  },
} as const satisfies Readonly<Record<string, ParameterEntry>>;

export type ParameterName = keyof typeof TABLE;

function isName(name: string): name is ParameterName {
  return Object.hasOwn(TABLE, name);
}

/** Every parameter, in the order in which they are described and rows are checked. */
export const PARAMETER_NAMES: readonly ParameterName[] = Object.keys(TABLE).filter(isName);

const entryOf = (name: ParameterName): ParameterEntry => TABLE[name];

/** The version that introduced a parameter. */
export function firstVersion(name: ParameterName): ApiVersion {
  return entryOf(name).since;
}

/** Parameters that a version introduced; earlier versions ignore them. */
export function parametersSince(version: ApiVersion): readonly ParameterName[] {
  return PARAMETER_NAMES.filter((name) => entryOf(name).since === version);
}

/** Names of the parameters that a version has; it ignores all others. */
export function parameterNames(version: ApiVersion): readonly ParameterName[] {
  return PARAMETER_NAMES.filter((name) => entryOf(name).since <= version);
}

/** Parameters that a row of a file may have; `format` belongs to the whole file. */
export const ROW_PARAMETERS: readonly ParameterName[] = PARAMETER_NAMES.filter(
  (name) => entryOf(name).row !== null,
);

/** Parameters that may be given once for all rows without a value of their own. */
export const SHARED_PARAMETERS: readonly ParameterName[] = PARAMETER_NAMES.filter(
  (name) => entryOf(name).row === 'shared',
);

/** The description and schema of a parameter in a version. */
export function describedParameter(
  name: ParameterName,
  version: ApiVersion,
): { readonly description: string; readonly schema: Schema } {
  const { description, schema, before } = entryOf(name);
  return {
    description,
    schema: before !== undefined && version < before.until ? before.schema : schema,
  };
}

type Texts = Record<ParameterName, string | null>;

/** Parameters of lookups as decoded text; null where absent. */
export interface RawParameters extends Texts {
  /** Whether an address was sent, even an empty one. */
  addressSent: boolean;
  /** Parameters whose value is not valid percent-encoded UTF-8. */
  undecodable: readonly ParameterName[];
}
