/** Levies on meals, and levies that change above a price. */
import { formatUsd } from '../../tax/amount.js';
import type { PriceTier } from '../../tax/line-tax.js';
import { inForce } from '../../tax/product-rule.js';
import { MEAL_CODES, type MealRule, replacesLocal } from '../product/meal-tax.js';
import type { ProductRules } from '../product/rules.js';
import type { CartFacts, SingleArticle, TierFact } from './cart-facts.js';
import type { FoundPlace } from './cart-place.js';
import type { Side, Site, SiteRow } from './site.js';
import type { Levy, TreatmentNote } from './treatment.js';

/** Meal taxes on lines with prepared food. */

interface MealLevies {
  readonly levies: readonly Levy[];
  /** Why the levies are not known; "" where they are. */
  readonly unknown: string;
  readonly notes: readonly TreatmentNote[];
  /** Whether the origin was asked as well, because a tax may be the seller's. */
  readonly byOrigin: boolean;
}

const STATE_DIGITS = 2;

/**
 * Which place the tax depends on. It is the seller's where the list says so, for sales within a
 * state.
 */
function sideOf({ sourcingBasis }: MealRule, { sourcing }: Site): Side {
  return sourcingBasis === 'SELLER_LOCATION' && !sourcing.interstate ? 'origin' : 'destination';
}

/** Whether a meal tax replaces the sales tax that its own county or city levies. */
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

/** Meal taxes on a sale, and why there may be others; "" if that is certain. */
interface FoundMeals {
  readonly rules: readonly MealRule[];
  readonly notes: readonly TreatmentNote[];
  readonly reasons: ReadonlySet<string>;
}

/** Meal taxes on a sale, from the places on both sides. */
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
 * Adds meal taxes to the ordinary levies. A meal tax may replace the state's rate, all sales taxes,
 * or those of its own jurisdiction. Taxes on the seller are not taxes on the sale and are left out.
 * Where the list says that a tax may apply here but not whether, the result is unknown.
 */
export function mealLevies(
  products: ProductRules,
  site: Site,
  tic: string,
  ordinary: readonly Levy[],
): MealLevies {
  if (!MEAL_CODES.has(tic)) return { levies: ordinary, unknown: '', notes: [], byOrigin: false };
  const table = products.book.meals;
  if (table === null) {
    const unknown = 'Meal taxes are not loaded.';
    return { levies: ordinary, unknown, notes: [], byOrigin: false };
  }
  if (table.get(site.state.fips) === undefined) {
    const why = `no meal taxes of ${site.state.name} are listed`;
    const notes = [{ rule: 'meal', applied: false, why }];
    return { levies: ordinary, unknown: '', notes, byOrigin: false };
  }
  const byOrigin = !site.sourcing.interstate;
  const { rules, notes, reasons } = mealsOf(products, site);
  const unknown =
    reasons.size === 0
      ? ''
      : `Whether a meal tax is levied here cannot be told ` + `(${[...reasons].join(', ')}).`;
  if (notes.length === 0 && unknown === '') {
    const why = `none of the meal taxes of ${site.state.name} that are listed is levied here`;
    return { levies: ordinary, unknown, notes: [{ rule: 'meal', applied: false, why }], byOrigin };
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
  return { levies: [...levies, ...kept], unknown, notes, byOrigin };
}

/** Taxes that end or change above a price of one item: caps, second rates, luxury rates. */

/** Above this price another rule holds, which the dataset does not have. */
export interface UnknownTier {
  readonly threshold: bigint;
  readonly why: string;
}

/** Levies with their tiers. */
interface Tiered {
  readonly levies: readonly Levy[];
  /** Rows that the tiers were taken from. */
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

/**
 * Why the tax above a threshold is not known. A row for all goods concerns the place rather than
 * the code.
 */
function whyUntold({ tics, level, threshold }: TierFact, stateName: string, tic: string): string {
  const limit = `$${formatUsd(threshold)}`;
  return tics.length === 0
    ? `How this ${level} of ${stateName} taxes goods above ${limit} an item is not held.`
    : `How ${stateName} taxes ${tic} above ${limit} an item is not held: a code that says more ` +
        'of the goods would tell.';
}

/**
 * Whether an article has a product rule of its own: local taxes then end at the limit as usual, but
 * it is not recorded whether the additional tax applies.
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
    // Tiers are part of the tax on general goods, so a product's own rate has none.
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
