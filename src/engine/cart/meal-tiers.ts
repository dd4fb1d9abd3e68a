/** What treatment asks of meals and of prices above a tier. */
import { formatUsd } from '../../tax/amount.js';
import type { PriceTier } from '../../tax/line-tax.js';
import { inForce } from '../../tax/product-rule.js';
import { MEAL_CODES, type MealRule, replacesLocal } from '../product/meal-tax.js';
import type { ProductRules } from '../product/rules.js';
import type { CartFacts, SingleArticle, TierFact } from './cart-facts.js';
import type { FoundPlace } from './cart-place.js';
import type { Side, Site, SiteRow } from './site.js';
import type { Levy, TreatmentNote } from './treatment.js';

/*
 * Meal taxes on lines of prepared food.
 */

interface MealLevies {
  readonly levies: readonly Levy[];
  /** Why it cannot be told; "" where it can. */
  readonly unknown: string;
  readonly notes: readonly TreatmentNote[];
}

const STATE_DIGITS = 2;

/** Whose place the tax follows: the seller's where the list says so, for sales within a state. */
function sideOf({ sourcingBasis }: MealRule, { sourcing }: Site): Side {
  return sourcingBasis === 'SELLER_LOCATION' && !sourcing.interstate ? 'origin' : 'destination';
}

/** Whether a meal tax stands in for the sales tax that its own county or city levies. */
function replacesOwn(rule: MealRule, site: Site, levy: Levy): boolean {
  return (
    levy.site?.side === sideOf(rule, site) && replacesLocal(rule, levy.site.row.component.level)
  );
}

function note(rule: MealRule, applied: boolean, why: string): TreatmentNote {
  return { rule: `meal: ${rule.taxName} of ${rule.name}`, applied, why };
}

interface SidePlace {
  readonly side: Side;
  readonly place: FoundPlace | null;
}

/** Meal taxes on a sale, and why it cannot be told whether there are others. */
interface FoundMeals {
  readonly rules: readonly MealRule[];
  readonly notes: readonly TreatmentNote[];
  readonly reasons: ReadonlySet<string>;
}

/** What is levied on a meal at either side of a sale. */
function mealsOf(products: ProductRules, site: Site): FoundMeals {
  const rules: MealRule[] = [];
  const notes: TreatmentNote[] = [];
  const reasons = new Set<string>();
  const sides: readonly SidePlace[] = [
    { side: 'origin', place: site.origin },
    { side: 'destination', place: site.destination },
  ];
  for (const { side, place } of sides) {
    if (place === null) continue;
    const found = products.mealTax(place.situs, place.area, site.date);
    for (const rule of found.rules) {
      if (sideOf(rule, site) !== side) continue;
      const seller = rule.component === 'OCCUPATION_TAX';
      notes.push(
        note(
          rule,
          !seller,
          seller ? 'levied on the seller, not on the sale' : `levied at the ${side}`,
        ),
      );
      if (!seller) rules.push(rule);
    }
    const seller = site.sourcing.interstate ? 'destination' : 'origin';
    if (side === seller && !found.complete) found.reasons.forEach((reason) => reasons.add(reason));
  }
  if (site.origin === null && !site.sourcing.interstate) reasons.add('LOCATION_NOT_RESOLVED');
  return { rules, notes, reasons };
}

/**
 * Adds meal taxes to the ordinary levies. A rate that stands in for the state's takes its place,
 * and where it stands in for sales tax as a whole, that of the local ones too, or of its own alone.
 * What is levied on the seller is no tax on the sale and is left out. Where the list says that a
 * tax may apply here and not whether, nothing can be told.
 */
export function mealLevies(
  products: ProductRules,
  site: Site,
  tic: string,
  ordinary: readonly Levy[],
): MealLevies {
  if (!MEAL_CODES.has(tic)) return { levies: ordinary, unknown: '', notes: [] };
  const table = products.book.meals;
  if (table === null) {
    return { levies: ordinary, unknown: 'Meal taxes are not loaded.', notes: [] };
  }
  if (table.get(site.state.fips) === undefined) {
    const why = `no meal taxes of ${site.state.name} are listed`;
    return { levies: ordinary, unknown: '', notes: [{ rule: 'meal', applied: false, why }] };
  }
  const { rules, notes, reasons } = mealsOf(products, site);
  const unknown =
    reasons.size === 0
      ? ''
      : `Whether a meal tax is levied here cannot be told ` + `(${[...reasons].join(', ')}).`;
  if (notes.length === 0 && unknown === '') {
    const why = `none of the meal taxes of ${site.state.name} that are listed is levied here`;
    return { levies: ordinary, unknown, notes: [{ rule: 'meal', applied: false, why }] };
  }
  const replaced = rules.some(({ replacesStateRate }) => replacesStateRate);
  const alone = rules.some(({ replacesLocalRates }) => replacesLocalRates === 'yes');
  const kept = alone
    ? []
    : ordinary.filter(
        (levy) =>
          !(replaced && levy.ofState) && !rules.some((rule) => replacesOwn(rule, site, levy)),
      );
  const levies = rules.map(
    (rule): Levy => ({
      rate: rule.rate,
      ofState: rule.code.length === STATE_DIGITS,
      ruled: false,
      site: null,
      meal: rule,
      bracket: false,
      tier: null,
    }),
  );
  return { levies: [...levies, ...kept], unknown, notes };
}

/*
 * Taxes that end or change above a price of one item: caps, second levels, luxury rates.
 */

/** The tier has a price above which another rule holds, and the dataset does not hold that rule. */
export interface UnknownTier {
  readonly threshold: bigint;
  readonly why: string;
}

/** Levies with their tiers. */
interface Tiered {
  readonly levies: readonly Levy[];
  /** Rows that a tier was taken from. */
  readonly used: readonly TierFact[];
  readonly unknown: UnknownTier | null;
}

function isFor({ tics, except }: TierFact, tic: string): boolean {
  return tics.length > 0 ? tics.includes(tic) : !except.some((code) => tic.startsWith(code));
}

function isOf({ level, code }: TierFact, { row, area }: SiteRow): boolean {
  if (row.component.level !== level) return false;
  return code === '' || code === area.placeGeoid || code === area.stateFips + area.countyFips;
}

function tierOf({ kind, threshold, rate }: TierFact): PriceTier | null {
  return kind === 'unknown' ? null : { kind, threshold, rate };
}

/** Why the tax above a threshold is not told. A row for all goods is about the place. */
function whyUntold({ tics, level, threshold }: TierFact, stateName: string, tic: string): string {
  const limit = `$${formatUsd(threshold)}`;
  return tics.length === 0
    ? `How this ${level} of ${stateName} taxes goods above ${limit} an item is not held.`
    : `How ${stateName} taxes ${tic} above ${limit} an item is not held: a code that says more ` +
        'of the goods would tell.';
}

/**
 * An article with a rule of its own: local taxes end at the limit for it too, but whether the
 * additional tax is on it is not held.
 */
export function untoldArticle(
  { state }: Site,
  tic: string,
  { localLimit: threshold }: SingleArticle,
  levies: readonly Levy[],
): UnknownTier | null {
  if (levies.every(({ rate }) => rate === 0)) return null;
  const limit = `$${formatUsd(threshold)}`;
  const why = `How ${state.name} taxes ${tic} above ${limit} an article is not held.`;
  return { threshold, why };
}

/** Adds the tiers of a state's rows to levies on the whole price. */
export function tiered(
  facts: CartFacts,
  { state, date }: Site,
  tic: string,
  levies: readonly Levy[],
): Tiered {
  const rows = (facts.tiers.get(state.code) ?? []).filter(
    (fact) => inForce(fact, date) && isFor(fact, tic),
  );
  if (rows.length === 0) return { levies, used: [], unknown: null };
  const used: TierFact[] = [];
  let unknown: UnknownTier | null = null;
  const out = levies.map((levy) => {
    const { site, ruled, rate } = levy;
    // Tiers are of the tax on general goods: a rate of the product's own has none.
    const isOrdinary = site !== null && !ruled && rate === site.rate;
    const fact = isOrdinary ? rows.find((row) => isOf(row, site)) : undefined;
    if (fact === undefined) return levy;
    used.push(fact);
    if (fact.kind === 'unknown') {
      unknown = { threshold: fact.threshold, why: whyUntold(fact, state.name, tic) };
    }
    return { ...levy, tier: tierOf(fact) };
  });
  return { levies: out, used, unknown };
}
