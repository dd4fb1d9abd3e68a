/** Version 60: the structured answer for a place. */
import { type ByteWriter, bytesOfParts, Piece, type Printed } from '../../base/byte-writer.js';
import type { AreaRecord, ComponentRecord, StateRuleRecord } from '../../dataset/records.js';
import type { Engine } from '../../engine/engine.js';
import type { KnownRates, LookupQuery, SitusOutcome } from '../../engine/lookup-query.js';
import type { Situs } from '../../engine/situs.js';
import { isFailure, type Failure } from '../../failure.js';
import type { BodyPart } from '../../pool/types.js';
import type { Level } from '../../tax/jurisdiction.js';
import type { Rate } from '../../tax/rate.js';
import { type Degrees, echoed, type Format, xmlOfMembers } from '../../wire/tree.js';
import type { WireContext } from './context.js';
import {
  addressDetail,
  bodyEnd,
  explanation,
  fragmentOf,
  isUnprinted,
  type Rendered,
  type RuledArea,
  staleFlag,
  VARIANTS,
  headOf,
} from './fragment.js';
import { productDetail } from './product-detail.js';

const COMMA = 0x2c;
const BRACKET = 0x5d;
const BRACE = 0x7d;

/** Which of the two taxes is printed. */
type Tax = 'Sales' | 'Use';
const TOTAL = 'Total Rate';
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

type Texts = Readonly<Record<string, string | null>>;

/** Prints members that are texts, with a comma before each. */
function printTexts(into: ByteWriter, texts: Texts): void {
  for (const name in texts) {
    const text = texts[name] ?? null;
    into.text(`,"${name}":`);
    if (text === null) into.text('null');
    else into.json(text);
  }
}

/** Prints the beginning of an object: a rate, then texts. */
function printRate(into: ByteWriter, rate: Rate, texts: Texts): void {
  into.text('{"rate":');
  into.billionths(rate);
  printTexts(into, texts);
}

function printBaseRate(
  into: ByteWriter,
  { level, kind, jurName, jurCode: jurTaxCode }: ComponentRecord,
  rate: Rate,
  tax: Tax,
): void {
  const [jurType, jurDescription] =
    kind === null
      ? [
          `US_${level.toUpperCase()}_${tax.toUpperCase()}_TAX`,
          `US ${LEVEL_LABELS[level]} ${tax} Tax`,
        ]
      : [kind, `Canada ${kind}`];
  printRate(into, rate, { jurType, jurName, jurDescription, jurTaxCode });
}

/**
 * Prints a sales and a use row for each jurisdiction, in order. Where levies have kinds, as in
 * Canada, there is no separate use tax, so each levy has one row.
 */
function printBaseRates(into: ByteWriter, { rows }: KnownRates): void {
  into.text('"baseRates":[');
  let before = '';
  for (const { component, sales, use } of rows) {
    into.text(before);
    printBaseRate(into, component, sales, 'Sales');
    before = '},';
    if (component.kind !== null) continue;
    into.text(before);
    printBaseRate(into, component, use, 'Use');
  }
  into.text(before === '' ? ']' : '}]');
}

/** Prints a total and the named rates that it displays. */
function printSummary(
  into: ByteWriter,
  rate: Rate,
  tax: Tax,
  displayed: readonly (readonly [name: string, rate: Rate])[],
): void {
  const taxType = `${tax.toUpperCase()}_TAX`;
  printRate(into, rate, { taxType, summaryName: `Total Base ${tax} Tax` });
  let before = ',"displayRates":[{"name":';
  for (const [name, each] of displayed) {
    into.text(before);
    into.json(name);
    into.text(',"rate":');
    into.billionths(each);
    before = '},{"name":';
  }
  into.text('}]}');
}

/**
 * Prints totals: one of sales and one of use, or where levies have kinds, one that displays them.
 */
function printSummaries(into: ByteWriter, { sales, use, rows }: KnownRates): void {
  const levies = rows.flatMap(({ component: { kind }, sales: rate }) =>
    kind === null ? [] : [[kind, rate] as const],
  );
  into.text(',"taxSummaries":[');
  printSummary(into, sales, 'Sales', levies.length > 0 ? levies : [[TOTAL, sales]]);
  if (levies.length === 0) {
    into.byte(COMMA);
    printSummary(into, use, 'Use', [[TOTAL, use]]);
  }
  into.byte(BRACKET);
}

/**
 * Prints rules for services, freight and sourcing, one object each; `extended` adds the details for
 * freight.
 */
function printRules(into: ByteWriter, { rules, area }: RuledArea, extended: boolean): void {
  const { serviceTaxable, freightTaxable, sourcing } = rules;
  into.text(',"service":{"adjustmentType":"SERVICE_TAXABLE"');
  printTexts(into, { taxable: serviceTaxable, description: SERVICE_TEXTS[serviceTaxable] });
  into.text('},"shipping":{"adjustmentType":"FREIGHT_TAXABLE"');
  printTexts(into, { taxable: freightTaxable, description: FREIGHT_TEXTS[freightTaxable] });
  if (extended) {
    into.text(',"shippingExtended":{"description":');
    into.json(rules.freightDescription);
    printTexts(into, {
      exemptWhenSeparatelyStated: String(rules.freightExemptWhenSeparatelyStated),
      rule: rules.freightRule,
      stateCode: area.state,
      stateName: area.stateName,
    });
    into.byte(BRACE);
  }
  into.text('},"sourcingRules":{"adjustmentType":"ORIGIN_DESTINATION"');
  printTexts(into, { description: SOURCING_TEXTS[sourcing], value: sourcing });
  into.byte(BRACE);
}

/**
 * Everything that depends only on the area, the day and `shippingExtended`. JSON, which nearly all
 * clients ask for, is written straight into bytes, which saves the time to build a tree. XML is
 * derived from these bytes, so that both have one description.
 */
function areaBytes(ruled: RuledArea, extended: boolean, format: Format): Uint8Array {
  const print = (into: ByteWriter): void => {
    printBaseRates(into, ruled.rates);
    printRules(into, ruled, extended);
    printSummaries(into, ruled.rates);
  };
  const json = bytesOfParts([{ print }]);
  return format === 'json' ? json : bytesOfParts([xmlOfMembers(json)]);
}

/** Prints degrees, from microdegrees or from a text with more digits. */
function printDegrees(into: ByteWriter, degrees: Degrees): void {
  if (typeof degrees === 'number') into.millionths(degrees);
  else into.text(degrees);
}

const OPEN = new Piece(',"addressDetail":{"normalizedAddress":"');
const INCORPORATED = new Piece('","incorporated":"true","geoLat":');
const UNINCORPORATED = new Piece('","incorporated":"false","geoLat":');
const LNG = new Piece(',"geoLng":');
const CLOSE = new Piece('}');

/** Prints the same as `normalizedAddress`, part by part. */
function printAddress(into: ByteWriter, { houseNumber, street, place }: Led['situs']): void {
  if (houseNumber !== '' || street !== '') {
    into.jsonPart(houseNumber);
    if (street !== '') into.text(' ');
    into.jsonPart(street);
    into.text(', ');
  }
  into.jsonPart(place);
}

/** The members of an outcome that `addressDetail` needs. */
interface Led {
  readonly situs: Pick<Situs, 'houseNumber' | 'street' | 'place' | 'lat' | 'lng'>;
  readonly area: Pick<AreaRecord, 'incorporated'>;
}

/**
 * The short form of the member `addressDetail` as JSON, with a comma before it and `rest` after it.
 * It is the part of an answer that is never kept, and it is printed straight into bytes: putting a
 * text together first takes a thirtieth of a whole answer more.
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

/** The end of a body, from the part that only this answer has. */
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

/** The answer for one place. */
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
    areaBytes(ruled, freight, format),
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
  // The common case is written out, since spreading arrays takes longer.
  if (first !== undefined && head.length === 1 && product === null) {
    return { body: [first, fragment.bytes, own], flags };
  }
  const rest = product === null ? [own] : [product.bytes, own];
  return { body: [...head, fragment.bytes, ...rest], flags };
}
