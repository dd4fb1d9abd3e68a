/**
 * Local taxes on a product whose rule is the state's: do they follow it, or is it not known? And
 * the levies that a rule leaves, of the state and of them.
 */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { isFailure } from '../../failure.js';
import { inForce, isWhole, type ProductRule } from '../../tax/product-rule.js';
import type { Rate } from '../../tax/rate.js';
import type { RatesByArea } from '../rate/area-rates.js';
import { localityKey, type CartFacts, type Locality } from './cart-facts.js';
import type { FoundPlace } from './cart-place.js';
import type { Site, SiteRow } from './site.js';
import type { Levy } from './treatment.js';
import { isByArea } from '../situs.js';

interface LocalRow {
  readonly site: SiteRow;
  readonly follows: boolean;
}

export interface Locals {
  readonly rows: readonly LocalRow[];
  /** What is not known, as a sentence; "" where all is known. */
  readonly unknown: string;
  /** The fact that decided for the place. */
  readonly locality: Locality | null;
}

/** The narrowest fact for a place: its own, its county's, its state's. */
function placeFact(facts: readonly Locality[], area: AreaRecord): Locality | null {
  const { stateFips, countyFips, placeGeoid } = area;
  const find = (code: string): Locality | null => facts.find((fact) => fact.code === code) ?? null;
  return (placeGeoid === '' ? null : find(placeGeoid)) ?? find(stateFips + countyFips)
    ?? find(stateFips);
}

/** The fact for a row: that of a district by its publisher's code, else the place's. */
function rowFact(
  facts: readonly Locality[], { stateFips }: AreaRecord, jurCode: string | null,
  ofPlace: Locality | null,
): Locality | null {
  if (jurCode === null) return ofPlace;
  const code = `${stateFips}#${jurCode}`;
  return facts.find((fact) => fact.code === code) ?? ofPlace;
}

function notHeld({ state }: Site, { tic }: ProductRule): string {
  return `Whether local taxes in ${state.name} follow the state's rule for ${tic} differs by place `
    + 'and is not held for this one.';
}

/** Tells how local taxes of one dataset treat products. */
export class Localities {
  readonly #dataset: Dataset;
  readonly #rates: RatesByArea;
  readonly #facts: CartFacts;

  constructor(dataset: Dataset, rates: RatesByArea, facts: CartFacts) {
    this.#dataset = dataset;
    this.#rates = rates;
    this.#facts = facts;
  }

  /** Tells, for every local row of a site, whether it follows a rule of the state. */
  localsOf(site: Site, rule: ProductRule): Locals {
    const locals = site.rows.filter(({ row }) => row.component.level !== 'state');
    if (rule.scope === 'state') {
      return {
        rows: locals.map((row) => ({ site: row, follows: false })), unknown: '', locality: null,
      };
    }
    const key = localityKey(site.state.code, rule.tic);
    const facts = (this.#facts.localities.get(key) ?? [])
      .filter((fact) => inForce(fact, site.date));
    let locality: Locality | null = null;
    let unknown = '';
    const rows = locals.map((row): LocalRow => {
      const { component } = row.row;
      const ofPlace = placeFact(facts, row.area);
      const fact = component.level === 'district'
        ? rowFact(facts, row.area, component.jurCode, ofPlace) : ofPlace;
      locality ??= fact;
      if (fact === null && row.rate !== 0) unknown = notHeld(site, rule);
      return { site: row, follows: fact?.follows === true };
    });
    if (facts.length > 0 && unknown === ''
      && !(this.#isCertain(site, facts, site.origin)
        && this.#isCertain(site, facts, site.destination))) {
      const { name } = site.state;
      unknown = `The ZIP code lies in places of ${name} that tax ${rule.tic} differently.`;
    }
    return { rows, unknown, locality };
  }

  /** The local rates that a place levies whatever the state's rule says, in parts per billion. */
  #ordinaryPart(site: Site, facts: readonly Locality[], area: AreaRecord): number | null {
    const rates = this.#rates.at(area.id, site.date);
    if (isFailure(rates)) return null;
    const ofPlace = placeFact(facts, area);
    let sum = 0;
    for (const { component, sales } of rates.rows) {
      if (component.level === 'state') continue;
      const isDistrict = component.level === 'district';
      const fact = isDistrict ? rowFact(facts, area, component.jurCode, ofPlace) : ofPlace;
      if (fact === null || !fact.follows) sum += sales;
    }
    return sum;
  }

  /** Whether every tax area that a place found by its ZIP may lie in comes to the same. */
  #isCertain(site: Site, facts: readonly Locality[], place: FoundPlace | null): boolean {
    if (place === null || !isByArea(place.situs.precision)) return true;
    const zip = Number(place.situs.postalCode.slice(0, 5));
    const parts = zip > 0 ? this.#dataset.zip(zip)?.parts ?? [] : [];
    const here = this.#ordinaryPart(site, facts, place.area);
    return parts.every((part) => {
      const area = this.#dataset.area(part.area);
      // The city that was named decides among the parts of a ZIP, as it did for the rates.
      if (area.state !== site.state.code) return true;
      if (place.area.placeGeoid !== '' && area.placeGeoid !== place.area.placeGeoid) return true;
      return this.#ordinaryPart(site, facts, area) === here;
    });
  }
}

/** A row's levy at its own rate, or at one that a rule gives. */
export function levy(site: SiteRow, ruled: boolean, rate = site.rate): Levy {
  const ofState = site.row.component.level === 'state';
  return { rate, ofState, ruled, site, meal: null, bracket: false, tier: null };
}

/** Levies, and what is not known of local ones. */
interface Draft {
  readonly levies: readonly Levy[];
  readonly unknownLocals: string;
  readonly locality: Locality | null;
}

/**
 * The levies of a rule that gives one rate, or an exemption, for the whole tax: it is taken once,
 * in place of every jurisdiction's own.
 */
function wholeRate(site: Site, rate: Rate): readonly Levy[] {
  const [first] = site.rows;
  return first === undefined || rate === 0 ? [] : [levy(first, true, rate)];
}

/** The levies that a rule leaves, before meals and single articles. */
export function ruled(localities: Localities, site: Site, rule: ProductRule): Draft {
  const { rows } = site;
  const none = { unknownLocals: '', locality: null };
  if (isWhole(rule)) {
    if (!rule.taxable) return { ...none, levies: [] };
    const levies = rule.rate === null
      ? rows.map((row) => levy(row, true)) : wholeRate(site, rule.rate);
    return { ...none, levies };
  }
  const state = rows.filter(({ row }) => row.component.level === 'state');
  const rate = rule.taxable ? rule.rate : 0 as Rate;
  const ofState = state.map((row, at) =>
    levy(row, true, rate === null ? row.rate : at === 0 ? rate : 0 as Rate));
  const locals = localities.localsOf(site, rule);
  const kept = locals.rows.flatMap(({ site: row, follows }) => {
    if (!follows) return [levy(row, false)];
    return rule.taxable ? [levy(row, true)] : [];
  });
  return {
    levies: [...ofState, ...kept], unknownLocals: locals.unknown, locality: locals.locality,
  };
}
