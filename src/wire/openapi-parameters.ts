/** Parameters of lookups as OpenAPI tells them, from the limits that the parser checks. */
import { KEY_CHARS_MAX, KEY_CHARS_MIN } from '../config.js';
import { ADJUSTMENTS } from '../engine/query.js';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../store/idempotency.js';
import { COUNTRIES } from '../tax/jurisdiction.js';
import {
  ADDRESS_CHARS_MAX, ADJUSTMENT_CHARS_MAX, MONTH, NAME_CHARS_MAX,
} from './parameter.js';
import type { ParameterName } from './query-string.js';
import {
  LAT_DEGREES_MAX, LNG_DEGREES_MAX, SINCE_50, SINCE_60, STATE_CODE, TAXABILITY, ZIP,
} from './query.js';
import { oneOf, type Schema } from './schema.js';
import { FORMATS, type ApiVersion } from './version.js';

/** One parameter of an operation. */
export interface Parameter extends Schema {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly schema: Schema;
}

interface Told {
  readonly schema: Schema;
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

/** Every parameter that the parser knows, as the newest version has it. */
const TOLD: Readonly<Record<ParameterName, Told>> = {
  format: {
    schema: { ...oneOf(FORMATS), default: 'json' },
    description: 'Format of the answer, refusals included; in any case.',
  },
  countryCode: {
    schema: { ...oneOf(COUNTRIES), default: 'USA' },
    description: 'Country of the address or coordinates. CAN needs rate_loc_can, else code 112.',
  },
  address: {
    schema: upTo(ADDRESS_CHARS_MAX),
    description: 'A street address on one line. Goes before lat and lng.',
  },
  lat: {
    schema: degrees(LAT_DEGREES_MAX),
    description: 'Latitude in degrees, with lng. Goes before postalcode.',
  },
  lng: { schema: degrees(LNG_DEGREES_MAX), description: 'Longitude in degrees, with lat.' },
  postalcode: {
    schema: pattern(ZIP),
    description: 'A five-digit ZIP. Lists every combination of rates that overlaps it.',
  },
  state: {
    schema: upTo(NAME_CHARS_MAX),
    description: 'Name or abbreviation; narrows a list by postalcode.',
  },
  stateCode: {
    schema: pattern(STATE_CODE), description: 'Abbreviation; narrows a list by postalcode.',
  },
  city: { schema: upTo(NAME_CHARS_MAX), description: 'Narrows a list by postalcode.' },
  county: { schema: upTo(NAME_CHARS_MAX), description: 'Narrows a list by postalcode.' },
  adjustment: {
    schema: { ...oneOf(ADJUSTMENTS.filter((name) => name !== 'none')), default: 'auto' },
    description: 'auto adjusts sourcing outside cities; the others change nothing.',
  },
  sat_item_total: {
    schema: { type: 'number', minimum: 0 },
    description: 'Total of a single article in dollars. v50 answers with satTaxDetail.',
  },
  historical: {
    schema: pattern(MONTH),
    description: 'A past month, YYYYMM; its first day counts. Needs historical, else code 107.',
  },
  taxabilityCode: {
    schema: pattern(TAXABILITY),
    description: 'A product code, which adds productDetail. Codes of digits need product_rates, '
      + 'else code 113.',
  },
  addressDetailExtended: { schema: FLAG, description: 'Adds addressDetail.address.' },
  shippingExtended: { schema: FLAG, description: 'Adds shipping.shippingExtended.' },
  explain: {
    schema: FLAG, description: 'Adds explain: the boundary, each rate and the source of each.',
  },
};

/** What earlier versions take differently. */
function schemaOf(name: ParameterName, version: ApiVersion): Schema {
  if (version < 50 && name === 'state') return pattern(STATE_CODE);
  if (version < 60 && name === 'adjustment') return upTo(ADJUSTMENT_CHARS_MAX);
  return TOLD[name].schema;
}

function isName(name: string): name is ParameterName {
  return Object.hasOwn(TOLD, name);
}

/** Names of the parameters that a version knows; it ignores all others. */
export function parameterNames(version: ApiVersion): readonly ParameterName[] {
  return Object.keys(TOLD).filter(isName).filter((name) =>
    (version >= 50 || !SINCE_50.includes(name)) && (version >= 60 || !SINCE_60.includes(name)));
}

/** The key where it is not in the header. */
export const KEY_PARAMETER: Parameter = {
  name: 'key', in: 'query',
  description: 'The API key, where it is not in the header X-API-KEY. The header wins.',
  schema: { type: 'string', minLength: KEY_CHARS_MIN, maxLength: KEY_CHARS_MAX },
};

/** Parameters of a version's lookups. */
export function lookupParameters(version: ApiVersion): readonly Parameter[] {
  return [KEY_PARAMETER, ...parameterNames(version).map((name): Parameter => (
    { name, in: 'query', description: TOLD[name].description, schema: schemaOf(name, version) }
  ))];
}

/** What makes a request that writes safe to send again. */
export const IDEMPOTENCY_PARAMETER: Parameter = {
  name: 'Idempotency-Key', in: 'header',
  description: 'Of the caller\'s making. The same key with the same body gets the first answer '
    + 'again, for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARS_MAX },
};

/** The format of families that answer in both. */
export const FORMAT_PARAMETER: Parameter = { name: 'format', in: 'query', ...TOLD.format };
