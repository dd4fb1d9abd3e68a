/** Version 60: the structured answer for a place. */
import type { Engine } from '../../engine/engine.js';
import type {
  LookupQuery,
  SitusOutcome,
  AreaRateRow,
  KnownRates,
} from '../../engine/lookup-query.js';
import type { BodyPart } from '../../pool/types.js';
import { isFailure, type Failure } from '../../failure.js';
import {
  printMembers,
  rateOf,
  type Format,
  type WireList,
  type WireObject,
  degreesOf,
  echoOf,
  echoed,
  type Degrees,
  printDegrees,
} from '../../wire/tree.js';
import { V60_XML_CLOSE } from '../../wire/response-code.js';
import {
  explanation,
  fragmentOf,
  isUnprinted,
  type Rendered,
  type RuledArea,
  staleFlag,
  VARIANTS,
  headOf,
} from './fragment.js';
import type { WireContext } from './context.js';
import { productDetail } from './product-detail.js';
import type { AreaRecord, StateRuleRecord } from '../../dataset/records.js';
import type { Level } from '../../tax/jurisdiction.js';
import type { Rate } from '../../tax/rate.js';
import { type ByteWriter, Piece, type Printed } from '../../base/byte-writer.js';
import { countryName } from '../../dataset/city-names.js';
import { normalizedAddress, type Situs } from '../../engine/situs.js';

/** Rates and rules of an area, as they stand in the answer. */
const LEVEL_LABELS: Readonly<Record<Level, string>> = {
  state: 'State',
  county: 'County',
  city: 'City',
  district: 'District',
};

const SERVICE_TEXTS: Readonly<Record<StateRuleRecord['serviceTaxable'], string>> = {
  Y: 'Services taxable',
  N: 'Services non-taxable',
  L: 'Services non-taxable, labor portion taxable',
};

const FREIGHT_TEXTS: Readonly<Record<StateRuleRecord['freightTaxable'], string>> = {
  Y: 'Freight taxable',
  N: 'Freight non-taxable',
};

const SOURCING_TEXTS: Readonly<Record<StateRuleRecord['sourcing'], string>> = {
  O: 'Origin Based Taxation',
  D: 'Destination Based Taxation',
};

function baseRate(row: AreaRateRow, rate: Rate, tax: 'Sales' | 'Use'): WireObject {
  const { level, jurName, jurCode } = row.component;
  return {
    rate: rateOf(rate),
    jurType: `US_${level.toUpperCase()}_${tax.toUpperCase()}_TAX`,
    jurName,
    jurDescription: `US ${LEVEL_LABELS[level]} ${tax} Tax`,
    jurTaxCode: jurCode,
  };
}

/** A Canadian levy is one row: there is no separate use tax. */
function levy(row: AreaRateRow, kind: string): WireObject {
  const { jurName, jurCode } = row.component;
  return {
    rate: rateOf(row.sales),
    jurType: kind,
    jurName,
    jurDescription: `Canada ${kind}`,
    jurTaxCode: jurCode,
  };
}

/** A sales and a use row per jurisdiction, in order; one row per levy where kinds are named. */
function baseRates({ rows }: KnownRates): WireList {
  return rows.flatMap((row) => {
    const { kind } = row.component;
    if (kind !== null) return [levy(row, kind)];
    return [baseRate(row, row.sales, 'Sales'), baseRate(row, row.use, 'Use')];
  });
}

function summary(rate: Rate, tax: 'Sales' | 'Use', displayRates: WireList): WireObject {
  return {
    rate: rateOf(rate),
    taxType: `${tax.toUpperCase()}_TAX`,
    summaryName: `Total Base ${tax} Tax`,
    displayRates,
  };
}

/** Totals: sales and use, or where kinds are named one total that displays them. */
function taxSummaries({ sales, use, rows }: KnownRates): WireList {
  const levies = rows.flatMap((row) =>
    row.component.kind === null ? [] : [{ name: row.component.kind, rate: rateOf(row.sales) }],
  );
  if (levies.length > 0) return [summary(sales, 'Sales', levies)];
  const total = (rate: Rate): WireList => [{ name: 'Total Rate', rate: rateOf(rate) }];
  return [summary(sales, 'Sales', total(sales)), summary(use, 'Use', total(use))];
}

function service({ serviceTaxable }: StateRuleRecord): WireObject {
  return {
    adjustmentType: 'SERVICE_TAXABLE',
    taxable: serviceTaxable,
    description: SERVICE_TEXTS[serviceTaxable],
  };
}

/** Freight; `area` is given where the extended part was asked for. */
function shipping(rules: StateRuleRecord, area: AreaRecord | null): WireObject {
  const { freightTaxable } = rules;
  const plain = {
    adjustmentType: 'FREIGHT_TAXABLE',
    taxable: freightTaxable,
    description: FREIGHT_TEXTS[freightTaxable],
  };
  if (area === null) return plain;
  const shippingExtended = {
    description: rules.freightDescription,
    exemptWhenSeparatelyStated: String(rules.freightExemptWhenSeparatelyStated),
    rule: rules.freightRule,
    stateCode: area.state,
    stateName: area.stateName,
  };
  return { ...plain, shippingExtended };
}

function sourcingRules({ sourcing }: StateRuleRecord): WireObject {
  return {
    adjustmentType: 'ORIGIN_DESTINATION',
    description: SOURCING_TEXTS[sourcing],
    value: sourcing,
  };
}

/** Everything that depends on the area, the day and `shippingExtended` alone. */
function areaPart({ area, rates, rules }: RuledArea, freight: boolean): WireObject {
  return {
    baseRates: baseRates(rates),
    service: service(rules),
    shipping: shipping(rules, freight ? area : null),
    sourcingRules: sourcingRules(rules),
    taxSummaries: taxSummaries(rates),
  };
}

/** Where the lookup led; coordinates are echoed as they were given. */
export function addressDetail(query: LookupQuery, { situs, area }: SitusOutcome): WireObject {
  const point = query.kind === 'point';
  const geoLat = point ? echoOf(query.latDegrees) : degreesOf(situs.lat);
  const geoLng = point ? echoOf(query.lngDegrees) : degreesOf(situs.lng);
  const incorporated = String(area.incorporated);
  const short = { normalizedAddress: normalizedAddress(situs), incorporated, geoLat, geoLng };
  const isLong = query.options.addressDetailExtended;
  return isLong ? { ...short, address: components(situs, area) } : short;
}

function components(situs: Situs, area: AreaRecord): WireObject {
  return {
    countryCode: area.country,
    countryName: countryName(area.country),
    stateCode: area.state,
    state: area.stateName,
    county: area.countyName,
    city: situs.city,
    street: situs.street,
    postalCode: situs.postalCode,
    houseNumber: situs.houseNumber,
  };
}

const OPEN = new Piece(',"addressDetail":{"normalizedAddress":"');
const INCORPORATED = new Piece('","incorporated":"true","geoLat":');
const UNINCORPORATED = new Piece('","incorporated":"false","geoLat":');
const LNG = new Piece(',"geoLng":');
const CLOSE = new Piece('}');

/** As `normalizedAddress` writes it, part by part. */
function printAddress(into: ByteWriter, { houseNumber, street, place }: Led['situs']): void {
  if (houseNumber !== '' || street !== '') {
    into.jsonPart(houseNumber);
    if (street !== '') into.text(' ');
    into.jsonPart(street);
    into.text(', ');
  }
  into.jsonPart(place);
}

/** What of an outcome is told. */
interface Led {
  readonly situs: Pick<Situs, 'houseNumber' | 'street' | 'place' | 'lat' | 'lng'>;
  readonly area: Pick<AreaRecord, 'incorporated'>;
}

/**
 * The short form of the member `addressDetail` as JSON, with the comma before it and `rest` behind
 * it. It is the part of an answer that is never kept, and is printed straight into bytes: to put
 * together a text first takes a thirtieth of a whole answer more.
 */
export class PlainDetail implements Printed {
  readonly #situs: Led['situs'];
  readonly #incorporated: boolean;
  readonly #lat: Degrees;
  readonly #lng: Degrees;
  readonly #rest: string;

  constructor(query: LookupQuery, { situs, area }: Led, rest: string) {
    const isPoint = query.kind === 'point';
    this.#situs = situs;
    this.#incorporated = area.incorporated;
    this.#lat = isPoint ? echoed(query.latDegrees) : situs.lat;
    this.#lng = isPoint ? echoed(query.lngDegrees) : situs.lng;
    this.#rest = rest;
  }

  print(into: ByteWriter): void {
    into.piece(OPEN);
    printAddress(into, this.#situs);
    into.piece(this.#incorporated ? INCORPORATED : UNINCORPORATED);
    printDegrees(into, this.#lat);
    into.piece(LNG);
    printDegrees(into, this.#lng);
    into.piece(CLOSE);
    into.text(this.#rest);
  }
}

/** The end of a body: where it led, and the explanation where one was asked for. */
export function bodyEnd(detail: WireObject, explain: string, format: Format): string {
  const member = printMembers({ addressDetail: detail }, format);
  if (format === 'xml') return member + explain + V60_XML_CLOSE;
  return `,${member}${explain === '' ? '' : `,${explain}`}}`;
}

/** What an answer has of its own, to its end. */
function ownPart(
  query: LookupQuery,
  outcome: SitusOutcome,
  explain: string,
  format: Format,
): BodyPart {
  if (format === 'json' && !query.options.addressDetailExtended) {
    return new PlainDetail(query, outcome, explain === '' ? '}' : `,${explain}}`);
  }
  return bodyEnd(addressDetail(query, outcome), explain, format);
}

/** The bytes of an answer for one place. */
export function renderV60(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome,
  format: Format,
): Rendered | Failure {
  const freight = query.options.shippingExtended;
  const variant = freight ? VARIANTS.v60Freight : VARIANTS.v60;
  const fragment = fragmentOf(context, engine, outcome, variant, format, (ruled) =>
    areaPart(ruled, freight),
  );
  if (isUnprinted(fragment)) return fragment;
  const product =
    query.options.taxabilityCode === null
      ? null
      : productDetail(context, engine, query, outcome, format);
  if (product !== null && isFailure(product)) return product;
  const own = ownPart(query, outcome, explanation(engine, query, outcome, format), format);
  const flags = fragment.flags | staleFlag(outcome);
  const head = headOf(context, engine, outcome, flags, product?.unruled ?? '', format);
  const [first] = head;
  // Most answers; written out, as spreading takes longer.
  if (first !== undefined && head.length === 1 && product === null) {
    return { body: [first, fragment.bytes, own], flags };
  }
  const rest = product === null ? [own] : [product.bytes, own];
  return { body: [...head, fragment.bytes, ...rest], flags };
}
