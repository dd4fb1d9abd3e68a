/**
 * The member `productDetail` of v60: product and meal rules (specification, RateRule and
 * MealTaxRule).
 *
 * `jurTaxCode` says what a rule's `effectiveTaxRate` covers. With the state's FIPS code it is only
 * the state's part; local parts are in baseRates and apply as usual, or differ by place. With null
 * it is the whole combined rate at the place. An exempt product has rate 0.
 */
import type { Engine } from '../../engine/engine.js';
import { ordinaryRates, unruledSentence, type ProductFinding } from '../../engine/product/rules.js';
import type { LookupQuery, SitusOutcome } from '../../engine/lookup-query.js';
import { bytesOfParts } from '../../base/byte-writer.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { ProductMember, WireContext } from './context.js';
import {
  printMembers,
  rateOf,
  type Decimal,
  type Format,
  type WireObject,
} from '../../wire/tree.js';
import type { MealRule, MealTax } from '../../engine/product/meal-tax.js';
import { formatUsd } from '../../tax/amount.js';
import {
  effectiveRate,
  isProduct,
  isWhole,
  type OrdinaryRates,
  type ProductRule,
} from '../../tax/product-rule.js';
import { isByArea } from '../../engine/rate/on-day.js';

/** What the printing of rules needs to know of the place. */
interface RuleContext {
  readonly stateFips: string;
  readonly ordinary: OrdinaryRates;
  /**
   * Whether the state sources to the destination on that day; null where the dataset does not say.
   */
  readonly destination: boolean | null;
}

/** Whether the state of an answer sources to the destination on the day of the answer. */
function sourcedToDestination(engine: Engine, { area, date }: SitusOutcome): boolean | null {
  const rules = engine.stateRules(area.state, date);
  return rules === null ? null : rules.sourcing === 'D';
}

function dollars(amount: bigint): Decimal {
  return { decimal: formatUsd(amount) };
}

/** Members that are left out where they do not apply; all other members are null then. */
function perUnit({ perVolume, capPerUnit }: ProductRule): WireObject {
  return {
    ...(perVolume === null
      ? {}
      : {
          perVolumeTaxRate: dollars(perVolume.amount),
          perVolumeUnit: perVolume.unit,
        }),
    ...(capPerUnit === null ? {} : { rateCapPerUnit: dollars(capPerUnit) }),
  };
}

/** Prints one rule. Thresholds are compared with the price of an item, in dollars. */
function rateRule(rule: ProductRule, context: RuleContext): WireObject {
  const { threshold, percentTaxable } = rule;
  const at = (kind: string): Decimal | null =>
    threshold?.kind === kind ? dollars(threshold.amount) : null;
  return {
    effectiveDt: rule.from,
    effectiveTaxRate: rateOf(effectiveRate(rule, context.ordinary)),
    exemptOver: at('above_exempt'),
    exemptUnder: at('below_exempt'),
    expiresDt: rule.to,
    isDestinationTaxType: context.destination,
    isFoodDrug: rule.foodDrug,
    jurTaxCode: isWhole(rule) ? null : context.stateFips,
    ...perUnit(rule),
    percentTaxable: percentTaxable === null ? null : rateOf(percentTaxable),
    taxablePortionOver: at('above_excess'),
  };
}

function mealTaxRule(rule: MealRule): WireObject {
  return {
    componentType: rule.component,
    jurisdictionCode: rule.code,
    jurisdictionName: rule.name,
    jurisdictionType: rule.type,
    rate: rateOf(rule.rate),
    replacesStateRate: rule.replacesStateRate,
    sourcingBasis: rule.sourcingBasis,
    taxName: rule.taxName,
    effectiveDt: rule.from,
    expiresDt: rule.to,
  };
}

/** The member `mealTax`. */
function mealTax({ combined, reasons, rules }: MealTax): WireObject {
  return {
    combinedMealRate: combined === null ? null : rateOf(combined),
    reasonCodes: reasons,
    rules: rules.map(mealTaxRule),
  };
}

/** Action codes of the specification, with their messages. */
const ACTIONS = {
  T00: 'Valid tic, rules listed.',
  T01: 'Valid tic, no applicable rate rules.',
  T02: 'Invalid tic.',
  T03: 'Invalid tic format.',
} as const;
type Action = keyof typeof ACTIONS;

/** The action codes for a product code that does not exist. */
export const NO_PRODUCT = { unknown: 'T02', malformed: 'T03' } as const;

function taxabilityCode(
  { area }: SitusOutcome,
  id: string,
  title: string,
  label: string,
  action: Action,
  rules: WireObject,
): WireObject {
  return {
    taxabilityCode: {
      countyFIPS: area.countyFips,
      stateFIPS: area.stateFips,
      id,
      title,
      label,
      rateActionCode: action,
      rateActionMessage: ACTIONS[action],
      ...rules,
    },
  };
}

/** Whether a code has rules. A meal tax counts as one, even where there is no other. */
function isRuled({ rules, meal }: ProductFinding): boolean {
  return rules.length > 0 || (meal?.rules.length ?? 0) > 0;
}

function detailOf(
  engine: Engine,
  outcome: SitusOutcome,
  text: string,
  found: ProductFinding,
): WireObject {
  const {
    code: { title, label },
    rules,
    meal,
  } = found;
  const context: RuleContext = {
    stateFips: outcome.area.stateFips,
    ordinary: ordinaryRates(outcome.rates, meal),
    destination: sourcedToDestination(engine, outcome),
  };
  const rateRules = rules.map((rule) => rateRule(rule, context));
  const action = isRuled(found) ? 'T00' : 'T01';
  return taxabilityCode(
    outcome,
    text,
    title,
    label,
    action,
    meal === null ? { rateRules } : { rateRules, specialRules: { mealTax: mealTax(meal) } },
  );
}

interface Content {
  readonly content: WireObject;
  readonly keep: boolean;
  readonly unruled: string;
}

/** The content of the member, and whether to keep it: codes that users invent are not kept. */
function contentOf(engine: Engine, outcome: SitusOutcome, text: string): Content | Failure | null {
  const found = engine.product(outcome, text);
  if (isFailure(found)) return found;
  if (found.kind === 'no-catalogue') return null;
  if (found.kind === 'found') {
    // Where no tax is levied, a missing rule would change nothing.
    const wants = isProduct(found.code.tic) && outcome.rates.sales > 0 && !isRuled(found);
    const unruled = wants ? text : '';
    return { content: detailOf(engine, outcome, text, found), keep: true, unruled };
  }
  const content = taxabilityCode(outcome, text, '', '', NO_PRODUCT[found.kind], { rateRules: [] });
  return { content, keep: false, unruled: '' };
}

/** The member `productDetail`, printed to follow other members. */
function printed(content: WireObject, format: Format): string {
  const members = printMembers({ productDetail: content }, format);
  return format === 'json' ? `,${members}` : members;
}

/**
 * The product rules of the taxability code that is asked for, on the day of the answer, printed to
 * follow other members. Null where no code is asked for, or the dataset has no product catalogue. A
 * failure where the dataset has no rules of the code for so early a day, or none at all and this
 * server is set to refuse that.
 */
export function productDetail(
  context: WireContext,
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome,
  format: Format,
): ProductMember | Failure | null {
  const text = query.options.taxabilityCode;
  if (text === null) return null;
  const details = context.products.get(engine.id);
  const { area, date, situs } = outcome;
  // The key has all that the member depends on: meal taxes are less certain where only a ZIP is
  // known.
  const located = isByArea(situs.precision) ? 'zip' : 'door';
  const key = `${area.id} ${date} ${located} ${format} ${text}`;
  const known = details.get(key);
  if (known !== undefined) return refusedOr(context, outcome, known);
  const made = contentOf(engine, outcome, text);
  if (made === null || isFailure(made)) return made;
  const { content, keep, unruled } = made;
  const member = printed(content, format);
  if (!keep) return { bytes: Buffer.from(member, 'utf8'), unruled };
  const kept = { bytes: bytesOfParts([member]), unruled };
  details.set(key, kept);
  return refusedOr(context, outcome, kept);
}

function refusedOr(
  { refuseUnruled }: WireContext,
  { area }: SitusOutcome,
  member: ProductMember,
): ProductMember | Failure {
  const { unruled } = member;
  return refuseUnruled && unruled !== ''
    ? fail('no-result', unruledSentence(unruled, area.stateName))
    : member;
}
