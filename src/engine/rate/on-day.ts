/**
 * Where a lookup leads, what day it is there, and what applies on that day: a state's rules, and
 * the rates of tax areas. No other file compares components with dates.
 */
import { NumberCache } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type {
  RatePeriod,
  AreaRecord,
  StateRecord,
  StateRuleRecord,
} from '../../dataset/records.js';
import { fail, type Failure } from '../../failure.js';
import { DATE_OPEN, type DateInt, DATE_MIN, dateSlot, SLOT_MS, todayIn } from '../../tax/date.js';
import type { Country } from '../../tax/jurisdiction.js';
import { type Rate, RATE_ZERO } from '../../tax/rate.js';
import type { DateOf } from '../locate/doubt.js';
import type { AddressLocator } from '../locate/locator.js';
import { PlaceLocator } from '../locate/place-locator.js';
import { elsewhere, PointLocator } from '../locate/point.js';
import {
  aheadOf,
  type AddressQuery,
  type AreaRateRow,
  type Border,
  type KnownRates,
  type LookupOutcome,
  type LookupQuery,
  notOver,
  type SitusOutcome,
  type Unheld,
} from '../lookup-query.js';
import { tooVague, WEAKEST, type Precision, type Situs } from '../situs.js';
import { Borders } from './borders.js';
import { ZipLists } from './zip-list.js';

/** In Canada goods, freight and services are taxed the same, at the destination. */
const CANADIAN: StateRuleRecord = {
  from: DATE_MIN,
  to: DATE_OPEN,
  serviceTaxable: 'Y',
  freightTaxable: 'Y',
  freightRule: 'TAXABLE',
  freightExemptWhenSeparatelyStated: false,
  freightDescription: 'Delivery charges are taxable.',
  sourcing: 'D',
  sourcingDescription: 'destination',
  source: -1,
};

/** The rules of a state, province or territory on a day; null where they are not known. */
export function rulesAt(state: StateRecord, date: DateInt): StateRuleRecord | null {
  for (const rule of state.rules) {
    if (rule.from <= date && date <= rule.to) return rule;
  }
  return state.country === 'CAN' ? CANADIAN : null;
}

/** The area that a lookup led to; what a boundary file decided is stale after the file's end. */
export function areaOf(dataset: Dataset, { area: id, stated }: Situs): AreaRecord {
  const area = dataset.area(id);
  if (stated !== true) return area;
  const { statedUntil = DATE_OPEN } = dataset.state(area.state) ?? {};
  return statedUntil < area.staleAfter ? { ...area, staleAfter: statedUntil } : area;
}

const LETTERS = 26;
const CAPITAL_A = 65;

/** The states, provinces and territories of one dataset. */
export class States {
  readonly #dataset: Dataset;
  /** Dates of the present slot by the letters of a state's code; 0 where not determined yet. */
  readonly #days = new Uint32Array(LETTERS * LETTERS);
  /** Beginning and end of that slot, in milliseconds since 1970. */
  #from = 0;
  #until = 0;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** @throws Error where the dataset lacks the state, though it has areas in it. */
  require(code: string): StateRecord {
    const state = this.#dataset.state(code);
    if (state === null) throw new Error(`the dataset has areas in ${code} but no such state`);
    return state;
  }

  /** The date at `nowMs` in the state's main time zone. */
  today(code: string, nowMs: number): DateInt {
    if (nowMs < this.#from || nowMs >= this.#until) {
      this.#days.fill(0);
      this.#from = dateSlot(nowMs) * SLOT_MS;
      this.#until = this.#from + SLOT_MS;
    }
    const first = code.charCodeAt(0) - CAPITAL_A;
    const second = code.charCodeAt(1) - CAPITAL_A;
    // Codes with other characters have no index; their date is determined each time.
    const isNumber = code.length === 2 && second >= 0 && second < LETTERS;
    const at = isNumber ? first * LETTERS + second : -1;
    const known = this.#days[at] ?? 0;
    if (known !== 0) return known as DateInt;
    const today = todayIn(this.require(code).timeZone, nowMs);
    if (at >= 0) this.#days[at] = today;
    return today;
  }
}

/** The period that contains a day, or null. */
export function periodOn(periods: readonly RatePeriod[], date: DateInt): RatePeriod | null {
  for (const period of periods) {
    if (period.from <= date && date <= period.to) return period;
  }
  return null;
}

/** Areas in each of two generations of the cache, each with its rates on the last day asked for. */
const AREAS_MAX = 16_384;

interface Rated {
  readonly date: DateInt;
  readonly rates: KnownRates | Failure;
}

/** The rates of a dataset's tax areas. Remembers those of the last day asked for. */
export class RatesByArea {
  readonly #dataset: Dataset;
  readonly #areas = new NumberCache<Rated>(AREAS_MAX);
  readonly #unmet: (unheld: Unheld) => void;

  /** `unmet` is called for rates that a query needs and that are missing. */
  constructor(dataset: Dataset, unmet: (unheld: Unheld) => void = () => undefined) {
    this.#dataset = dataset;
    this.#unmet = unmet;
  }

  /**
   * An area's rates on a day. A refusal (110) where the combined rate is not known; it names the
   * state, the level and what would supply it.
   */
  at(area: number, date: DateInt): KnownRates | Failure {
    const known = this.#areas.get(area);
    if (known !== undefined && known.date === date) return known.rates;
    const rates = this.#read(area, date);
    this.#areas.set(area, { date, rates });
    return rates;
  }

  /**
   * Rows of state, county and city are included even at zero, since they say where the place is. A
   * district that levies nothing on the day is left out, and so is a tax of a province that another
   * replaces.
   */
  #read(id: number, date: DateInt): KnownRates | Failure {
    const { state, unknown, components } = this.#dataset.area(id);
    const gap = unknown.find(({ from, to }) => from <= date && date <= to);
    if (gap !== undefined) {
      const { reason: why, to } = gap;
      this.#unmet({ state, past: to !== DATE_OPEN, why });
      return fail('no-result', why);
    }
    const rows: AreaRateRow[] = [];
    let sales = 0;
    let use = 0;
    for (const each of components) {
      const component = this.#dataset.component(each);
      const period = periodOn(component.periods, date);
      if (period !== null) {
        const { source } = period;
        const { estimated } = this.#dataset.source(source);
        rows.push({ component, sales: period.sales, use: period.use, source, estimated });
        sales += period.sales;
        use += period.use;
      } else if (component.level !== 'district' && component.kind === null) {
        const none = RATE_ZERO;
        rows.push({ component, sales: none, use: none, source: null, estimated: false });
      }
    }
    return { sales: sales as Rate, use: use as Rate, rows };
  }
}

/** Whether a place was found by its ZIP or city's name, not by a door or coordinates. */
export function isByArea(precision: Precision): boolean {
  return precision === 'postal' || precision === 'city';
}

/** The lookups of a release: where a place is, what day it is there, and what applies on it. */
export abstract class Lookups {
  protected readonly dataset: Dataset;
  protected readonly states: States;
  protected readonly rates: RatesByArea;
  protected readonly places: PlaceLocator;
  readonly #addresses: AddressLocator;
  readonly #points: PointLocator;
  readonly #zips: ZipLists;
  readonly #borders: Borders;

  constructor(dataset: Dataset, unmet: (unheld: Unheld) => void) {
    this.dataset = dataset;
    this.states = new States(dataset);
    const rates = (this.rates = new RatesByArea(dataset, unmet));
    const places = (this.places = new PlaceLocator(dataset, rates));
    this.#addresses = places.addresses;
    this.#points = new PointLocator(dataset, rates, (area, lat, lng) =>
      places.unheldNear(area, lat, lng),
    );
    this.#zips = new ZipLists(dataset, rates);
    this.#borders = new Borders(dataset.cells, rates);
  }

  /** Called for every refusal. */
  protected abstract refused(failure: Failure): void;

  /**
   * Answers a query at `nowMs` (milliseconds since 1970 UTC). A location found less precisely than
   * `precisionMin` is refused; lists by postal code are no locations and are never refused for
   * that.
   */
  lookup(query: LookupQuery, nowMs: number, precisionMin: Precision = WEAKEST): LookupOutcome {
    const outcome = this.#lookup(query, nowMs, precisionMin);
    if (isRefusal(outcome)) this.refused(outcome);
    return outcome;
  }

  #lookup(query: LookupQuery, nowMs: number, precisionMin: Precision): LookupOutcome {
    const { date: asked } = query.options;
    const future = asked === null ? null : notOver(asked, aheadOf(nowMs));
    if (future !== null) return future;
    const dateAt: DateOf = (state) => asked ?? this.states.today(state, nowMs);
    if (query.kind === 'postal') return this.#zips.outcome(query, dateAt, this.states, nowMs);
    const situs =
      query.kind === 'address' ? this.#address(query, dateAt) : this.#points.locate(query, dateAt);
    if (isRefusal(situs)) return situs;
    const vague = precisionMin === WEAKEST ? null : tooVague(situs, precisionMin);
    if (vague !== null) return vague;
    const area = areaOf(this.dataset, situs);
    const early = asked === null ? null : notOver(asked, this.states.today(area.state, nowMs));
    if (early !== null) return early;
    const date = dateAt(area.state);
    const rates = this.rates.at(situs.area, date);
    return isRefusal(rates)
      ? rates
      : { kind: 'situs', situs, area, date, rates, border: undefined };
  }

  #address(query: AddressQuery, dateAt: DateOf): Situs | Failure {
    const { country: asked } = query.options;
    const situs =
      asked === 'CAN'
        ? this.places.locateCanadian(query.address, dateAt)
        : this.#addresses.locate(query.address, dateAt);
    if (isRefusal(situs)) return situs;
    const { country } = this.dataset.area(situs.area);
    return reaches(asked, country) ? situs : elsewhere(asked);
  }

  /** The rules of a state, province or territory on a day; null where they are not known. */
  stateRules(code: string, date: DateInt): StateRuleRecord | null {
    const state = this.dataset.state(code);
    return state === null ? null : rulesAt(state, date);
  }

  /** The nearest line at which the rate changes, for answers with a spot of their own. */
  border(outcome: SitusOutcome): Border | null {
    if (outcome.border === undefined) outcome.border = this.#border(outcome);
    return outcome.border;
  }

  #border({ situs, area, date }: SitusOutcome): Border | null {
    const { lat, lng } = situs;
    if (situs.apart === true) return null;
    if (isByArea(situs.precision) || (lat === 0 && lng === 0)) return null;
    return this.#borders.near(area.id, date, situs);
  }
}

/** `isFailure` for these three alone, which is faster for the reason given there. */
function isRefusal(found: Situs | KnownRates | LookupOutcome): found is Failure {
  return (found as Partial<Failure>).failure !== undefined;
}

/**
 * Whether an address in `found` answers a query for `asked`. The default country includes the
 * territories, whose addresses look like those of states; coordinates must match exactly.
 */
function reaches(asked: Country, found: Country): boolean {
  return asked === found || (asked === 'USA' && found !== 'CAN');
}
