/**
 * Product and meal rules as v60 shows them (specification, RateRule and MealTaxRule).
 *
 * `jurTaxCode` says what a rule's `effectiveTaxRate` is a rate of. With the state's FIPS code it is
 * the state part alone, and local parts stand in baseRates: they are taken as usual, or differ by
 * place. With null it is the whole combined rate at the place. An exempt product has rate 0.
 */
import type { Engine } from '../../engine/engine.js';
import type { SitusOutcome } from '../../engine/query.js';
import type { MealRule, MealTax } from '../../engine/product/meal-tax.js';
import { formatUsd } from '../../tax/amount.js';
import {
  effectiveRate, isWhole, type OrdinaryRates, type ProductRule,
} from '../../tax/product-rule.js';
import { rateOf, type Decimal, type WireObject } from '../../wire/tree.js';

/** What rules are shown against. */
export interface RuleFrame {
  readonly stateFips: string;
  readonly ordinary: OrdinaryRates;
  /** Whether the state sources to the destination that day; null where not held. */
  readonly destination: boolean | null;
}

/** Whether the state of an answer sources to the destination on its day. */
export function sourcedToDestination(
  engine: Engine, { area, date }: SitusOutcome,
): boolean | null {
  const rules = engine.stateRules(area.state, date);
  return rules === null ? null : rules.sourcing === 'D';
}

function dollars(amount: bigint): Decimal {
  return { decimal: formatUsd(amount) };
}

/** Members that are left out where they do not apply, unlike the others, which are null. */
function perUnit({ perVolume, capPerUnit }: ProductRule): WireObject {
  return {
    ...(perVolume === null ? {} : {
      perVolumeTaxRate: dollars(perVolume.amount), perVolumeUnit: perVolume.unit,
    }),
    ...(capPerUnit === null ? {} : { rateCapPerUnit: dollars(capPerUnit) }),
  };
}

/** One rule. Thresholds are dollars of an item's price. */
export function rateRule(rule: ProductRule, frame: RuleFrame): WireObject {
  const { threshold, percentTaxable } = rule;
  const at = (kind: string): Decimal | null =>
    (threshold?.kind === kind ? dollars(threshold.amount) : null);
  return {
    effectiveDt: rule.from,
    effectiveTaxRate: rateOf(effectiveRate(rule, frame.ordinary)),
    exemptOver: at('above_exempt'),
    exemptUnder: at('below_exempt'),
    expiresDt: rule.to,
    isDestinationTaxType: frame.destination,
    isFoodDrug: rule.foodDrug,
    jurTaxCode: isWhole(rule) ? null : frame.stateFips,
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
export function mealTax({ combined, reasons, rules }: MealTax): WireObject {
  return {
    combinedMealRate: combined === null ? null : rateOf(combined),
    reasonCodes: reasons,
    rules: rules.map(mealTaxRule),
  };
}
