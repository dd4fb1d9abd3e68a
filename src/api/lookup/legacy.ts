/**
 * Rows in an envelope. Versions 10 to 50 have them for one place or for every part of a ZIP,
 * version 60 only for a ZIP.
 */
import { bytesOfParts } from '../../base/byte-writer.js';
import type { Engine } from '../../engine/engine.js';
import type { LookupQuery, PostalOutcome, SitusOutcome } from '../../engine/lookup-query.js';
import { isFailure, type Failure } from '../../failure.js';
import {
  jsonMembers,
  jsonValue,
  printMembers,
  xmlElement,
  type ApiVersion,
  type Format,
  type WireObject,
} from '../../wire/tree.js';
import { legacyClose, legacyOpen, SUCCESS, V60_XML_OPEN } from '../../wire/response-code.js';
import {
  addressDetail,
  bodyEnd,
  fragmentOf,
  VARIANTS,
  type RatedArea,
  type Rendered,
  type RuledArea,
  staleFlag,
  type Variant,
  explanation,
} from './fragment.js';
import type { WireContext } from './context.js';
import {
  basicFields,
  districtFields,
  districtSums,
  partFields,
  sourcingField,
} from './legacy-row.js';
import { formatRate, RATE_ONE, type Rate } from '../../tax/rate.js';
import { formatCents } from '../../tax/amount.js';

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

function taxOn(amount: bigint, rate: Rate): bigint {
  return (amount * BigInt(rate)) / BigInt(RATE_ONE);
}

/**
 * The member `satTaxDetail` of v50: the tax on one expensive article in a state that taxes it
 * specially (local tax up to a limit, an additional state tax on the bracket above it). The
 * document "single-article" of the dataset says where and how; without it this member is left out.
 * All its members are text. `appliedTotal` is the sum of the local and the additional state tax.
 */
function satTaxDetail(
  engine: Engine,
  query: LookupQuery,
  { area, date, rates }: SitusOutcome,
): WireObject | null {
  const total = query.options.satItemTotal;
  if (query.kind !== 'address' || total === null || total <= 0n) return null;
  const rule = engine.singleArticle(area.state, date);
  if (rule === null) return null;
  const stateRate = rates.rows.reduce(
    (sum, { component, sales }) => (component.level === 'state' ? sum + sales : sum),
    0,
  );
  const localRate = (rates.sales - stateRate) as Rate;
  const local = taxOn(least(total, rule.localLimit), localRate);
  const bracket = least(total, rule.bracketEnd) - rule.localLimit;
  const additional = bracket > 0n ? taxOn(bracket, rule.additionalRate) : 0n;
  return {
    appliedTotal: formatCents(local + additional),
    countyTaxRate: formatRate(localRate),
    localTaxLimit: formatCents(rule.localLimit),
    localTaxTotal: formatCents(local),
    stateAdditionalTaxTotal: formatCents(additional),
  };
}

/** The fields that a version's rows have after geoPostalCode and geoCity. */
interface RowShape {
  /** The key under which fragments of these fields are cached. */
  readonly variant: Variant;
  readonly fields: (ruled: RuledArea) => WireObject;
}

/** In what one legacy version differs from another. */
interface LegacyVersion {
  readonly row: RowShape;
  /** Printed members after the rows; '' for none. */
  after(
    engine: Engine,
    query: LookupQuery,
    outcome: SitusOutcome | PostalOutcome,
    format: Format,
  ): string;
}

/** What a row is printed from: its area, and the ZIP and city that depend on the request. */
interface RowPlace extends RatedArea {
  readonly zip: string;
  readonly city: string;
}

const PLUS_FOUR = /^\d{5}-\d{4}$/;

/** The rows of an outcome. */
function placesOf(outcome: SitusOutcome | PostalOutcome): readonly RowPlace[] {
  if (outcome.kind === 'postal') return outcome.rows;
  const { situs, area, date, rates } = outcome;
  const zip = PLUS_FOUR.test(situs.postalCode) ? situs.postalCode.slice(0, 5) : situs.postalCode;
  return [{ area, date, rates, zip, city: (area.placeName || situs.city).toUpperCase() }];
}

/** The rows as bytes; `element` is the name of a row in XML. */
function renderRows(
  context: WireContext,
  engine: Engine,
  places: readonly RowPlace[],
  shape: RowShape,
  format: Format,
  element: string,
): Rendered | Failure {
  const body: Uint8Array[] = [];
  const close = format === 'json' ? '}' : `</${element}>`;
  let flags = 0;
  let before = '';
  for (const place of places) {
    const fragment = fragmentOf(context, engine, place, shape.variant, format, (ruled) =>
      bytesOfParts([printMembers(shape.fields(ruled), format)]),
    );
    if (isFailure(fragment)) return fragment;
    body.push(Buffer.from(before + rowOpen(place, format, element), 'utf8'), fragment.bytes);
    flags |= fragment.flags | staleFlag(place);
    before = format === 'json' ? '},' : close;
  }
  if (places.length > 0) body.push(Buffer.from(close, 'utf8'));
  return { body, flags };
}

function rowOpen({ zip, city }: RowPlace, format: Format, element: string): string {
  return format === 'json'
    ? `{"geoPostalCode":${jsonValue(zip)},"geoCity":${jsonValue(city)},`
    : `<${element}>${xmlElement('geoPostalCode', zip)}${xmlElement('geoCity', city)}`;
}

/** Parts by level and the sum of the districts, so that the parts add up to the total. */
const ROW_18: RowShape = {
  variant: VARIANTS.row18,
  fields: (ruled) => ({ ...basicFields(ruled), ...partFields(ruled), ...districtSums(ruled) }),
};

/** Parts by level, the sum of the districts, each of five districts and the sourcing: 34 fields. */
const ROW_34: RowShape = {
  variant: VARIANTS.row34,
  fields: (ruled) => ({
    ...basicFields(ruled),
    ...partFields(ruled),
    ...districtSums(ruled),
    ...districtFields(ruled),
    ...sourcingField(ruled),
  }),
};

const VERSIONS: Readonly<Record<Exclude<ApiVersion, 60>, LegacyVersion>> = {
  // Totals only: eight fields in a row.
  10: { row: { variant: VARIANTS.row8, fields: basicFields }, after: () => '' },
  20: { row: ROW_18, after: () => '' },
  // The structure of version 20 under another name.
  30: { row: ROW_18, after: () => '' },
  40: { row: ROW_34, after: () => '' },
  // The rows of version 40 with addressDetail and, where it applies, satTaxDetail.
  50: {
    row: ROW_34,
    after: (engine, query, outcome, format) => {
      if (outcome.kind === 'postal') return printMembers({ addressDetail: NOT_GEOCODED }, format);
      const detail = { addressDetail: addressDetail(query, outcome) };
      const sat = satTaxDetail(engine, query, outcome);
      return printMembers(sat === null ? detail : { ...detail, satTaxDetail: sat }, format);
    },
  },
};

/** The answer of a legacy version. */
export function renderLegacy(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome | PostalOutcome,
  format: Format,
  version: Exclude<ApiVersion, 60>,
): Rendered | Failure {
  const legacy = VERSIONS[version];
  const places = placesOf(outcome);
  const rows = renderRows(context, engine, places, legacy.row, format, 'response');
  if (isFailure(rows)) return rows;
  const open = Buffer.from(legacyOpen(version, format), 'utf8');
  const after = legacy.after(engine, query, outcome, format);
  const close = Buffer.from(legacyClose(after, format), 'utf8');
  return { body: [open, ...rows.body, close], flags: rows.flags };
}

/** The `addressDetail` of a list by postal code, which is not geocoded; clients need the member. */
const NOT_GEOCODED: WireObject = {
  normalizedAddress: '',
  incorporated: '',
  geoLat: 0,
  geoLng: 0,
};

const LIST_HEAD = { version: 'v60', rCode: SUCCESS.code };

const LIST_OPEN: Readonly<Record<Format, Uint8Array>> = {
  json: Buffer.from(`{${jsonMembers(LIST_HEAD)},"results":[`),
  xml: Buffer.from(V60_XML_OPEN + printMembers(LIST_HEAD, 'xml')),
};
const LIST_CLOSE: Readonly<Record<Format, Uint8Array>> = {
  json: Buffer.from(listEnd('', 'json')),
  xml: Buffer.from(listEnd('', 'xml')),
};

function listEnd(explain: string, format: Format): string {
  return (format === 'json' ? ']' : '') + bodyEnd(NOT_GEOCODED, explain, format);
}

/** The answer of version 60 to a postal code: a list of rows. */
export function renderV60Postal(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  outcome: PostalOutcome,
  format: Format,
): Rendered | Failure {
  const rows = renderRows(context, engine, outcome.rows, ROW_34, format, 'results');
  if (isFailure(rows)) return rows;
  const explain = explanation(engine, query, outcome, format);
  const close = explain === '' ? LIST_CLOSE[format] : listEnd(explain, format);
  return { body: [LIST_OPEN[format], ...rows.body, close], flags: rows.flags };
}
