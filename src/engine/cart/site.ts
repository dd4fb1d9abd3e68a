/** Which rates tax a cart: the rows of the places that the state's sourcing rule selects. */
import { RecentCache } from '../../base/tables.js';
import type { AreaRecord, StateRecord, StateRuleRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import { RATE_ONE, type Rate } from '../../tax/rate.js';
import { type RatesByArea, rulesAt, isByArea } from '../rate/on-day.js';
import type { AreaRateRow, KnownRates } from '../lookup-query.js';
import { factOn, type CartFacts, type SourcingCase, type SourcingRule } from './cart-facts.js';
import type { FoundPlace } from './cart-place.js';
import { saleLimit } from './not-supported.js';
import type { Treatment } from './treatment.js';

export type Side = 'origin' | 'destination';

/** One jurisdiction's rate on a cart, and the place it was taken from. */
export interface SiteRow {
  readonly row: AreaRateRow;
  readonly rate: Rate;
  readonly area: AreaRecord;
  readonly side: Side;
}

/** How sales are sourced: the rule, and the fact behind it. */
interface Sourcing {
  readonly rule: SourcingRule;
  readonly interstate: boolean;
  /** Null where the state's general rule applies. */
  readonly special: SourcingCase | null;
}

/** Everything that lines of carts between two places on one day have in common. */
export interface Site {
  readonly state: StateRecord;
  readonly rules: StateRuleRecord;
  readonly date: DateInt;
  readonly sourcing: Sourcing;
  readonly sides: 'origin' | 'destination' | 'mixed';
  readonly rows: readonly SiteRow[];
  readonly estimated: boolean;
  readonly stale: boolean;
  readonly partial: boolean;
  /** Amount of a sale, 10⁻⁹ dollars, above which local taxes are not known; null for none. */
  readonly saleLimit: bigint | null;
  /** The places that rows were taken from, as far as they were located; null where not needed. */
  readonly origin: FoundPlace | null;
  readonly destination: FoundPlace | null;
  /** Treatments by code, added when a code is first needed. */
  readonly treatments: Map<string, Treatment>;
}

/**
 * Whether a sourcing rule needs to know where in the state the origin, or the destination, lies.
 */
export function needs(rule: SourcingRule, side: Side): boolean {
  if (rule === 'origin-to-cap') return true;
  return (rule === 'origin') === (side === 'origin');
}

/** Up to this sum of local taxes, those of the destination are added. */
function capOf({ special }: Sourcing): number {
  return special?.localCap ?? RATE_ONE;
}

function rowsOf(rates: KnownRates, area: AreaRecord, side: Side): readonly SiteRow[] {
  return rates.rows.map((row) => ({ row, rate: row.sales, area, side }));
}

function isLocal({ row }: SiteRow): boolean {
  return row.component.level !== 'state';
}

function isLevied({ rate }: SiteRow): boolean {
  return rate !== 0;
}

const ORDER = ['city', 'county', 'district'] as const;

function levelOf({ row }: SiteRow): string {
  return row.component.level;
}

function sum(rows: readonly SiteRow[]): number {
  return rows.reduce((total, { rate }) => total + rate, 0);
}

/**
 * Local rows of the destination that are added to those of the origin below a cap (34 TAC 3.334):
 * for each level that the origin has no rate of, and completely or not at all. Kinds of districts
 * are not recorded, so where the places have different districts it is not known which ones exclude
 * each other.
 */
function toppedUp(
  atOrigin: readonly SiteRow[],
  atDestination: readonly SiteRow[],
  cap: number,
): readonly SiteRow[] | Failure {
  const own = atOrigin.filter((row) => isLocal(row) && isLevied(row));
  const known = new Set(own.map(({ row }) => row.component.id));
  const added: SiteRow[] = [];
  let total = sum(own);
  for (const level of ORDER) {
    const others = atDestination.filter(
      (row) => levelOf(row) === level && isLevied(row) && !known.has(row.row.component.id),
    );
    const fitting = others.filter(({ rate }) => total + rate <= cap);
    const clashes = own.some((row) => levelOf(row) === level);
    if (fitting.length === 0 || (clashes && level !== 'district')) continue;
    if (clashes || total + sum(fitting) > cap) {
      return fail(
        'no-result',
        'Local rates at the origin are below the cap, and which districts ' +
          'of the destination join them depends on their kind, which is not held.',
      );
    }
    added.push(...fitting);
    total += sum(fitting);
  }
  return [...atOrigin, ...added];
}

/** The refusal of a day for which a state's rules are not known. */
export function notHeld({ name }: StateRecord): Failure {
  return fail('no-result', `The rules of ${name} are not held for the day.`);
}

/** Sites in each of two generations of the cache. */
const SITES_MAX = 4_096;

/** A site, or why there is none, with the query that it answers. */
interface KeptSite {
  readonly state: StateRecord;
  readonly date: DateInt;
  readonly interstate: boolean;
  readonly origin: FoundPlace | null;
  readonly destination: FoundPlace | null;
  readonly site: Site | Failure;
}

/**
 * Whether two places lead to the same site: they have the same tax area and, where the address
 * itself was not found, the same ZIP.
 */
function decideAlike(one: FoundPlace | null, other: FoundPlace | null): boolean {
  if (one === other) return true;
  if (one === null || other === null) return false;
  const { area, precision, postalCode, stated } = one.situs;
  const { situs } = other;
  const byArea = isByArea(precision);
  if (area !== situs.area || byArea !== isByArea(situs.precision)) return false;
  if ((stated === true) !== (situs.stated === true)) return false;
  return !byArea || postalCode.slice(0, ZIP_DIGITS) === situs.postalCode.slice(0, ZIP_DIGITS);
}

const ZIP_DIGITS = 5;

// Odd, with bits spread over the number (multiplicative hashing).
const FROM_FACTOR = 0x9e3779b1;
const TO_FACTOR = 0x85ebca6b;
const ZIP_FACTOR = 0x27d4eb2f;

function placeNumber(place: FoundPlace | null): number {
  if (place === null) return 0;
  const { area, precision, postalCode } = place.situs;
  const zip = isByArea(precision) ? Number(postalCode.slice(0, ZIP_DIGITS)) : 0;
  return area + 1 + Math.imul(zip, ZIP_FACTOR);
}

/** A key that few sites share; a hit is then compared completely. */
function siteKey(date: DateInt, origin: FoundPlace | null, destination: FoundPlace | null): number {
  const from = Math.imul(placeNumber(origin), FROM_FACTOR);
  return from ^ Math.imul(placeNumber(destination), TO_FACTOR) ^ date;
}

/**
 * The sites of one dataset, which are remembered for the next cart between the same areas on the
 * same day.
 */
export class Sites {
  readonly #rates: RatesByArea;
  readonly #facts: CartFacts;
  readonly #sites = new RecentCache<number, KeptSite>(SITES_MAX);

  constructor(rates: RatesByArea, facts: CartFacts) {
    this.#rates = rates;
    this.#facts = facts;
  }

  /** How a state sources a sale on a day; null where its rules are not known for the day. */
  sourcing(state: StateRecord, date: DateInt, interstate: boolean): Sourcing | null {
    const rules = rulesAt(state, date);
    if (rules === null) return null;
    if (interstate) return { rule: 'destination', interstate, special: null };
    const special = factOn(this.#facts.sourcing, state.code, date);
    const plain = rules.sourcing === 'O' ? 'origin' : 'destination';
    return { rule: special?.rule ?? plain, interstate, special };
  }

  /**
   * Whether local taxes at the origin reach the cap, so that those of the destination are not added
   * (34 TAC 3.334(c)). Then it does not matter where in the state the destination lies.
   */
  isFull(sourcing: Sourcing, date: DateInt, origin: FoundPlace): boolean {
    if (sourcing.rule !== 'origin-to-cap') return false;
    const rows = this.#sideRows(origin, 'origin', date);
    return !isFailure(rows) && sum(rows.filter(isLocal)) >= capOf(sourcing);
  }

  #sideRows(place: FoundPlace, side: Side, date: DateInt): readonly SiteRow[] | Failure {
    const rates = this.#rates.at(place.situs.area, date);
    return isFailure(rates) ? rates : rowsOf(rates, place.area, side);
  }

  /** The rows that a rule selects, from the places that it needs. */
  #taxing(
    sourcing: Sourcing,
    date: DateInt,
    origin: FoundPlace | null,
    destination: FoundPlace | null,
  ): readonly SiteRow[] | Failure {
    const { rule } = sourcing;
    const of = (side: Side): readonly SiteRow[] | Failure => {
      const place = side === 'origin' ? origin : destination;
      if (place === null) throw new Error(`the ${side} is needed and was not located`);
      return this.#sideRows(place, side, date);
    };
    if (rule === 'origin') return of('origin');
    if (rule === 'origin-to-cap' && origin !== null && this.isFull(sourcing, date, origin)) {
      return of('origin');
    }
    const atDestination = of('destination');
    if (rule === 'destination' || isFailure(atDestination)) return atDestination;
    // The state's own rate is the same at both places.
    if (rule === 'base-at-origin') {
      return atDestination.map((row) => (isLocal(row) ? row : { ...row, side: 'origin' }));
    }
    const atOrigin = of('origin');
    return isFailure(atOrigin) ? atOrigin : toppedUp(atOrigin, atDestination, capOf(sourcing));
  }

  /** The site of carts between two places; the state is that of the destination. */
  at(
    state: StateRecord,
    date: DateInt,
    sourcing: Sourcing,
    origin: FoundPlace | null,
    destination: FoundPlace | null,
  ): Site | Failure {
    const { interstate } = sourcing;
    const key = siteKey(date, origin, destination);
    const known = this.#sites.get(key);
    if (
      known !== undefined &&
      known.state === state &&
      known.date === date &&
      known.interstate === interstate &&
      decideAlike(known.origin, origin) &&
      decideAlike(known.destination, destination)
    ) {
      return known.site;
    }
    const site = this.#read(state, date, sourcing, origin, destination);
    this.#sites.set(key, { state, date, interstate, origin, destination, site });
    return site;
  }

  #read(
    state: StateRecord,
    date: DateInt,
    sourcing: Sourcing,
    origin: FoundPlace | null,
    destination: FoundPlace | null,
  ): Site | Failure {
    const rules = rulesAt(state, date);
    if (rules === null) return notHeld(state);
    const rows = this.#taxing(sourcing, date, origin, destination);
    if (isFailure(rows)) return rows;
    const untold = this.#facts.notSupported.get(state.code) ?? [];
    const local = rows.find((row) => isLocal(row) && isLevied(row));
    const sides = new Set(rows.map(({ side }) => side));
    const areas = rows.map(({ area }) => area);
    return {
      state,
      rules,
      date,
      sourcing,
      rows,
      origin,
      destination,
      sides: sides.size > 1 ? 'mixed' : ([...sides][0] ?? 'destination'),
      estimated: rows.some(({ row }) => row.estimated),
      stale: areas.some(({ staleAfter }) => staleAfter < date),
      partial: areas.some((area) => area.partial === true),
      saleLimit: local === undefined ? null : saleLimit(untold, local.area),
      treatments: new Map(),
    };
  }
}
