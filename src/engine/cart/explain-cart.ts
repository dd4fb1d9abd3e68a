/** Explains carts: every amount, with the figures and rules that it follows from. */
import { decimalText, exactText, formatUsd } from '../../tax/amount.js';
import { formatDate, parseDate } from '../../tax/date.js';
import type { Exact } from '../../tax/exact.js';
import { BASE_DIGITS, TAX_DIGITS } from '../../tax/scale.js';
import { GENERAL } from '../../tax/product-rule.js';
import { formatRate, type Rate } from '../../tax/rate.js';
import { exactTax } from '../../tax/round-lines.js';
import { MEAL_DOCUMENT, type MealRule } from '../product/meal-tax.js';
import { type Part, partsOf, partTax } from './explain-parts.js';
import { RuleNotes } from './explain-rules.js';
import { assumedNote, citedSource, type SourceNotes } from '../rate/explain.js';
import { normalizedAddress } from '../situs.js';
import type { CartFacts } from './cart-facts.js';
import { type TaxedLine, totalOf } from './taxed-line.js';
import type { LineTaxer } from './taxed-lines.js';
import type {
  CartExplanation,
  CartPlace,
  CartQuery,
  LineExplanation,
  PartNote,
  PlaceNote,
  RuleNote,
  SourceNote,
} from './outcome.js';
import { placeText, type FoundPlace } from './cart-place.js';
import type { Site, SiteRow } from './site.js';
import type { Levy, Treatments } from './treatment.js';

const QUANTITY_DIGITS = 4;

type Named = Omit<PartNote, 'rate' | 'base' | 'fixed' | 'tax'>;

function placeNote(place: CartPlace, found: FoundPlace | null, state: string): PlaceNote {
  const address = placeText(place);
  if (found === null) {
    return {
      address,
      normalizedAddress: '',
      state,
      county: '',
      city: '',
      precision: 'state',
      area: null,
    };
  }
  const { situs, area } = found;
  return {
    address,
    normalizedAddress: normalizedAddress(situs),
    state: area.state,
    county: area.countyFullName,
    city: area.placeName,
    precision: situs.precision,
    area: area.id,
    ...assumedNote(situs),
  };
}

/** A cart's places, and their states as far as they are known. */
export interface ExplainedPlaces {
  readonly site: Site;
  readonly origin: FoundPlace | null;
  readonly destination: FoundPlace | null;
  /** The state of the origin, which is known even where the place itself is not. */
  readonly originState: string;
  /** The time zone that determines the date of the sale. */
  readonly timeZone: string;
}

/** Explains carts of one release. */
export class CartExplainer {
  readonly #release: string;
  readonly #sources: SourceNotes;
  readonly #treatments: Treatments;
  readonly #rules: RuleNotes;
  /**
   * For each row of a site: the jurisdiction's name, and the note on lines that it takes nothing
   * of.
   */
  readonly #names = new WeakMap<SiteRow, Named>();
  readonly #nothing = new WeakMap<SiteRow, PartNote>();

  constructor(
    release: string,
    sources: SourceNotes,
    facts: CartFacts,
    treatments: Treatments,
    lines: LineTaxer,
  ) {
    this.#release = release;
    this.#sources = sources;
    this.#treatments = treatments;
    this.#rules = new RuleNotes(sources, facts, lines);
  }

  /** Explains every line of a cart. */
  lines(
    site: Site,
    cart: CartQuery,
    taxed: readonly TaxedLine[],
    amounts: readonly Exact[],
  ): readonly LineExplanation[] {
    const goods = totalOf(taxed.filter(({ treatment }) => treatment !== null));
    const parts = partsOf(this.#treatments.ofCharge(site), cart.lines, taxed, goods);
    return taxed.map((tax, at): LineExplanation => {
      const line = cart.lines[at]!;
      const own = parts[at]!;
      const exact = exactText(exactTax(tax), TAX_DIGITS, BigInt(tax.denominator));
      return {
        index: line.index,
        price: formatUsd(BigInt(line.price)),
        quantity: decimalText(BigInt(line.quantity), QUANTITY_DIGITS),
        tic: line.tic ?? GENERAL,
        parts: [...own.map((part) => this.#part(site, part)), ...this.#untaxed(site, own)],
        rules: this.#rules.of(site, line, tax, goods),
        exact,
        amount: formatUsd(BigInt(amounts[at]!)),
      };
    });
  }

  /** Explains what concerns all lines of the cart. */
  cart(cart: CartQuery, placed: ExplainedPlaces, total: Exact): CartExplanation {
    const { site, origin, destination, originState, timeZone } = placed;
    const { mode, level, digits } = cart.rounding;
    return {
      dataset: this.#release,
      date: formatDate(site.date),
      timeZone,
      origin: placeNote(cart.origin, origin, originState),
      destination: placeNote(cart.destination, destination, site.state.code),
      sourcing: this.#sourcing(site),
      rounding: { mode, level, digits },
      total: formatUsd(BigInt(total)),
    };
  }

  #sourcing({ sourcing, rules, state, rows }: Site): RuleNote {
    const { rule, interstate, special } = sourcing;
    const differs = rows.some(({ row }) => row.use !== row.sales);
    const use = differs ? '; sales rates are applied, the list has other use rates here' : '';
    if (interstate) {
      return {
        rule: 'sourcing: destination',
        applied: true,
        why: `sold from another state into ${state.name}${use}`,
        source: null,
      };
    }
    const note = special === null || special.note === '' ? '' : `; ${special.note}`;
    return {
      rule: `sourcing: ${rule}`,
      applied: true,
      why: `sold within ${state.name}${note}${use}`,
      source:
        special === null
          ? this.#sources.listed(rules.source)
          : citedSource('sourcing-cases', special),
    };
  }

  #part(site: Site, part: Part): PartNote {
    const { levy, base, fixed, denominator } = part;
    return {
      ...this.#named(site, levy),
      rate: formatRate(levy.rate),
      base: exactText(base, BASE_DIGITS, denominator),
      fixed: exactText(fixed, TAX_DIGITS, denominator),
      tax: exactText(partTax(part), TAX_DIGITS, denominator),
    };
  }

  /**
   * Jurisdictions of the site that take nothing of the line: the product is exempt there, or
   * another rate replaces theirs.
   */
  #untaxed(site: Site, parts: readonly Part[]): readonly PartNote[] {
    return site.rows
      .filter((row) => !parts.some(({ levy }) => levy.site === row))
      .map((row) => this.#nothingOf(site, row));
  }

  #nothingOf(site: Site, row: SiteRow): PartNote {
    const known = this.#nothing.get(row);
    if (known !== undefined) return known;
    const rate = 0 as Rate;
    const ofState = row.row.component.level === 'state';
    const none = { ruled: false, meal: null, bracket: false, tier: null };
    const levy = { ...none, rate, ofState, site: row };
    const note = this.#part(site, { levy, base: 0n, fixed: 0n, denominator: 1n });
    this.#nothing.set(row, note);
    return note;
  }

  #rowNamed(site: SiteRow): Named {
    const known = this.#names.get(site);
    if (known !== undefined) return known;
    const { row, side, rate } = site;
    const { level, jurName, jurCode } = row.component;
    const named = {
      level,
      jurisdiction: jurName,
      code: jurCode,
      place: side,
      ordinaryRate: formatRate(rate),
      source: this.#sources.listed(row.source),
    };
    this.#names.set(site, named);
    return named;
  }

  #named(site: Site, levy: Levy): Named {
    if (levy.site !== null) return this.#rowNamed(levy.site);
    const apart = { place: 'destination', ordinaryRate: '0' } as const;
    if (levy.meal !== null) {
      const { type, name, code } = levy.meal;
      return {
        ...apart,
        level: type.toLowerCase(),
        jurisdiction: `${name}: ${levy.meal.taxName}`,
        code,
        source: this.#mealSource(levy.meal),
      };
    }
    const what = levy.bracket ? 'additional tax on single articles' : 'tax by volume';
    return {
      ...apart,
      level: 'state',
      jurisdiction: `${site.state.name}: ${what}`,
      code: null,
      source: null,
    };
  }

  #mealSource(rule: MealRule): SourceNote | null {
    const rows = this.#sources.rowsBy(MEAL_DOCUMENT, ['jurisdiction_code', 'tax_name']);
    const row = rows.get(`${rule.code}|${rule.taxName}`)?.[0];
    if (row === undefined) return null;
    const asOf = parseDate(row.text('as_of'));
    const fact = { citation: row.text('basis'), source: row.text('source'), asOf };
    return citedSource('meal-tax', fact);
  }
}
