/** How a kind of product is taxed at a site: the levies, and what determines their base. */
import { fail, type Failure } from '../../failure.js';
import { formatDate } from '../../tax/date.js';
import { coarseRates, tierlessOf, type LineLevy, type LineRule } from '../../tax/line-tax.js';
import { GENERAL, isExempt, isPlain, type ProductRule } from '../../tax/product-rule.js';
import type { Rate } from '../../tax/rate.js';
import { MEAL_CODES, type MealRule } from '../product/meal-tax.js';
import type { ProductRules } from '../product/rules.js';
import {
  type CartFacts,
  type Locality,
  type SingleArticle,
  singleArticleOn,
  type TierFact,
} from './cart-facts.js';
import {
  type CodeHolidays,
  type Cover,
  coverOf,
  type Holiday,
  type HolidayRule,
  holidaysOn,
  unheldHoliday,
} from './holidays.js';
import { levy, type Localities, ruled } from './locality.js';
import { mealLevies, tiered, type UnknownTier, untoldArticle } from './meal-tiers.js';
import type { Site, SiteRow } from './site.js';

/** A rate on a line, and the jurisdiction that levies it. */
export interface Levy extends LineLevy {
  /** Null for a meal tax and for the additional single-article tax. */
  readonly site: SiteRow | null;
  readonly meal: MealRule | null;
}

/** A note for explanations: a rule, whether it applies, and why. */
export interface TreatmentNote {
  readonly rule: string;
  readonly applied: boolean;
  readonly why: string;
}

export interface Treatment extends LineRule<Levy> {
  readonly tic: string;
  readonly rule: ProductRule | null;
  /**
   * The sum of the rates in parts per billion, if they are taken of every price up to `tierless`;
   * otherwise null.
   */
  readonly flat: number | null;
  /** Holidays on the day that cover the code, and those for which that is unclear. */
  readonly holidays: readonly Holiday[];
  readonly unclearHolidays: readonly Holiday[];
  readonly single: SingleArticle | null;
  readonly tiers: readonly TierFact[];
  readonly unknownTier: UnknownTier | null;
  /**
   * Local rows with a rate whose treatment of the product is not known, as a sentence; "" for none.
   */
  readonly unknownLocals: string;
  /** Why it is not known whether a holiday may apply on the day; "" where that is known. */
  readonly unheldHoliday: string;
  /** Whether the tax depends on the origin, whatever the sourcing rule asks. */
  readonly byOrigin: boolean;
  /** Why nothing at all can be said; "" where it can. */
  readonly unknown: string;
  /**
   * Whether nothing is unknown and no holiday may apply, so that the tax is the sum of the levies.
   */
  readonly sure: boolean;
  readonly localities: readonly Locality[];
  readonly notes: readonly TreatmentNote[];
}

/**
 * Whether a code is taxed as general goods because it has no rule. Not where nothing is levied, so
 * that a rule would make no difference, and not where a meal tax is its rule.
 */
export function isUnruled({ rule, tic, levies }: Treatment): boolean {
  return (
    rule === null &&
    tic !== GENERAL &&
    levies.every(({ meal }) => meal === null) &&
    levies.some(({ rate }) => rate > 0)
  );
}

/** The single-article tax, if a code may be an article; otherwise null. */
function articleOf(facts: CartFacts, { state, date }: Site, tic: string): SingleArticle | null {
  if (MEAL_CODES.has(tic)) return null;
  const single = singleArticleOn(facts, state.code, date);
  return single?.noArticles.some((code) => tic.startsWith(code)) === true ? null : single;
}

function bracketLevy(single: SingleArticle): Levy {
  const { additionalRate: rate } = single;
  const none = { ruled: false, site: null, meal: null, tier: null };
  return { ...none, rate, ofState: true, bracket: true };
}

/**
 * A tax by volume is the state's. Where the state has no other levy, one with rate 0 is added for
 * it.
 */
function carryingVolume(
  site: Site,
  shape: ProductRule | null,
  levies: readonly Levy[],
): readonly Levy[] {
  if ((shape?.perVolume ?? null) === null || levies.some(({ ofState }) => ofState)) return levies;
  const row = site.rows.find(({ row: { component } }) => component.level === 'state') ?? null;
  const none = { rate: 0 as Rate, ofState: true, ruled: true, bracket: false, tier: null };
  return [{ ...none, site: row, meal: null }, ...levies];
}

/** A treatment with the members that follow from others. */
function summed(treatment: Omit<Treatment, 'flat' | 'coarse' | 'sure' | 'tierless'>): Treatment {
  const {
    tic,
    rule,
    shape,
    levies,
    holidays,
    unclearHolidays,
    single,
    unknownLocals,
    unheldHoliday,
    byOrigin,
    unknown,
    localities,
    notes,
    tiers,
    unknownTier,
  } = treatment;
  const isFlat = shape === null && single === null;
  const sure =
    unknown === '' &&
    unknownLocals === '' &&
    unknownTier === null &&
    unheldHoliday === '' &&
    holidays.length + unclearHolidays.length === 0;
  // The members that every line needs come first, so that they are close together in memory.
  return {
    sure,
    tierless: tierlessOf(levies),
    coarse: isFlat ? coarseRates(levies) : null,
    flat: isFlat ? levies.reduce((sum, { rate }) => sum + rate, 0) : null,
    tic,
    rule,
    shape,
    levies,
    holidays,
    unclearHolidays,
    single,
    unknownLocals,
    unheldHoliday,
    byOrigin,
    unknown,
    localities,
    notes,
    tiers,
    unknownTier,
  };
}

/** Key of the treatment of delivery charges; no product code looks like it. */
const CHARGE = 'charge';

/** The treatments of codes in one dataset; those of a site are remembered with the site. */
export class Treatments {
  readonly #facts: CartFacts;
  readonly #products: ProductRules;
  readonly #localities: Localities;
  readonly #holidays = new Map<string, CodeHolidays>();

  constructor(facts: CartFacts, products: ProductRules, localities: Localities) {
    this.#facts = facts;
    this.#products = products;
    this.#localities = localities;
  }

  /**
   * The treatment of a line's code at a site; a refusal for a code that is not in the catalogue.
   */
  ofCode(site: Site, tic: string | null): Treatment | Failure {
    const { catalogue } = this.#products.book;
    return tic === null || catalogue === null || catalogue.has(tic)
      ? this.of(site, tic ?? GENERAL)
      : fail('no-result', `The catalogue has no product code ${tic}.`);
  }

  /** The treatment of a code at a site. */
  of(site: Site, tic: string): Treatment {
    let treatment = site.treatments.get(tic);
    if (treatment === undefined) {
      treatment = this.#read(site, tic);
      site.treatments.set(tic, treatment);
    }
    return treatment;
  }

  /**
   * The treatment of delivery charges: as general goods, but without single-article tax and
   * holidays.
   */
  ofCharge(site: Site): Treatment {
    let treatment = site.treatments.get(CHARGE);
    if (treatment === undefined) {
      const ordinary = this.of(site, GENERAL);
      const levies = ordinary.levies
        .filter(({ bracket }) => !bracket)
        .map((each) => ({ ...each, tier: null }));
      treatment = summed({
        ...ordinary,
        levies,
        single: null,
        holidays: [],
        unclearHolidays: [],
        unheldHoliday: '',
        tiers: [],
        unknownTier: null,
      });
      site.treatments.set(CHARGE, treatment);
    }
    return treatment;
  }

  #read(site: Site, tic: string): Treatment {
    const { state, date } = site;
    const held = this.#products.heldFrom(state.code, tic, date);
    const rules = this.#products.at(state.code, tic, date);
    const [rule = null, second] = rules;
    const draft =
      rule === null || isPlain(rule)
        ? { levies: site.rows.map((row) => levy(row, false)), unknownLocals: '', localities: [] }
        : ruled(this.#localities, site, rule);
    const article = articleOf(this.#facts, site, tic);
    const single = isPlain(rule) ? article : null;
    const { named: holidays, unclear } = this.#holidaysOf(state.code, tic);
    const {
      levies: ordinary,
      used: tiers,
      unknown: ofTier,
    } = tiered(this.#facts, site, tic, draft.levies);
    const isRuled = article !== null && single === null;
    const unknownTier = isRuled ? untoldArticle(site, tic, article, ordinary) : ofTier;
    const meals = mealLevies(this.#products, site, tic, ordinary);
    const unknown =
      held === null
        ? ''
        : `Product rules of ${state.code} for ${tic} are held from ` + `${formatDate(held)} on.`;
    const twice =
      second === undefined ? '' : `${tic} has several rules in ${state.code} on the day.`;
    const shape = isPlain(rule) || isExempt(rule) ? null : rule;
    const levies =
      single === null
        ? carryingVolume(site, shape, meals.levies)
        : [...meals.levies, bracketLevy(single)];
    return summed({
      tic,
      rule,
      levies,
      single,
      shape,
      tiers,
      unknownTier,
      localities: draft.localities,
      holidays: holidaysOn(holidays, date),
      unclearHolidays: holidaysOn(unclear, date),
      unknownLocals: draft.unknownLocals,
      unheldHoliday: unheldHoliday([...holidays, ...unclear], date),
      byOrigin: meals.byOrigin,
      unknown: unknown || twice || meals.unknown,
      notes: meals.notes,
    });
  }

  /** Holidays of a state, on any day, that cover a code or may cover it. */
  #holidaysOf(state: string, tic: string): CodeHolidays {
    const key = `${state}${tic}`;
    const kept = this.#holidays.get(key);
    if (kept !== undefined) return kept;
    const of = (cover: Cover): readonly HolidayRule[] =>
      (this.#facts.holidays.get(state) ?? []).filter(
        (holiday) => coverOf(this.#facts, holiday, tic) === cover,
      );
    const found = { named: of('yes'), unclear: of('unclear') };
    this.#holidays.set(key, found);
    return found;
  }
}
