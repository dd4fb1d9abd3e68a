/**
 * Local taxes on a product for which only the state's rule is known: whether they follow it. Also
 * makes the levies that result from a rule.
 */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, ComponentRecord } from '../../dataset/records.js';
import { isFailure } from '../../failure.js';
import { inForce, isWhole, type ProductRule } from '../../tax/product-rule.js';
import type { Rate } from '../../tax/rate.js';
import { type RatesByArea, isByArea } from '../rate/on-day.js';
import { localityKey, type CartFacts, type Locality } from './cart-facts.js';
import type { FoundPlace } from './cart-place.js';
import type { Site, SiteRow } from './site.js';
import type { Levy } from './treatment.js';

interface LocalRow {
  readonly site: SiteRow;
  readonly fact: Locality | null;
}

interface Locals {
  readonly rows: readonly LocalRow[];
  /** What is not known, as a sentence; "" where everything is known. */
  readonly unknown: string;
  /** The facts that were decisive, each once. */
  readonly facts: readonly Locality[];
}

/** The code of a jurisdiction in the table; "" for one that has none. */
function codeOf(
  { stateFips, countyFips, placeGeoid }: AreaRecord,
  { level, jurCode, jurName }: ComponentRecord,
): string {
  if (level === 'county') return stateFips + countyFips;
  if (level === 'city') return placeGeoid;
  return `${stateFips}#${jurCode ?? jurName}`;
}

/** The narrowest fact on all local taxes of a place: its own, its county's or its state's. */
function placeFact(facts: readonly Locality[], area: AreaRecord): Locality | null {
  const { stateFips, countyFips, placeGeoid } = area;
  const find = (code: string): Locality | null =>
    facts.find((fact) => fact.code === code && fact.locals !== 'own') ?? null;
  return (
    (placeGeoid === '' ? null : find(placeGeoid)) ?? find(stateFips + countyFips) ?? find(stateFips)
  );
}

/**
 * The fact on a jurisdiction's tax: on the tax itself (a district is found by its publisher's code
 * or its name), or otherwise on the place.
 */
function factOf(
  facts: readonly Locality[],
  area: AreaRecord,
  component: ComponentRecord,
  ofPlace: Locality | null,
): Locality | null {
  const code = codeOf(area, component);
  return (
    facts.find((fact) => fact.code === code && fact.locals === 'own') ??
    (component.level === 'district' ? facts.find((fact) => fact.code === code) : undefined) ??
    ofPlace
  );
}

/** The rate that a jurisdiction levies by a fact; null where that is not known. */
function rateUnder(fact: Locality | null, ordinary: Rate): Rate | null {
  if (fact === null) return ordinary === 0 ? ordinary : null;
  if (fact.locals === 'unlisted') return null;
  return fact.locals === 'own' ? (fact.rate ?? ordinary) : ordinary;
}

/**
 * Whether the county or city of an area may tax a product without a rate on general goods, so that
 * the site has no row in which the tax could be seen.
 */
function taxesUnseen(
  facts: readonly Locality[],
  area: AreaRecord,
  levels: ReadonlySet<string>,
  ofPlace: Locality | null,
): boolean {
  const { stateFips, countyFips, placeGeoid } = area;
  const unseen = [
    ...(countyFips === '' || levels.has('county') ? [] : [stateFips + countyFips]),
    ...(placeGeoid === '' || levels.has('city') ? [] : [placeGeoid]),
  ];
  return unseen.some((code) => {
    const own = facts.find((fact) => fact.code === code && fact.locals === 'own');
    return own === undefined ? ofPlace?.locals === 'unlisted' : (own.rate ?? 0) !== 0;
  });
}

function notHeld({ state }: Site, { tic }: ProductRule): string {
  return (
    `Whether local taxes in ${state.name} follow the state's rule for ${tic} differs by place ` +
    'and is not held for this one.'
  );
}

/** The areas whose local taxes a site takes. */
function areasOf({ rows }: Site): readonly AreaRecord[] {
  return [...new Set(rows.map(({ area }) => area))];
}

/** The levels on which an area has rows. */
function levelsIn(rows: readonly SiteRow[], of: AreaRecord): ReadonlySet<string> {
  return new Set(rows.filter(({ area }) => area === of).map(({ row }) => row.component.level));
}

/** Tells how local taxes of one dataset treat products that have a rule of the state. */
export class Localities {
  readonly #dataset: Dataset;
  readonly #rates: RatesByArea;
  readonly #facts: CartFacts;

  constructor(dataset: Dataset, rates: RatesByArea, facts: CartFacts) {
    this.#dataset = dataset;
    this.#rates = rates;
    this.#facts = facts;
  }

  /** For every local row of a site: what it levies on a product with this rule of the state. */
  localsOf(site: Site, rule: ProductRule): Locals {
    const locals = site.rows.filter(({ row }) => row.component.level !== 'state');
    if (rule.scope === 'state') {
      return { rows: locals.map((row) => ({ site: row, fact: null })), unknown: '', facts: [] };
    }
    const key = localityKey(site.state.code, rule.tic);
    const facts = (this.#facts.localities.get(key) ?? []).filter((fact) =>
      inForce(fact, site.date),
    );
    const rows = locals.map(
      (row): LocalRow => ({
        site: row,
        fact: factOf(facts, row.area, row.row.component, placeFact(facts, row.area)),
      }),
    );
    const told =
      rows.every(({ site: { rate }, fact }) => rateUnder(fact, rate) !== null) &&
      !areasOf(site).some((area) =>
        taxesUnseen(facts, area, levelsIn(locals, area), placeFact(facts, area)),
      );
    const isSure =
      !told ||
      facts.length === 0 ||
      (this.#isCertain(site, facts, site.origin) && this.#isCertain(site, facts, site.destination));
    const unknown = !told
      ? notHeld(site, rule)
      : isSure
        ? ''
        : `The ZIP code lies in places of ${site.state.name} that tax ${rule.tic} differently.`;
    return { rows, unknown, facts: [...new Set(rows.flatMap(({ fact }) => fact ?? []))] };
  }

  /**
   * The sum of local rates that an area levies regardless of the state's rule, in parts per
   * billion; null where they are not known.
   */
  #ordinaryPart(site: Site, facts: readonly Locality[], area: AreaRecord): number | null {
    const rates = this.#rates.at(area.id, site.date);
    if (isFailure(rates)) return null;
    const ofPlace = placeFact(facts, area);
    const levels = new Set(rates.rows.map(({ component }) => component.level));
    if (taxesUnseen(facts, area, levels, ofPlace)) return null;
    let sum = 0;
    for (const { component, sales } of rates.rows) {
      if (component.level === 'state') continue;
      const fact = factOf(facts, area, component, ofPlace);
      const rate = rateUnder(fact, sales);
      if (rate === null) return null;
      if (fact?.locals !== 'follow') sum += rate;
    }
    return sum;
  }

  /** Whether all tax areas that a place found by ZIP may lie in levy the same. */
  #isCertain(site: Site, facts: readonly Locality[], place: FoundPlace | null): boolean {
    if (place === null || !isByArea(place.situs.precision)) return true;
    const zip = Number(place.situs.postalCode.slice(0, 5));
    const parts = zip > 0 ? (this.#dataset.zip(zip)?.parts ?? []) : [];
    const here = this.#ordinaryPart(site, facts, place.area);
    return parts.every((part) => {
      const area = this.#dataset.area(part.area);
      // Within the state, the city that was named decides between parts of a ZIP, as it did for the
      // rates.
      if (area.state !== site.state.code) return true;
      if (place.area.placeGeoid !== '' && area.placeGeoid !== place.area.placeGeoid) return true;
      return this.#ordinaryPart(site, facts, area) === here;
    });
  }
}

/** The levy of a row, at its own rate or at one that a rule gives. */
export function levy(site: SiteRow, ruled: boolean, rate = site.rate): Levy {
  const ofState = site.row.component.level === 'state';
  return { rate, ofState, ruled, site, meal: null, bracket: false, tier: null };
}

/** Levies, and what is not known of the local ones. */
interface Draft {
  readonly levies: readonly Levy[];
  readonly unknownLocals: string;
  readonly localities: readonly Locality[];
}

/**
 * The levies of a rule with one rate, or an exemption, for the whole tax: it replaces the rates of
 * all jurisdictions.
 */
function wholeRate(site: Site, rate: Rate): readonly Levy[] {
  const [first] = site.rows;
  return first === undefined || rate === 0 ? [] : [levy(first, true, rate)];
}

/** The levies that result from a rule, before meal taxes and the single-article tax. */
export function ruled(localities: Localities, site: Site, rule: ProductRule): Draft {
  const { rows } = site;
  const none = { unknownLocals: '', localities: [] };
  if (isWhole(rule)) {
    if (!rule.taxable) return { ...none, levies: [] };
    const levies =
      rule.rate === null ? rows.map((row) => levy(row, true)) : wholeRate(site, rule.rate);
    return { ...none, levies };
  }
  const state = rows.filter(({ row }) => row.component.level === 'state');
  const rate = rule.taxable ? rule.rate : (0 as Rate);
  const ofState = state.map((row, at) =>
    levy(row, true, rate === null ? row.rate : at === 0 ? rate : (0 as Rate)),
  );
  const locals = localities.localsOf(site, rule);
  const kept = locals.rows.flatMap(({ site: row, fact }) => {
    if (fact?.locals === 'own') return [levy(row, false, fact.rate ?? row.rate)];
    if (fact?.locals !== 'follow') return [levy(row, false)];
    return rule.taxable ? [levy(row, true)] : [];
  });
  return {
    levies: [...ofState, ...kept],
    unknownLocals: locals.unknown,
    localities: locals.facts,
  };
}
