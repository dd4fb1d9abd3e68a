/** The member `productDetail` of v60. */
import type { Dataset } from '../dataset/dataset.js';
import { RecentCache } from '../dataset/recent-cache.js';
import type { SitusOutcome } from '../engine/lookup.js';
import { ordinaryRates, productAt, type ProductOutcome } from '../engine/product-detail.js';
import type { LookupQuery } from '../engine/query.js';
import { mealTax, rateRule, sourcedToDestination, type RuleFrame } from './product-rules.js';
import type { WireObject } from './tree.js';

/** Members kept per dataset and generation; what users may invent as a code is not kept. */
const DETAILS_MAX = 4096;

const DETAILS = new WeakMap<Dataset, RecentCache<string, WireObject>>();

/** Contract 2.1 gives the first message; the others follow the specification's meanings. */
const ACTIONS = {
  T00: 'Valid tic, rules listed.',
  T01: 'Valid tic, no applicable rate rules.',
  T02: 'Invalid tic.',
  T03: 'Invalid tic format.',
} as const;
type Action = keyof typeof ACTIONS;

function taxabilityCode(
  { area }: SitusOutcome, id: string, title: string, label: string, action: Action,
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

function detailOf(
  dataset: Dataset, outcome: SitusOutcome, text: string,
  found: Exclude<ProductOutcome, string>,
): WireObject {
  const { code: { title, label }, rules, meal } = found;
  const frame: RuleFrame = {
    stateFips: outcome.area.stateFips,
    ordinary: ordinaryRates(outcome.rates),
    destination: sourcedToDestination(dataset, outcome),
  };
  const rateRules = rules.map((rule) => rateRule(rule, frame));
  // A meal tax is a rule of its own, so a code with nothing else has rules all the same.
  const action = rules.length > 0 || (meal?.rules.length ?? 0) > 0 ? 'T00' : 'T01';
  return taxabilityCode(outcome, text, title, label, action, meal === null
    ? { rateRules }
    : { rateRules, specialRules: { mealTax: mealTax(meal) } });
}

/**
 * What the rules say of the taxability code asked for, on the day of the answer; null leaves the
 * member out, where no code is asked for or the dataset has no catalogue to judge one by.
 */
export function productDetail(
  dataset: Dataset, query: LookupQuery, outcome: SitusOutcome,
): WireObject | null {
  const text = query.options.taxabilityCode;
  if (text === null) return null;
  let details = DETAILS.get(dataset);
  if (details === undefined) {
    details = new RecentCache(DETAILS_MAX);
    DETAILS.set(dataset, details);
  }
  const { area, date, situs } = outcome;
  // Everything that the member depends on: meal taxes are less certain where only a ZIP is.
  const key = `${area.id} ${date} ${situs.precision === 'postal' ? 'p' : ''}${text}`;
  const known = details.get(key);
  if (known !== undefined) return known;
  const found = productAt(dataset, outcome, text);
  if (found === 'no-catalogue') return null;
  if (found === 'unknown' || found === 'malformed') {
    return taxabilityCode(outcome, text, '', '', found === 'unknown' ? 'T02' : 'T03',
      { rateRules: [] });
  }
  const detail = detailOf(dataset, outcome, text, found);
  details.set(key, detail);
  return detail;
}
