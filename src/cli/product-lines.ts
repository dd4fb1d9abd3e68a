/** What the rules say of a product, for people. */
import { NO_PRODUCT } from '../api/lookup/product-detail.js';
import { ordinaryRates, type NoProduct, type ProductFinding } from '../engine/product/rules.js';
import type { KnownRates } from '../engine/rate/area-rates.js';
import { formatUsd } from '../tax/amount.js';
import { effectiveRate, isWhole, type ProductRule } from '../tax/product-rule.js';
import { RATE_ONE, type Rate } from '../tax/rate.js';

/** A decimal fraction as a percentage without binary dust. */
export function percent(fraction: number): string {
  return `${Number((fraction * 100).toFixed(7))} %`;
}

/** A rate as a percentage. */
export function ratePercent(rate: Rate): string {
  return percent(rate / RATE_ONE);
}

const THRESHOLDS: Readonly<
  Record<NonNullable<ProductRule['threshold']>['kind'], (dollars: string) => string>
> = {
  below_exempt: (dollars) => `exempt below $${dollars} an item`,
  above_exempt: (dollars) => `exempt above $${dollars} an item`,
  above_excess: (dollars) => `on what an item costs above $${dollars}`,
};

/** What holds of a rule beside its rate. */
function terms(rule: ProductRule): readonly string[] {
  const { threshold, percentTaxable, perVolume, capPerUnit, from, to } = rule;
  return [
    ...(isWhole(rule) ? [] : ["the state's part; local rates as above"]),
    ...(threshold === null ? [] : [THRESHOLDS[threshold.kind](formatUsd(threshold.amount))]),
    ...(percentTaxable === null ? [] : [`on ${ratePercent(percentTaxable)} of the price`]),
    ...(perVolume === null ? [] : [`$${formatUsd(perVolume.amount)} ${perVolume.unit}`]),
    ...(capPerUnit === null ? [] : [`at most $${formatUsd(capPerUnit)} an item`]),
    ...(from === null ? [] : [`from ${from}`]),
    ...(to === null ? [] : [`to ${to}`]),
  ];
}

/** The rules of the code that was asked for, a line each; nothing where no catalogue is held. */
export function productLines(
  code: string,
  found: ProductFinding | NoProduct,
  rates: KnownRates,
): readonly string[] {
  if (found.kind === 'no-catalogue') return [];
  if (found.kind !== 'found') {
    return ['', `${code}: there is no such product code (${NO_PRODUCT[found.kind]})`];
  }
  const ordinary = ordinaryRates(rates, found.meal);
  const rules = found.rules.map((rule) =>
    [ratePercent(effectiveRate(rule, ordinary)), ...terms(rule)].join(', '),
  );
  const meals = (found.meal?.rules ?? []).map(
    ({ rate, taxName, name, replacesStateRate }) =>
      `${ratePercent(rate)} ${taxName} of ${name}` +
      (replacesStateRate ? ', in place of its rate above' : ''),
  );
  const lines = [...rules, ...meals];
  return [
    '',
    ...(lines.length === 0 ? ['no rule of its own; the rates above'] : lines).map(
      (line) => `${code} ${found.code.title}: ${line}`,
    ),
  ];
}
