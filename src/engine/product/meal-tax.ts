/** Meal taxes at a place on a day (specification, MealTax). */
import type { DateInt } from '../../tax/date.js';
import { inForce } from '../../tax/product-rule.js';
import { parseRate, sumRates, type Rate } from '../../tax/rate.js';
import type { Cells } from './table-cells.js';

/** Prepared food, and prepared food for consumption off the premises (specification). */
export const MEAL_CODES: ReadonlySet<string> = new Set(['41000', '41041']);

/**
 * Why rules may be missing, so that none listed is no finding of no tax:
 * - LOCATION_NOT_RESOLVED: located by ZIP alone, which may hold a place with a meal tax.
 * - RULES_NOT_LOADED: the dataset has no meal-tax table.
 * - STATE_NOT_COVERED: the table has nothing for the state, or nothing as early as the day.
 * - UNMAPPED_SCOPES_IN_STATE: it has a tax whose border is not held, names the state as one with
 *   taxes that are not listed, or a tax of a city where the dataset has no city borders.
 */
export type MealReason =
  | 'LOCATION_NOT_RESOLVED'
  | 'RULES_NOT_LOADED'
  | 'STATE_NOT_COVERED'
  | 'UNMAPPED_SCOPES_IN_STATE';

export interface MealTax {
  /**
   * Sum of the rules' rates, without ordinary sales tax; null when no rule applies. Where a rule
   * replaces the state's rate, its own stands in the sum and the state's is not levied besides.
   */
  readonly combined: Rate | null;
  readonly reasons: readonly MealReason[];
  /** Widest jurisdiction first. */
  readonly rules: readonly MealRule[];
  /**
   * Whether these are all meal taxes at the place. If so, reasons concern other places in the
   * state. A county's tax says nothing about those of its cities.
   */
  readonly complete: boolean;
}

/** The jurisdictions that a spot lies in. */
interface MealSpot {
  readonly stateFips: string;
  readonly countyFips: string;
  /** Seven-digit place or ten-digit county subdivision code; "" outside both. */
  readonly placeGeoid: string;
}

/** Where the meal is taxed. */
export interface MealPlace extends MealSpot {
  /** False when only the ZIP is known, so that nothing narrower than the state is certain. */
  readonly certain: boolean;
  /** Where only the ZIP is known: the spots that it may contain; if absent, they are not known. */
  readonly spots?: readonly MealSpot[];
  /**
   * Whether the dataset has borders of cities and towns here, so that "" means outside all of them.
   */
  readonly bordersHeld: boolean;
}

type Reach = 'inside' | 'outside' | 'unclear';

const STATE_DIGITS = 2;
const COUNTY_DIGITS = 5;
/** Digits of a census code that identify it within its state, for places and subdivisions alike. */
const ENTITY_DIGITS = 5;
const SUBDIVISION_DIGITS = 10;
/** Type of a city outside all counties; its code may look like that of a county. */
const INDEPENDENT_CITY = 'INDEPENDENT_CITY';

function sameEntity(code: string, { stateFips, countyFips, placeGeoid }: MealSpot): boolean {
  if (code.slice(-ENTITY_DIGITS) !== placeGeoid.slice(-ENTITY_DIGITS)) return false;
  return (
    code.length < SUBDIVISION_DIGITS || code.slice(0, COUNTY_DIGITS) === stateFips + countyFips
  );
}

function reachAt({ code, extent }: MealRule, spot: MealSpot, bordersHeld: boolean): Reach {
  const { stateFips, countyFips, placeGeoid } = spot;
  if (code.length === COUNTY_DIGITS) {
    if (code !== stateFips + countyFips) return 'outside';
    return extent === 'outside-cities' && placeGeoid !== '' ? 'outside' : 'inside';
  }
  if (placeGeoid === '') return bordersHeld ? 'outside' : 'unclear';
  return sameEntity(code, spot) ? 'inside' : 'outside';
}

function reachOf(rule: MealRule, place: MealPlace): Reach {
  const { certain, spots, bordersHeld } = place;
  if (rule.code.length === STATE_DIGITS) return 'inside';
  if (certain) return reachAt(rule, place, bordersHeld);
  const isAway = spots?.every((spot) => reachAt(rule, spot, bordersHeld) === 'outside') === true;
  return isAway ? 'outside' : 'unclear';
}

/** Whether no narrower jurisdiction at the place may levy another tax beside this rule's. */
function isNarrowest({ code, type }: MealRule, { placeGeoid, bordersHeld }: MealPlace): boolean {
  if (code.length > COUNTY_DIGITS || type === INDEPENDENT_CITY) return true;
  return code.length === COUNTY_DIGITS && placeGeoid === '' && bordersHeld;
}

function found(
  rules: readonly MealRule[],
  reasons: readonly MealReason[],
  complete = reasons.length === 0,
): MealTax {
  const combined = rules.length === 0 ? null : sumRates(rules.map(({ rate }) => rate));
  return { combined, reasons, rules, complete };
}

function begun({ heldFrom }: MealRule, date: DateInt): boolean {
  return heldFrom === null || heldFrom <= date;
}

/**
 * Whether a rule that begins later is the first of its tax, so that the tax's earlier state is
 * unknown.
 */
function startsTheList(rule: MealRule, rules: readonly MealRule[], date: DateInt): boolean {
  return !rules.some(
    (other) => other.code === rule.code && other.taxName === rule.taxName && begun(other, date),
  );
}

/** Whether a row only says that there are taxes at a place, but not which. */
function isPartial({ extent, code }: MealRule): boolean {
  return extent !== 'whole' && (extent !== 'unlisted' || code.length > STATE_DIGITS);
}

/** The meal taxes of a place on a day; null when the dataset has no table. */
export function mealTaxAt(table: MealTable | null, place: MealPlace, date: DateInt): MealTax {
  if (table === null) return found([], ['RULES_NOT_LOADED']);
  const ofState = table.get(place.stateFips) ?? [];
  const near = ofState
    .map((rule) => ({ rule, reach: reachOf(rule, place) }))
    .filter(({ reach }) => reach !== 'outside');
  // A tax elsewhere in the state proves nothing about this place, nor about earlier days of this
  // one.
  const isTold = ofState.length > 0 && near.length === 0;
  if (!isTold && !ofState.some((rule) => begun(rule, date))) {
    return found([], ['STATE_NOT_COVERED']);
  }
  const applied: MealRule[] = [];
  let unlocated = false;
  let unmapped = false;
  let unclearHere = false;
  for (const { rule, reach } of near) {
    // The amount of a tax before its first recorded day is not known.
    const early = !begun(rule, date) && startsTheList(rule, ofState, date);
    if (!early && !inForce(rule, date)) continue;
    if (reach === 'inside' && (early || isPartial(rule))) unclearHere = true;
    if (rule.extent !== 'whole') unmapped = true;
    else if (reach === 'unclear' && !place.certain) unlocated = true;
    else if (reach === 'unclear' || (early && reach === 'inside')) unmapped = true;
    else if (reach === 'inside') applied.push(rule);
  }
  const reasons: MealReason[] = [];
  if (unlocated) reasons.push('LOCATION_NOT_RESOLVED');
  if (unmapped) reasons.push('UNMAPPED_SCOPES_IN_STATE');
  const narrowest = !unclearHere && applied.some((rule) => isNarrowest(rule, place));
  return found(applied, reasons, reasons.length === 0 || narrowest);
}

/**
 * The meal-tax table: document "meal-tax", one row per jurisdiction and tax.
 *
 * `extent` says what the row's jurisdiction code covers: `whole` of it; `part` of it, whose border
 * is not held; `unlisted` for a state, county or place where meal taxes are levied that the table
 * does not list; `outside-cities` likewise for the land of a county outside its cities.
 * Only `whole` rows have rules that can be applied; the others mark where findings are incomplete.
 */
export const MEAL_DOCUMENT = 'meal-tax';

/** Specification, MealTaxRule: on top of sales tax, in place of the state's, or on the seller. */
export const MEAL_COMPONENTS = ['ADD_ON', 'STATE_SPECIAL_TOTAL', 'OCCUPATION_TAX'] as const;
type MealComponent = (typeof MEAL_COMPONENTS)[number];

const MEAL_EXTENTS = ['whole', 'part', 'unlisted', 'outside-cities'] as const;
type MealExtent = (typeof MEAL_EXTENTS)[number];

/** None, all of them, or the jurisdiction's own alone, which has a rate for meals. */
const REPLACED_LOCALS = ['no', 'yes', 'own'] as const;
type ReplacedLocals = (typeof REPLACED_LOCALS)[number];

export interface MealRule {
  readonly component: MealComponent;
  /** State FIPS, state and county FIPS, place GEOID (7) or county subdivision GEOID (10). */
  readonly code: string;
  readonly name: string;
  readonly type: string;
  readonly extent: MealExtent;
  readonly rate: Rate;
  readonly replacesStateRate: boolean;
  /** Which local sales taxes it replaces. */
  readonly replacesLocalRates: ReplacedLocals;
  readonly sourcingBasis: string;
  readonly taxName: string;
  /** First and last day in force. Null where a day is not recorded, or there is no end. */
  readonly from: DateInt | null;
  readonly to: DateInt | null;
  /** First day that the row speaks for; null where it speaks for every day up to its last. */
  readonly heldFrom: DateInt | null;
}

/** Whether a meal tax replaces the local sales tax of a level where it applies. */
export function replacesLocal(
  { component, replacesLocalRates, code }: MealRule,
  level: string,
): boolean {
  if (component === 'OCCUPATION_TAX') return false;
  return (
    replacesLocalRates === 'yes' ||
    (replacesLocalRates === 'own' && level === (code.length === COUNTY_DIGITS ? 'county' : 'city'))
  );
}

/** Rules by state FIPS. */
export type MealTable = ReadonlyMap<string, readonly MealRule[]>;

const CODE = /^\d{2}(?:\d{3}|\d{5}|\d{8})?$/;
const NONE = 0 as Rate;

function codeOf(text: string): string | null {
  return CODE.test(text) ? text : null;
}

function mealRule(row: Cells): MealRule {
  const extent = row.oneOf('extent', MEAL_EXTENTS);
  return {
    component: row.oneOf('component_type', MEAL_COMPONENTS),
    code: row.required('jurisdiction_code', codeOf),
    name: row.text('jurisdiction_name'),
    type: row.text('jurisdiction_type'),
    extent,
    rate: extent === 'whole' || extent === 'part' ? row.required('rate', parseRate) : NONE,
    replacesStateRate: row.flag('replaces_state_rate'),
    replacesLocalRates:
      row.text('replaces_local_rates') === ''
        ? 'no'
        : row.oneOf('replaces_local_rates', REPLACED_LOCALS),
    sourcingBasis: row.text('sourcing_basis'),
    taxName: row.text('tax_name'),
    from: row.date('effective_from'),
    to: row.date('effective_to'),
    heldFrom: row.heldFrom(),
  };
}

/**
 * Reads the table, the widest jurisdiction of a state first: a shorter code is a wider one.
 * @throws Error naming the row when a cell cannot be read.
 */
export function readMeals(rows: readonly Cells[]): MealTable {
  const table = new Map<string, MealRule[]>();
  for (const row of rows) {
    const rule = mealRule(row);
    const state = rule.code.slice(0, 2);
    const ofState = table.get(state);
    if (ofState === undefined) table.set(state, [rule]);
    else ofState.push(rule);
  }
  for (const rules of table.values()) {
    rules.sort((one, other) => one.code.length - other.code.length);
  }
  return table;
}
