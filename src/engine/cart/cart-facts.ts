/**
 * What the tax of a cart needs beyond rates and product rules, read once by the engine.
 *
 * - sourcing-cases: how a state sources sales within it, where origin or destination alone does
 *   not say it (`rule`, `local_cap`, `note`).
 * - product-localities: what local taxes of a jurisdiction (`36`, `36005`, `3651000`, a district
 *   `13#00044`) do where the state's rule for a code leaves that to them (`locals`, `rate`).
 * - holidays: days by the law's own rule, categories and price limit of a sales-tax holiday.
 * - holiday-categories: the codes of a category; "*" for every code that it does not list.
 * - freight-mixed: how one delivery charge on goods that are taxed differently is taxed.
 * - handling: the rule for handling charges, which may differ from the one for shipping.
 * - price-tiers: taxes that end or change above a price of one item, by jurisdiction and code.
 * - single-article: a state's special tax on single expensive articles.
 * - rules-not-supported: rules that no cart applies, and which carts are refused for them.
 * - county-time-zones: counties whose clocks differ from those of most of their state.
 */
import type { Dataset } from '../../dataset/dataset.js';
import { parseUsd } from '../../tax/amount.js';
import type { DateInt } from '../../tax/date.js';
import { type Level, LEVELS } from '../../tax/jurisdiction.js';
import { inForce } from '../../tax/product-rule.js';
import { parseRate, type Rate } from '../../tax/rate.js';
import { parseYearlyDays } from '../../tax/yearly-days.js';
import { cellsOf, type Cells } from '../product/table-cells.js';
import {
  type Cover,
  COVERS,
  DELIVERY_IN_PRICE,
  HOLIDAY_SCOPES,
  type HolidayRule,
  LIMIT_KINDS,
} from './holidays.js';
import { type NotSupported, readNotSupported } from './not-supported.js';

/** The source of a fact. */
export interface Citation {
  readonly citation: string;
  readonly source: string;
  readonly asOf: DateInt | null;
}

interface Dated {
  readonly from: DateInt | null;
  readonly to: DateInt | null;
}

/**
 * - `origin`, `destination`: all parts there.
 * - `base-at-origin`: the state's part at the origin, all others at the destination.
 * - `origin-to-cap`: at the origin; where its local rates are below the cap, those of the
 *   destination are added as far as the cap allows.
 */
export const SOURCING_RULES = ['origin', 'destination', 'base-at-origin', 'origin-to-cap'] as const;
export type SourcingRule = (typeof SOURCING_RULES)[number];

export interface SourcingCase extends Dated, Citation {
  readonly rule: SourcingRule;
  readonly localCap: Rate | null;
  readonly note: string;
}

/**
 * - `follow`, `ordinary`: all local taxes there follow the state's rule, or are levied whatever it
 *   says; the narrowest jurisdiction decides.
 * - `own`: the jurisdiction's own tax, and nobody else's, is levied at the row's rate, or at its
 *   rate on general goods where the row gives none.
 * - `unlisted`: nothing is known of jurisdictions without a row, even of those that levy nothing on
 *   general goods, since the law lets them tax these goods apart.
 */
const LOCAL_KINDS = ['follow', 'ordinary', 'own', 'unlisted'] as const;
type LocalKind = (typeof LOCAL_KINDS)[number];

export interface Locality extends Dated, Citation {
  readonly code: string;
  readonly name: string;
  readonly locals: LocalKind;
  /** The rate of an `own` tax; null for the jurisdiction's rate on general goods. */
  readonly rate: Rate | null;
}

export interface FreightMix extends Dated, Citation {
  readonly mixed: 'proportion' | 'whole';
}

/** How a charge is taxed: always, never, as the goods of the cart are, or as shipping is. */
const HANDLING_RULES = ['TAXABLE', 'EXEMPT', 'ITEM_SPECIFIC', 'AS_SHIPPING'] as const;

interface Handling extends Dated, Citation {
  readonly rule: (typeof HANDLING_RULES)[number];
}

/**
 * What holds above the threshold: another rate, on the rest (`portion`) or on the whole price
 * (`whole`), or a rule that the dataset does not have (`unknown`).
 */
const TIER_KINDS = ['portion', 'whole', 'unknown'] as const;

/** A row of price-tiers. */
export interface TierFact extends Dated, Citation {
  readonly level: Level;
  /** Five digits of a county or seven of a place; "" for every jurisdiction of the level. */
  readonly code: string;
  /** Codes that it applies to; if empty, all but those that begin like one of `except`. */
  readonly tics: readonly string[];
  readonly except: readonly string[];
  readonly kind: (typeof TIER_KINDS)[number];
  /** Price of one item, in 10⁻⁹ dollars. */
  readonly threshold: bigint;
  readonly rate: Rate;
}

/** Amounts in 10⁻⁹ dollars of one article. */
export interface SingleArticle extends Citation {
  readonly localLimit: bigint;
  readonly bracketEnd: bigint;
  readonly additionalRate: Rate;
  /** Beginnings of codes that are not articles: services, custom software and the like. */
  readonly noArticles: readonly string[];
}

interface SingleArticleItem extends Dated, Citation {
  readonly item: string;
  readonly value: string;
}

type ByState<T> = ReadonlyMap<string, readonly T[]>;

/** All facts, by state; localities by "state|code". */
export interface CartFacts {
  readonly sourcing: ByState<SourcingCase>;
  readonly localities: ByState<Locality>;
  readonly holidays: ByState<HolidayRule>;
  /** Whether a category covers a code, by category and code. */
  readonly categories: ReadonlyMap<string, ReadonlyMap<string, Cover>>;
  readonly freightMixes: ByState<FreightMix>;
  readonly handling: ByState<Handling>;
  readonly tiers: ByState<TierFact>;
  readonly singleArticle: ByState<SingleArticleItem>;
  readonly notSupported: ByState<NotSupported>;
  /** Time zones that differ from their state's, by five-digit county code. */
  readonly zones: ReadonlyMap<string, string>;
}

function cited(row: Cells): Citation {
  return {
    citation: row.text('citation'),
    source: row.text('source'),
    asOf: row.date('as_of'),
  };
}

function dated(row: Cells): Dated {
  return { from: row.date('effective_from'), to: row.date('effective_to') };
}

function gather<T>(
  rows: readonly Cells[] | null,
  keyOf: (row: Cells) => string,
  read: (row: Cells) => T,
): ReadonlyMap<string, readonly T[]> {
  const map = new Map<string, T[]>();
  for (const row of rows ?? []) {
    const key = keyOf(row);
    const list = map.get(key);
    if (list === undefined) map.set(key, [read(row)]);
    else list.push(read(row));
  }
  return map;
}

function holiday(row: Cells): HolidayRule {
  const kind = row.text('limit_kind');
  const scope = row.text('scope');
  const delivery = row.text('delivery_in_price');
  return {
    ...cited(row),
    name: row.text('name'),
    days: row.required('days', parseYearlyDays),
    heldFrom: row.heldFrom(),
    heldTo: row.date('effective_to'),
    categories: row.text('categories').split(';'),
    limit: row.optional('max_item_usd', parseUsd),
    limitKind: kind === '' ? null : row.oneOf('limit_kind', LIMIT_KINDS),
    deliveryInPrice:
      delivery === '' ? 'unknown' : row.oneOf('delivery_in_price', DELIVERY_IN_PRICE),
    scope: scope === '' ? 'varies' : row.oneOf('scope', HOLIDAY_SCOPES),
    limitsHeld: row.text('limits_held') !== 'no',
  };
}

const stateOf = (row: Cells): string => row.text('state');

function listed(codes: string): readonly string[] {
  return codes.split(';').filter((code) => code !== '');
}

function tier(row: Cells): TierFact {
  const kind = row.oneOf('kind', TIER_KINDS);
  return {
    ...dated(row),
    ...cited(row),
    level: row.oneOf('level', LEVELS),
    code: row.text('jurisdiction_code'),
    tics: listed(row.text('tics')),
    except: listed(row.text('except')),
    kind,
    threshold: row.required('threshold_usd', parseUsd),
    rate: kind === 'unknown' ? (0 as Rate) : row.required('rate', parseRate),
  };
}

/**
 * The facts of a dataset; a document it lacks reads as empty.
 * @throws Error naming document and row when a cell cannot be read.
 */
export function readCartFacts(dataset: Dataset): CartFacts {
  const rowsOf = (name: string): readonly Cells[] | null => cellsOf(dataset.document(name), name);
  const codes = gather(
    rowsOf('holiday-categories'),
    (row) => row.text('category'),
    (row) => [row.text('tic'), row.oneOf('covers', COVERS)] as const,
  );
  return {
    sourcing: gather(rowsOf('sourcing-cases'), stateOf, (row) => ({
      ...dated(row),
      ...cited(row),
      rule: row.oneOf('rule', SOURCING_RULES),
      localCap: row.optional('local_cap', parseRate),
      note: row.text('note'),
    })),
    localities: gather(
      rowsOf('product-localities'),
      (row) => localityKey(stateOf(row), row.text('tic')),
      (row) => ({
        ...dated(row),
        ...cited(row),
        code: row.text('jurisdiction_code'),
        name: row.text('jurisdiction_name'),
        locals: row.oneOf('locals', LOCAL_KINDS),
        rate: row.optional('rate', parseRate),
      }),
    ),
    holidays: gather(rowsOf('holidays'), stateOf, holiday),
    categories: new Map([...codes].map(([category, tics]) => [category, new Map(tics)])),
    freightMixes: gather(rowsOf('freight-mixed'), stateOf, (row) => ({
      ...dated(row),
      ...cited(row),
      mixed: row.oneOf('mixed', ['proportion', 'whole']),
    })),
    handling: gather(rowsOf('handling'), stateOf, (row) => ({
      ...dated(row),
      ...cited(row),
      rule: row.oneOf('rule', HANDLING_RULES),
    })),
    tiers: gather(rowsOf('price-tiers'), stateOf, tier),
    singleArticle: gather(rowsOf('single-article'), stateOf, (row) => ({
      ...dated(row),
      ...cited(row),
      item: row.text('item'),
      value: row.text('value'),
    })),
    notSupported: readNotSupported(rowsOf('rules-not-supported') ?? []),
    zones: new Map(
      (rowsOf('county-time-zones') ?? []).map((row) => [row.text('county'), row.text('time_zone')]),
    ),
  };
}

/** Key of a code's localities. */
export function localityKey(state: string, tic: string): string {
  return `${state}|${tic}`;
}

/** The first row that is in force on a day; null where there is none. */
export function factOn<T extends Dated>(table: ByState<T>, state: string, date: DateInt): T | null {
  return table.get(state)?.find((row) => inForce(row, date)) ?? null;
}

/** A state's single-article rule on a day; null where one of its figures is missing. */
export function singleArticleOn(
  facts: CartFacts,
  state: string,
  date: DateInt,
): SingleArticle | null {
  const rows = facts.singleArticle.get(state)?.filter((row) => inForce(row, date)) ?? [];
  const textOf = (item: string): string => rows.find((row) => row.item === item)?.value ?? '';
  const localLimit = parseUsd(textOf('local_tax_applies_to_first_usd'));
  const bracketEnd = parseUsd(textOf('single_article_to_usd'));
  const additionalRate = parseRate(textOf('state_single_article_rate'));
  const [first] = rows;
  if (first === undefined || localLimit === null || bracketEnd === null) return null;
  if (additionalRate === null) return null;
  const { citation, source, asOf } = first;
  const noArticles = listed(textOf('codes_of_no_article'));
  return { localLimit, bracketEnd, additionalRate, noArticles, citation, source, asOf };
}
