/** Checks the parameters of lookups for their version, and makes the engine's query of them. */
import { longerThan } from '../../base/validator.js';
import { GRANT_CANADA, GRANT_GEO, GRANT_HISTORICAL, GRANT_PRODUCT } from '../../pool/types.js';
import {
  type LookupOptions,
  type LookupQuery,
  type ZipQuery,
  pointQuery,
} from '../../engine/lookup-query.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import { COUNTRIES, type Country } from '../../tax/jurisdiction.js';
import {
  ADDRESS_CHARS_MAX,
  ADJUSTMENT_CHARS_MAX,
  ADJUSTMENTS,
  LAT_DEGREES_MAX,
  LNG_DEGREES_MAX,
  NAME_CHARS_MAX,
  parametersSince,
  parseAddressLine,
  parseBoolean,
  parseCounty,
  parseDegrees,
  parseMonth,
  parsePlaceName,
  parseTotal,
  STATE_CODE,
  TAXABILITY,
  ZIP,
  type ParameterName,
  type RawParameters,
} from './parameter-table.js';
import type { KeptAsked } from './kept.js';
import type { Format } from '../../wire/tree.js';
import { formatOf } from './query-string.js';
import { isReleaseName } from '../../dataset/release.js';
import { parseInstant } from '../../wire/instant.js';

const ADDRESS_FORM =
  `Parameter address: 1 to ${ADDRESS_CHARS_MAX} characters, ` + 'not blank, no control characters.';
const STANDARD_TIC = /^[0-9]+$/;

/** The refusal of a parameter that does not have its form; `form` describes that form. */
export function wrongParameter(name: string, form: string): Failure {
  return fail('invalid-format', `Parameter ${name}: ${form}`, name);
}

function placeNameForm(name: string): string {
  return (
    `Parameter ${name}: up to ${NAME_CHARS_MAX} characters with a letter among them, ` +
    'no control characters.'
  );
}

const SINCE_50 = parametersSince(50);
const SINCE_60 = parametersSince(60);

function ignore(raw: RawParameters, names: readonly ParameterName[]): void {
  for (const name of names) raw[name] = null;
  raw.undecodable = raw.undecodable.filter((name) => !names.includes(name));
}

/** Checks the ZIP and the names of places, which any lookup may have. */
function checkTexts(raw: RawParameters, version: number): Failure | null {
  const { postalcode, state, stateCode, city, county } = raw;
  if (postalcode !== null && !ZIP.test(postalcode)) {
    return fail('invalid-postal-code', 'Parameter postalcode: five digits.');
  }
  if (state !== null) {
    const valid = version < 50 ? STATE_CODE.test(state) : parsePlaceName(state) !== null;
    if (!valid) {
      return fail(
        'invalid-state',
        version < 50 ? 'Parameter state: two capital letters.' : placeNameForm('state'),
      );
    }
  }
  if (stateCode !== null && !STATE_CODE.test(stateCode)) {
    return fail('invalid-state', 'Parameter stateCode: two capital letters.', 'stateCode');
  }
  if (city !== null && parsePlaceName(city) === null) {
    return fail('invalid-city', placeNameForm('city'));
  }
  if (county !== null && parseCounty(county) === null) {
    return wrongParameter('county', `up to ${NAME_CHARS_MAX} characters, no control characters.`);
  }
  return null;
}

/** What is wrong with an adjustment. All values have the same effect, see `ADJUSTMENTS`. */
function checkAdjustment(text: string | null, version: number): Failure | null {
  if (text === null) return null;
  if (version < 60) {
    return longerThan(text, ADJUSTMENT_CHARS_MAX)
      ? wrongParameter('adjustment', `up to ${ADJUSTMENT_CHARS_MAX} characters.`)
      : null;
  }
  return ADJUSTMENTS.some((each) => each === text)
    ? null
    : wrongParameter('adjustment', `one of ${ADJUSTMENTS.join(', ')}.`);
}

/** Reads all parameters but the location. */
function readOptions(raw: RawParameters, version: number): LookupOptions | Failure {
  const country = raw.countryCode === null ? 'USA' : countryOf(raw.countryCode);
  if (country === null) return wrongParameter('countryCode', `one of ${COUNTRIES.join(', ')}.`);
  const failure = checkAdjustment(raw.adjustment, version);
  if (failure !== null) return failure;
  const satItemTotal = raw.sat_item_total === null ? null : parseTotal(raw.sat_item_total);
  if (satItemTotal === null && raw.sat_item_total !== null) {
    return wrongParameter('sat_item_total', 'a number, 0 or more.');
  }
  const date = raw.historical === null ? null : parseMonth(raw.historical);
  if (date === null && raw.historical !== null) {
    return fail('invalid-historical', 'Parameter historical: a month written YYYYMM.');
  }
  const { taxabilityCode } = raw;
  if (taxabilityCode !== null && !TAXABILITY.test(taxabilityCode)) {
    return wrongParameter('taxabilityCode', '1 to 10 letters and digits.');
  }
  const addressDetailExtended = booleanOf(raw.addressDetailExtended);
  const shippingExtended = booleanOf(raw.shippingExtended);
  const explain = booleanOf(raw.explain);
  if (addressDetailExtended === null || shippingExtended === null || explain === null) {
    return fail(
      'invalid-format',
      'Parameters addressDetailExtended, shippingExtended and explain: true or false.',
      addressDetailExtended === null
        ? 'addressDetailExtended'
        : shippingExtended === null
          ? 'shippingExtended'
          : 'explain',
    );
  }
  return {
    country,
    date,
    addressDetailExtended,
    shippingExtended,
    taxabilityCode,
    satItemTotal,
    ...(explain ? { explain } : {}),
  };
}

function countryOf(text: string): Country | null {
  return COUNTRIES.find((country) => country === text) ?? null;
}

function booleanOf(text: string | null): boolean | null {
  return text === null ? false : parseBoolean(text);
}

/** Chooses the location: an address before coordinates, and these before a postal code. */
function readLocation(
  raw: RawParameters,
  version: number,
  options: LookupOptions,
): LookupQuery | Failure {
  const lat = raw.lat === null ? null : parseDegrees(raw.lat, LAT_DEGREES_MAX);
  const lng = raw.lng === null ? null : parseDegrees(raw.lng, LNG_DEGREES_MAX);
  if (lat === null && raw.lat !== null) return wrongParameter('lat', 'a number from -90 to 90.');
  if (lng === null && raw.lng !== null) return wrongParameter('lng', 'a number from -180 to 180.');
  if (raw.address !== null) {
    const address = parseAddressLine(raw.address);
    return address === null
      ? fail('address-incomplete', ADDRESS_FORM)
      : { kind: 'address', address, options };
  }
  if (lat !== null && lng !== null) return pointQuery(lat, lng, options);
  if (raw.postalcode !== null) {
    const { postalcode: zip, state, stateCode, city, county } = raw;
    return {
      kind: 'postal',
      zip,
      state: state?.trim() ?? '',
      stateCode: stateCode ?? '',
      city: city?.trim() ?? '',
      county: county?.trim() ?? '',
      options,
    };
  }
  if (raw.addressSent) return fail('address-incomplete', ADDRESS_FORM);
  return fail(
    'invalid-postal-code',
    version < 50
      ? 'Give an address or a postalcode.'
      : 'Give an address, both lat and lng, or a postalcode.',
  );
}

const NO_GEOCODING =
  'The key has no lookups by address or coordinates, or their quota of this ' + 'month is used up.';

/** The refusal of a parameter that asks for the past. */
function noHistory(name: ParameterName): Failure {
  return fail('feature-not-enabled', `Parameter ${name}: the key has no historical data.`, name);
}

/** Reads the parameters about kept releases, or tells what is wrong with them. */
export function readKept({
  dataset,
  at,
  receipt,
}: Pick<RawParameters, 'dataset' | 'at' | 'receipt'>): KeptAsked | Failure {
  if (dataset !== null && !isReleaseName(dataset)) {
    return wrongParameter('dataset', 'the name of a dataset, as X-Situs-Dataset tells it.');
  }
  const atMs = at === null ? null : parseInstant(at);
  if (at !== null && (atMs === null || dataset === null)) {
    return wrongParameter(
      'at',
      'a date and time with a zone, as RFC 3339 has it (2026-05-31T12:00:00Z), beside dataset.',
    );
  }
  const wanted = receipt === null ? false : parseBoolean(receipt);
  if (wanted === null) {
    return wrongParameter('receipt', 'true or false.');
  }
  return { dataset, atMs, receipt: wanted };
}

/** Why the key of the request may not ask this; null where it may. */
function refused({ kind, options }: LookupQuery, grants: number): Failure | null {
  const { country, date, taxabilityCode } = options;
  const geocoded = kind !== 'postal';
  if (geocoded && (grants & GRANT_GEO) === 0) return fail('feature-not-enabled', NO_GEOCODING);
  if (country === 'CAN' && (grants & GRANT_CANADA) === 0) return fail('international-not-enabled');
  if (date !== null && (grants & GRANT_HISTORICAL) === 0) return noHistory('historical');
  // Lists by postal code have no product rules. A code that is not only digits is not refused but
  // left out, see `granted`.
  if (
    geocoded &&
    taxabilityCode !== null &&
    STANDARD_TIC.test(taxabilityCode) &&
    (grants & GRANT_PRODUCT) === 0
  ) {
    return fail('product-rules-not-enabled');
  }
  return null;
}

/**
 * The query that is answered: without the entitlement it has no product code, whatever the code is.
 */
function granted(query: LookupQuery, grants: number): LookupQuery {
  if (query.options.taxabilityCode === null || (grants & GRANT_PRODUCT) !== 0) return query;
  return { ...query, options: { ...query.options, taxabilityCode: null } };
}

export interface ParsedQuery {
  readonly format: Format;
  /** The release that has to answer; null for any. */
  readonly dataset: string | null;
  /** The moment that the answer has to be for, in milliseconds since 1970; null for any. */
  readonly atMs: number | null;
  readonly query: LookupQuery;
}

/** Reads parameters of any origin as `parseQuery` reads a query string; `raw` is changed. */
export function parseParameters(
  raw: RawParameters,
  version: number,
  grants: number,
): ParsedQuery | Failure {
  if (version < 50) ignore(raw, SINCE_50);
  if (version < 60) ignore(raw, SINCE_60);
  const [undecodable] = raw.undecodable;
  if (undecodable !== undefined) return wrongParameter(undecodable, 'not valid UTF-8.');
  const format = formatOf(raw.format);
  if (format === null) return wrongParameter('format', 'json or xml.');
  const failure = checkTexts(raw, version);
  if (failure !== null) return failure;
  const options = readOptions(raw, version);
  if (isFailure(options)) return options;
  const kept = readKept(raw);
  if (isFailure(kept)) return kept;
  const query = readLocation(raw, version, options);
  if (isFailure(query)) return query;
  const { dataset, atMs } = kept;
  if (dataset !== null && (grants & GRANT_HISTORICAL) === 0) return noHistory('dataset');
  return refused(query, grants) ?? { format, query: granted(query, grants), dataset, atMs };
}

/**
 * Whether a query has only a ZIP, for today: its answer depends only on the dataset and the date.
 */
export function isPlainZip({ options, state, stateCode, city, county }: ZipQuery): boolean {
  if (options.date !== null || options.explain === true) return false;
  return state === '' && stateCode === '' && city === '' && county === '';
}
