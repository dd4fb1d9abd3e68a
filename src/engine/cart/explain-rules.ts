/** The rules considered for a line of a cart, and why each applied or did not. */
import { decimalText, formatUsd } from '../../tax/amount.js';
import { formatDate } from '../../tax/date.js';
import { GENERAL, HANDLING, type ProductRule } from '../../tax/product-rule.js';
import { PRODUCT_DOCUMENT } from '../product/product-book.js';
import { citedSource, type SourceNotes } from '../rate/explain.js';
import { type CartFacts, factOn, type Locality, type TierFact } from './cart-facts.js';
import { coverOf, type Holiday, holidaysOn } from './holidays.js';
import type { GoodsTotal, TaxedLine } from './taxed-line.js';
import type { LineTaxer } from './taxed-lines.js';
import type { CartLine, RuleNote } from './outcome.js';
import type { Site } from './site.js';
import type { Treatment } from './treatment.js';

const PERCENT_DIGITS = 7;
const NOT_SUPPORTED_DOCUMENT = 'rules-not-supported';

const SCOPES = {
  all: 'state and local alike',
  total: 'the whole, with nothing besides',
  state: 'the state part',
  varies: 'the state part, local parts by place',
} as const;

function thresholdWhy({ threshold }: ProductRule, price: bigint): string {
  if (threshold === null) return '';
  const { kind, amount } = threshold;
  const limit = `$${formatUsd(amount)}`;
  const side = price < amount ? 'below' : price === amount ? 'at' : 'above';
  const effect = {
    below_exempt: 'items below it are exempt',
    above_exempt: 'items above it are exempt',
    above_excess: 'the part above it is taxed',
  }[kind];
  return `; the item is ${side} ${limit}: ${effect}`;
}

/** Remarks on a rule: conditions of the law, and a warning where its source is weak. */
function caveats({ basis: { condition, confidence } }: ProductRule): string {
  return (
    `${condition === '' ? '' : `; condition: ${condition}`}` +
    `${confidence === 'low' ? '; low confidence: check the law before relying on it' : ''}`
  );
}

function productNote(site: Site, { tic, rule }: Treatment, price: bigint): RuleNote {
  const name = `product: ${tic} in ${site.state.code}`;
  if (rule === null) {
    const why = 'no rule for the code: taxed as general goods';
    return { rule: name, applied: false, why, source: null };
  }
  const rate = rule.rate === null ? '' : ` at ${decimalText(BigInt(rule.rate), PERCENT_DIGITS)} %`;
  const taxable = rule.taxable ? `taxable${rate}` : 'exempt';
  return {
    rule: name,
    applied: true,
    why: `${taxable}, ${SCOPES[rule.scope]}${thresholdWhy(rule, price)}${caveats(rule)}`,
    source: citedSource(PRODUCT_DOCUMENT, rule.basis),
  };
}

/** The note on a fact about local taxes. */
function localNote({ tic }: Treatment, locality: Locality): RuleNote {
  const { name, locals, rate } = locality;
  const at =
    rate === null ? 'its rate on general goods' : `${decimalText(BigInt(rate), PERCENT_DIGITS)} %`;
  const why = {
    follow: 'local taxes follow the rule of the state',
    ordinary: 'local taxes are levied whatever the rule of the state',
    own: rate === 0 ? 'levies nothing on it' : `levies ${at} on it, whatever the rule of the state`,
    unlisted: 'local taxes on it are known where they are listed alone',
  }[locals];
  return {
    rule: `local taxes on ${tic}: ${name}`,
    applied: locals === 'follow' || locals === 'own',
    why,
    source: citedSource('product-localities', locality),
  };
}

function daysOf({ from, to }: Holiday): string {
  return `${formatDate(from)} to ${formatDate(to)}`;
}

function holidayNote(holiday: Holiday, used: Holiday | null): RuleNote {
  const { name, limit } = holiday;
  const days = daysOf(holiday);
  const cap = limit === null ? 'no price limit' : `limit $${formatUsd(limit)} an item`;
  const applied = holiday === used;
  const why = `${days}, ${cap}${applied ? '' : '; the price is over it, or another holds'}`;
  return { rule: `holiday: ${name}`, applied, why, source: citedSource('holidays', holiday) };
}

function singleNote({ single }: Treatment, price: bigint): readonly RuleNote[] {
  if (single === null) return [];
  const limit = formatUsd(single.localLimit);
  const applied = price > single.localLimit;
  return [
    {
      rule: 'single article',
      applied,
      why: applied
        ? `local taxes end at $${limit} an item, an additional state tax begins there`
        : `the item is at or below $${limit}`,
      source: citedSource('single-article', single),
    },
  ];
}

function tierNote(tier: TierFact, price: bigint): RuleNote {
  const { level, kind, threshold, rate } = tier;
  const limit = `$${formatUsd(threshold)}`;
  const applied = price > threshold;
  const above = decimalText(BigInt(rate), PERCENT_DIGITS);
  const what =
    kind === 'portion'
      ? `the part above it is taxed at ${above} %`
      : `the whole price is taxed at ${above} %`;
  return {
    rule: `price tier: ${level}`,
    applied,
    why: applied ? `the item is above ${limit}: ${what}` : `the item is at or below ${limit}`,
    source: citedSource('price-tiers', tier),
  };
}

const CHARGES = {
  exempt: 'exempt',
  ordinary: 'taxed as general goods',
  'as-goods': 'taxed as the goods of the cart, in proportion to their prices',
  whole: 'taxed whole, since goods of the cart are taxed',
} as const;

/** Makes the notes on rules of one dataset. */
export class RuleNotes {
  readonly #sources: SourceNotes;
  readonly #facts: CartFacts;
  readonly #lines: LineTaxer;
  /** Notes on holidays that do not cover general goods, by site. */
  readonly #others = new WeakMap<Site, readonly RuleNote[]>();

  constructor(sources: SourceNotes, facts: CartFacts, lines: LineTaxer) {
    this.#sources = sources;
    this.#facts = facts;
    this.#lines = lines;
  }

  /** The rules considered for a line. */
  of(site: Site, line: CartLine, tax: TaxedLine, goods: GoodsTotal): readonly RuleNote[] {
    const { treatment, freight, holiday } = tax;
    if (treatment !== null) return this.#goods(site, treatment, line, holiday);
    return freight === null ? [] : this.#freight(site, line, freight, goods);
  }

  #goods(
    site: Site,
    treatment: Treatment,
    line: CartLine,
    used: Holiday | null,
  ): readonly RuleNote[] {
    const { localities, holidays, unclearHolidays, notes } = treatment;
    return [
      productNote(site, treatment, BigInt(line.price)),
      ...localities.map((locality) => localNote(treatment, locality)),
      ...[...holidays, ...unclearHolidays].map((holiday) => holidayNote(holiday, used)),
      ...this.#otherHolidays(site, treatment.tic),
      ...singleNote(treatment, BigInt(line.price)),
      ...treatment.tiers.map((tier) => tierNote(tier, BigInt(line.price))),
      ...notes.map((note) => ({ ...note, source: null })),
      ...this.#notSupported(site),
    ];
  }

  /** Known rules of the state that no cart applies. */
  #notSupported({ state: { code } }: Site): readonly RuleNote[] {
    const rows = this.#sources.rowsBy(NOT_SUPPORTED_DOCUMENT, ['state']).get(code) ?? [];
    return rows.map(
      (row): RuleNote => ({
        rule: 'not supported',
        applied: false,
        why: row.text('note'),
        source: {
          name: NOT_SUPPORTED_DOCUMENT,
          asOf: row.text('as_of'),
          citation: row.text('source'),
        },
      }),
    );
  }

  /**
   * General goods may be of a kind that a holiday covers. They stay taxed, and the note says why.
   */
  #otherHolidays(site: Site, tic: string): readonly RuleNote[] {
    if (tic !== GENERAL) return [];
    const known = this.#others.get(site);
    if (known !== undefined) return known;
    const facts = this.#facts;
    const notes = holidaysOn(facts.holidays.get(site.state.code) ?? [], site.date)
      .filter((holiday) => coverOf(facts, holiday, tic) === 'no')
      .map((holiday): RuleNote => {
        const { name, categories } = holiday;
        const coded = categories.some((category) => facts.categories.has(category));
        const goods = categories.join(', ').replaceAll('_', ' ');
        return {
          rule: `holiday: ${name}`,
          applied: false,
          why: `${daysOf(holiday)}, for ${goods}: ${
            coded ? 'goods are exempt under their own code alone' : 'no product code names them'
          }`,
          source: citedSource('holidays', holiday),
        };
      });
    this.#others.set(site, notes);
    return notes;
  }

  #freight(
    site: Site,
    line: CartLine,
    charge: keyof typeof CHARGES,
    goods: GoodsTotal,
  ): readonly RuleNote[] {
    const {
      rules: { freightRule, freightDescription, source },
      state,
    } = site;
    const own = line.tic === HANDLING ? factOn(this.#facts.handling, state.code, site.date) : null;
    const mix = goods.mixed ? this.#lines.freightMix(site) : null;
    const first: RuleNote = {
      rule: own === null ? `freight: ${freightRule}` : `handling: ${own.rule}`,
      applied: true,
      why: `${CHARGES[charge]}. ${own === null ? freightDescription : ''}`.trimEnd(),
      source: own === null ? this.#sources.listed(source) : citedSource('handling', own),
    };
    return mix === null
      ? [first]
      : [
          first,
          {
            rule: `freight on mixed goods: ${mix.mixed}`,
            applied: charge === 'as-goods' || charge === 'whole',
            why: 'goods of the cart are taxed differently',
            source: citedSource('freight-mixed', mix),
          },
        ];
  }
}
