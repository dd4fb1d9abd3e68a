/** Version 60: the structured answer for a place, and the list for a ZIP. */
import type { Engine } from '../../engine/engine.js';
import { PRECISIONS, type Precision } from '../../engine/situs.js';
import type { LookupQuery, PostalOutcome, SitusOutcome } from '../../engine/lookup-query.js';
import { FLAGS_SPAN, type BodyPart } from '../../pool/types.js';
import { isFailure, type Failure } from '../../failure.js';
import {
  jsonMembers,
  printMembers,
  rateOf,
  type Format,
  type WireList,
  type WireObject,
} from '../../wire/tree.js';
import { metadata, SUCCESS, V60_XML_CLOSE, V60_XML_OPEN } from '../../wire/response-code.js';
import { ownMarks, situsNote, type SitusNote } from '../../wire/situs-note.js';
import {
  explanation,
  fragmentOf,
  marksOf,
  type Rendered,
  type RuledArea,
  staleFlag,
  VARIANTS,
} from './fragment.js';
import type { Head, WireContext } from './context.js';
import { renderRows, ROW_34 } from './legacy.js';
import { addressDetail, NOT_GEOCODED, PlainDetail } from './address-detail.js';
import { productDetail } from './product-detail.js';
import type { AreaRateRow, KnownRates } from '../../engine/rate/on-day.js';
import type { AreaRecord, StateRuleRecord } from '../../dataset/records.js';
import type { Level } from '../../tax/jurisdiction.js';
import type { Rate } from '../../tax/rate.js';

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

const OPEN: Readonly<Record<Format, string>> = { json: '{', xml: V60_XML_OPEN };

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

/** What follows `situs` of a JSON head; what may stand before it belongs to one answer alone. */
const SITUS_CLOSE = '}},';

/** The beginning of an answer: the code, and what it rests on. */
function headText(baseUrl: string, note: SitusNote, format: Format): string {
  return (
    OPEN[format] +
    printMembers(metadata(SUCCESS, baseUrl, situsNote(note)), format) +
    (format === 'json' ? ',' : '')
  );
}

/** The beginning that tells of nothing that one spot or product has of its own; printed once. */
function plainHead(
  { baseUrl, heads }: WireContext,
  dataset: string,
  precision: Precision,
  flags: number,
  format: Format,
): Head {
  const kept = heads.get(dataset);
  const key = (PRECISIONS.indexOf(precision) * FLAGS_SPAN + flags) * 2 + (format === 'xml' ? 1 : 0);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const note = { precision, dataset, ...marksOf(flags), assumed: null, border: null, unruled: [] };
  const whole = Buffer.from(headText(baseUrl, note, format));
  const head = { whole, open: whole.subarray(0, whole.length - SITUS_CLOSE.length) };
  kept.set(key, head);
  return head;
}

/** The parts of the beginning. */
function headOf(
  context: WireContext,
  engine: Engine,
  outcome: SitusOutcome,
  flags: number,
  code: string,
  format: Format,
): readonly BodyPart[] {
  const { precision, assumed = null } = outcome.situs;
  const border = engine.border(outcome);
  const isPlain = assumed === null && border === null && code === '';
  if (isPlain) return [plainHead(context, engine.id, precision, flags, format).whole];
  const own = { assumed, border, unruled: code === '' ? [] : [code] };
  if (format === 'xml') {
    const note = { precision, dataset: engine.id, ...marksOf(flags), ...own };
    return [headText(context.baseUrl, note, format)];
  }
  const { open } = plainHead(context, engine.id, precision, flags, format);
  return [open, `,${jsonMembers(ownMarks(own))}${SITUS_CLOSE}`];
}

/** The end of a body: where it led, and the explanation where one was asked for. */
function bodyEnd(detail: WireObject, explain: string, format: Format): string {
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
  if (isFailure(fragment)) return fragment;
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

/** The bytes of a postal list. */
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
