/** Version 60: the structured answer for an address or coordinates. */
import type { Engine } from '../../engine/engine.js';
import { FLAG_ESTIMATED, FLAG_STALE } from '../../pool/types.js';
import type { LookupQuery, SitusOutcome } from '../../engine/query.js';
import { isFailure, type Failure } from '../../failure.js';
import { addressDetail, plainDetailJson } from './address-detail.js';
import type { WireContext } from './context.js';
import { explanation } from './explanation.js';
import { VARIANTS } from './fragment-cache.js';
import { fragmentOf, printMembers, type RuledArea } from './fragment.js';
import { productDetail } from './product-detail.js';
import { baseRates, service, shipping, sourcingRules, taxSummaries } from './rate-tree.js';
import type { Rendered } from './rendered.js';
import { SUCCESS } from '../../wire/response-code.js';
import { situsNote } from '../../wire/situs-note.js';
import type { WireObject } from '../../wire/tree.js';
import { metadata, V60_XML_CLOSE, V60_XML_OPEN } from '../../wire/v60-envelope.js';
import type { Format } from '../../wire/version.js';

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

/** The beginning of an answer: the code, and what it rests on. */
function headOf(
  { baseUrl, heads }: WireContext, engine: Engine, outcome: SitusOutcome, flags: number,
  format: Format,
): string {
  const { precision, assumed = null } = outcome.situs;
  const border = engine.border(outcome);
  const isPlain = assumed === null && border === null;
  const key = `${engine.id} ${precision} ${flags} ${format}`;
  const known = isPlain ? heads.get(key) : undefined;
  if (known !== undefined) return known;
  const situs = situsNote({
    precision, dataset: engine.id, assumed, border,
    stale: (flags & FLAG_STALE) !== 0, estimated: (flags & FLAG_ESTIMATED) !== 0,
  });
  const head = OPEN[format] + printMembers(metadata(SUCCESS, baseUrl, situs), format)
    + (format === 'json' ? ',' : '');
  if (isPlain) heads.set(key, head);
  return head;
}

/** The bytes of an answer for one place. */
export function renderV60(
  context: WireContext, engine: Engine, query: LookupQuery, outcome: SitusOutcome,
  format: Format,
): Rendered | Failure {
  const freight = query.options.shippingExtended;
  const variant = freight ? VARIANTS.v60Freight : VARIANTS.v60;
  const fragment = fragmentOf(context, engine, outcome, variant, format,
    (ruled) => areaPart(ruled, freight));
  if (isFailure(fragment)) return fragment;
  const detail = format === 'json' && !query.options.addressDetailExtended
    ? `"addressDetail":${plainDetailJson(query, outcome)}`
    : printMembers({ addressDetail: addressDetail(query, outcome) }, format);
  const product = query.options.taxabilityCode === null
    ? null
    : productDetail(context, engine, query, outcome, format);
  if (product !== null && isFailure(product)) return product;
  const explain = explanation(engine, query, outcome, format);
  const own = format === 'json'
    ? `,${detail}${explain === '' ? '' : `,${explain}`}}` : detail + explain + V60_XML_CLOSE;
  const head = headOf(context, engine, outcome, fragment.flags, format);
  const body = product === null
    ? [head, fragment.bytes, own]
    : [head, fragment.bytes, product, own];
  return { body, flags: fragment.flags };
}
