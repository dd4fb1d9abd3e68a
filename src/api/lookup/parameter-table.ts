/**
 * The parameters of lookups, each said once: since which version, where a row of a file may have
 * it, and how it is described. Readers, rows and descriptions are derived from this table.
 */
import { oneOf, type Schema } from '../../base/json-schema.js';
import { ADJUSTMENTS } from '../../engine/query.js';
import { COUNTRIES } from '../../tax/jurisdiction.js';
import {
  ADDRESS_CHARS_MAX, ADJUSTMENT_CHARS_MAX, LAT_DEGREES_MAX, LNG_DEGREES_MAX, MONTH, NAME_CHARS_MAX,
  STATE_CODE, TAXABILITY, ZIP,
} from './parameter.js';
import { FORMATS, type ApiVersion } from '../../wire/version.js';

interface ParameterEntry {
  /** The first version that knows it; earlier ones ignore it. */
  readonly since: ApiVersion;
  /** Rows of a file may have it; one said for the whole file holds for rows without. */
  readonly row: 'own' | 'shared' | null;
  readonly schema: Schema;
  /** What versions before `until` take in its place. */
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
    schema: { ...oneOf(ADJUSTMENTS.filter((name) => name !== 'none')), default: 'auto' },
    before: { until: 60, schema: upTo(ADJUSTMENT_CHARS_MAX) },
    description: 'auto adjusts sourcing outside cities; the others change nothing.',
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
    description: 'A product code, which adds productDetail. Codes of digits need product_rates, '
      + 'else code 113.',
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
} as const satisfies Readonly<Record<string, ParameterEntry>>;

export type ParameterName = keyof typeof TABLE;

function isName(name: string): name is ParameterName {
  return Object.hasOwn(TABLE, name);
}

/** Every parameter, in the order in which they are described and faults of rows are looked for. */
export const PARAMETER_NAMES: readonly ParameterName[] = Object.keys(TABLE).filter(isName);

const entryOf = (name: ParameterName): ParameterEntry => TABLE[name];

/** Parameters that came with a version: earlier ones ignore them. */
export function parametersSince(version: ApiVersion): readonly ParameterName[] {
  return PARAMETER_NAMES.filter((name) => entryOf(name).since === version);
}

/** Names of the parameters that a version knows; it ignores all others. */
export function parameterNames(version: ApiVersion): readonly ParameterName[] {
  return PARAMETER_NAMES.filter((name) => entryOf(name).since <= version);
}

/** Parameters of a row of a file; `format` is the file's. */
export const ROW_PARAMETERS: readonly ParameterName[] =
  PARAMETER_NAMES.filter((name) => entryOf(name).row !== null);

/** Parameters that may be said once for every row without a value of its own. */
export const SHARED_PARAMETERS: readonly ParameterName[] =
  PARAMETER_NAMES.filter((name) => entryOf(name).row === 'shared');

/** How a version describes a parameter. */
export function describedParameter(
  name: ParameterName, version: ApiVersion,
): { readonly description: string; readonly schema: Schema } {
  const { description, schema, before } = entryOf(name);
  return {
    description, schema: before !== undefined && version < before.until ? before.schema : schema,
  };
}
