/** What a lookup's answer says of a product, for people. */

interface RateRule {
  readonly effectiveDt: string | null;
  readonly effectiveTaxRate: number;
  readonly exemptOver: number | null;
  readonly exemptUnder: number | null;
  readonly expiresDt: string | null;
  readonly jurTaxCode: string | null;
  readonly percentTaxable: number | null;
  readonly taxablePortionOver: number | null;
  readonly perVolumeTaxRate?: number;
  readonly perVolumeUnit?: string;
  readonly rateCapPerUnit?: number;
}

interface MealRule {
  readonly jurisdictionName: string;
  readonly taxName: string;
  readonly rate: number;
  readonly replacesStateRate: boolean;
}

/** The member `productDetail` of an answer. */
export interface ProductDetail {
  readonly taxabilityCode: {
    readonly id: string;
    readonly title: string;
    readonly rateActionCode: string;
    readonly rateRules: readonly RateRule[];
    readonly specialRules?: { readonly mealTax?: { readonly rules: readonly MealRule[] } };
  };
}

/** A decimal fraction as a percentage without binary dust. */
export function percent(rate: number): string {
  return `${Number((rate * 100).toFixed(7))} %`;
}

/** What holds of a rule beside its rate. */
function terms(rule: RateRule): readonly string[] {
  const told = (value: number | string | null | undefined, sentence: string): readonly string[] =>
    value === null || value === undefined ? [] : [sentence];
  return [
    ...told(rule.jurTaxCode, "the state's part; local rates as above"),
    ...told(rule.exemptUnder, `exempt below $${rule.exemptUnder} an item`),
    ...told(rule.exemptOver, `exempt above $${rule.exemptOver} an item`),
    ...told(rule.taxablePortionOver, `on what an item costs above $${rule.taxablePortionOver}`),
    ...told(rule.percentTaxable, `on ${percent(rule.percentTaxable ?? 0)} of the price`),
    ...told(rule.perVolumeTaxRate, `$${rule.perVolumeTaxRate} ${rule.perVolumeUnit}`),
    ...told(rule.rateCapPerUnit, `at most $${rule.rateCapPerUnit} an item`),
    ...told(rule.effectiveDt, `from ${rule.effectiveDt}`),
    ...told(rule.expiresDt, `to ${rule.expiresDt}`),
  ];
}

/** The rules of the product that was asked for, a line each; nothing where none was. */
export function productLines(detail: ProductDetail | undefined): readonly string[] {
  if (detail === undefined) return [];
  const { id, title, rateActionCode, rateRules, specialRules } = detail.taxabilityCode;
  if (title === '') {
    return ['', `${id}: there is no such product code (${rateActionCode})`];
  }
  const rules = rateRules.map((rule) =>
    [percent(rule.effectiveTaxRate), ...terms(rule)].join(', '),
  );
  const meals = (specialRules?.mealTax?.rules ?? []).map(
    (rule) =>
      `${percent(rule.rate)} ${rule.taxName} of ${rule.jurisdictionName}` +
      (rule.replacesStateRate ? ', in place of its rate above' : ''),
  );
  const lines = [...rules, ...meals];
  return [
    '',
    ...(lines.length === 0 ? ['no rule of its own; the rates above'] : lines).map(
      (line) => `${id} ${title}: ${line}`,
    ),
  ];
}
