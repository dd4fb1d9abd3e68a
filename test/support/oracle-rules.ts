/** Rows of fact tables as the oracle reads them: what of a price is taxed, meals, holidays. */
import type { OracleWorld } from './oracle-sale.js';
import type { FactPlace } from './product-facts.js';
import { add, compare, type Rational, rational, subtract, times, ZERO } from './rational.js';

/** The two parts of a tax. */
export interface Taxed {
  readonly state: Rational;
  readonly local: Rational;
}

export type Row = Readonly<Record<string, string>>;

export function cell(row: Row, name: string): string {
  return row[name] ?? '';
}

/** Whether a day lies between a row's first and last. */
export function inForce(row: Row, date: number): boolean {
  const from = cell(row, 'effective_from');
  const to = cell(row, 'effective_to');
  return (from === '' || Number(from) <= date) && (to === '' || Number(to) >= date);
}

const ONE: Rational = { over: 1n, under: 1n };

/** Whether a tier's row is for a jurisdiction and a code. */
export function isTierFor(
  row: Row,
  { level, place }: { readonly level: string; readonly place: FactPlace },
  county: string,
  tic: string,
): boolean {
  const codes = cell(row, 'tics');
  const fits =
    codes === ''
      ? !cell(row, 'except')
          .split(';')
          .some((code) => tic.startsWith(code))
      : `;${codes};`.includes(`;${tic};`);
  return (
    fits &&
    cell(row, 'level') === level &&
    ['', place.placeGeoid ?? '', county].includes(cell(row, 'jurisdiction_code'))
  );
}

/** The tax on an item above its tier's price, `own` up to it; null where nothing says. */
export function tierTax(row: Row | null, rate: Rational, price: Rational): Rational | 'own' | null {
  const limit = row === null ? price : rational(cell(row, 'threshold_usd'));
  if (row === null || compare(price, limit) <= 0) return 'own';
  if (cell(row, 'kind') === 'unknown') return null;
  const above = rational(cell(row, 'rate'));
  return cell(row, 'kind') === 'whole'
    ? times(price, above)
    : add(times(limit, rate), times(subtract(price, limit), above));
}

/** The part of a price that a rule taxes. */
export function shape(rule: Row, price: Rational): Rational {
  const threshold = cell(rule, 'threshold_usd');
  let taxed = price;
  if (threshold !== '') {
    const side = compare(price, rational(threshold));
    const excess = side > 0 ? subtract(price, rational(threshold)) : ZERO;
    taxed =
      {
        below_exempt: side < 0 ? ZERO : price,
        above_exempt: side > 0 ? ZERO : price,
        above_excess: excess,
      }[cell(rule, 'threshold_kind')] ?? price;
  }
  const percent = cell(rule, 'percent_taxable');
  return times(taxed, percent === '' ? ONE : rational(percent));
}

/** What is asked of the table. */
export interface MealSale {
  readonly rows: readonly Row[];
  readonly fips: (state: string) => string;
  readonly from: FactPlace;
  readonly to: FactPlace;
  readonly date: number;
}

/** The rows levied on the sale; null where it cannot be told. */
type Meals = readonly Row[] | null;

const MEALS = /^410(?:00|41)$/;

function heldFrom(row: Row): number {
  const from = cell(row, 'effective_from');
  return from === '' ? Number(`${cell(row, 'as_of').slice(0, 4)}0101`) : Number(from);
}

function isIn(row: Row, fips: string, { county = '', placeGeoid = '' }: FactPlace): boolean {
  const code = cell(row, 'jurisdiction_code');
  if (code.length === 2) return true;
  if (code.length === 5) return code === fips + county;
  return (
    code.slice(-5) === placeGeoid.slice(-5) &&
    (code.length < 10 || code.slice(0, 5) === fips + county)
  );
}

/** Whether a row, of whatever extent, is about a place. */
function isNear(row: Row, fips: string, place: FactPlace): boolean {
  const { placeGeoid = '' } = place;
  return isIn(row, fips, place) && (cell(row, 'extent') !== 'outside-cities' || placeGeoid === '');
}

/** Whether a row tells of taxes at its own place, and not which. */
function isPartial(row: Row): boolean {
  const extent = cell(row, 'extent');
  return extent !== 'whole' && (extent !== 'unlisted' || cell(row, 'jurisdiction_code').length > 2);
}

/** Whose place a row goes by. */
function placeOf(row: Row, { from, to }: MealSale): FactPlace {
  return cell(row, 'sourcing_basis') === 'SELLER_LOCATION' && from.state === to.state ? from : to;
}

/** Whether nothing narrower than a row's county or city can levy a tax of its own there. */
function isNarrowest(row: Row, { placeGeoid = '' }: FactPlace): boolean {
  const { length } = cell(row, 'jurisdiction_code');
  if (length > 5 || cell(row, 'jurisdiction_type') === 'INDEPENDENT_CITY') return true;
  return length === 5 && placeGeoid === '';
}

/** The taxes on a meal beside or in place of sales tax. */
export function mealsOf(sale: MealSale, tic: string): Meals {
  const { rows, fips, from, to, date } = sale;
  const own = fips(to.state);
  const ofState = rows.filter((row) => cell(row, 'jurisdiction_code').startsWith(own));
  if (!MEALS.test(tic) || ofState.length === 0) return [];
  const begun = ofState.filter((row) => heldFrom(row) <= date);
  const live = begun.filter((row) => inForce(row, date));
  const seller = from.state === to.state ? from : to;
  const nearby = live.filter((row) => cell(row, 'extent') === 'whole' && isIn(row, own, seller));
  const isTold =
    (nearby.some((row) => isNarrowest(row, seller)) &&
      !live.some((row) => isPartial(row) && isNear(row, own, seller))) ||
    live.every((row) => cell(row, 'extent') === 'whole' || !isNear(row, own, seller));
  const isEarly = begun.length === 0 && ofState.some((row) => isNear(row, own, seller));
  if (isEarly) return null;
  if (!isTold) return null;
  return live.filter(
    (row) =>
      cell(row, 'extent') === 'whole' &&
      cell(row, 'component_type') !== 'OCCUPATION_TAX' &&
      isIn(row, own, placeOf(row, sale)),
  );
}

/** Whether a meal tax stands in for a jurisdiction's sales tax. */
export function isReplaced(
  meals: readonly Row[],
  due: { readonly level: string; readonly place: FactPlace },
  sale: MealSale,
): boolean {
  return meals.some((row) => {
    if (due.level === 'state')
      return (
        cell(row, 'replaces_state_rate') === 'yes' || cell(row, 'replaces_local_rates') === 'yes'
      );
    if (cell(row, 'replaces_local_rates') !== 'own') {
      return cell(row, 'replaces_local_rates') === 'yes';
    }
    const level = cell(row, 'jurisdiction_code').length === 5 ? 'county' : 'city';
    return due.level === level && due.place === placeOf(row, sale);
  });
}

/** What meal taxes come to on an item. */
export function mealTax(meals: readonly Row[], price: Rational): Taxed {
  let [state, local] = [ZERO, ZERO];
  for (const row of meals) {
    const tax = times(price, rational(cell(row, 'rate')));
    if (cell(row, 'jurisdiction_code').length === 2) state = add(state, tax);
    else local = add(local, tax);
  }
  return { state, local };
}

/** What a holiday's categories say of a code: yes, unclear, or nothing. */
function covers(world: OracleWorld, row: Row, tic: string): string {
  const said = cell(row, 'categories')
    .split(';')
    .map((category) => {
      const codes = world
        .table('holiday-categories', '')
        .filter((each) => cell(each, 'category') === category);
      const own =
        codes.find((each) => cell(each, 'tic') === tic) ??
        codes.find((each) => cell(each, 'tic') === '*');
      return own === undefined ? 'no' : cell(own, 'covers');
    });
  return ['yes', 'unclear'].find((word) => said.includes(word)) ?? 'no';
}

const DAY_MS = 86_400_000;
const MONTH = new Intl.DateTimeFormat('en-US', { month: 'long', timeZone: 'UTC' });
const WEEKDAY = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });

/** Walks from a day to the nearest that fits. */
function walk(from: number, step: number, fits: (day: number) => boolean): number {
  let day = from;
  while (!fits(day)) day += step * DAY_MS;
  return day;
}

/** The day that words name in a year, found by looking at every day of it. */
function dayOf(words: string, year: number): number {
  const [start, end] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)];
  const all = Array.from({ length: (end - start) / DAY_MS }, (_, at) => start + at * DAY_MS);
  const [first = '', rest = ''] = words.split(' before ');
  if (rest !== '') {
    const base = dayOf(rest, year);
    const back = /^(\d+) days$/.exec(first);
    if (back !== null) return base - Number(back[1]) * DAY_MS;
    return walk(base - DAY_MS, -1, (day) => WEEKDAY.format(day) === first);
  }
  const [what = '', month = ''] = first.split(' of ');
  if (month === '') {
    return all.find((day) => `${MONTH.format(day)} ${new Date(day).getUTCDate()}` === first)!;
  }
  const [ordinal = '', ...name] = what.split(' ');
  const weekday = name.join(' ');
  const fitting = all.filter(
    (day) =>
      MONTH.format(day) === month &&
      (weekday === 'full weekend'
        ? WEEKDAY.format(day) === 'Friday' && MONTH.format(day + 2 * DAY_MS) === month
        : WEEKDAY.format(day) === weekday),
  );
  const at = ['first', 'second', 'third', 'fourth'].indexOf(ordinal);
  return fitting.at(at)!;
}

/** Whether a holiday's row is for a day (YYYYMMDD). */
function isOn(row: Row, date: number): boolean {
  const year = Math.floor(date / 10_000);
  const [first = '', last = ''] = cell(row, 'days').split(' through ');
  const number = (day: number): number =>
    Number(new Date(day).toISOString().slice(0, 10).replaceAll('-', ''));
  if (/^\d/.test(last)) {
    return Number(first.replaceAll('-', '')) <= date && date <= Number(last.replaceAll('-', ''));
  }
  const from = dayOf(first, year);
  const to = last.endsWith('day')
    ? walk(from, 1, (day) => WEEKDAY.format(day) === last)
    : dayOf(last, year);
  return number(from) <= date && date <= number(to);
}

const ON = new Map<string, boolean>();

/** The same, remembered: a million carts ask for few days. */
function holdsOn(row: Row, date: number): boolean {
  const key = `${cell(row, 'days')}|${date}`;
  const known = ON.get(key) ?? isOn(row, date);
  ON.set(key, known);
  return known;
}

/** The first holiday that covers an item; what is unclear counts after what is said. */
export function holidayOn(
  world: OracleWorld,
  state: string,
  date: number,
  { tic, price }: { readonly tic: string; readonly price: Rational },
): Row | 'unclear' | null {
  let unclear = false;
  for (const row of world.table('holidays', state)) {
    if (cell(row, 'state') !== state) continue;
    if (!holdsOn(row, date)) continue;
    const said = covers(world, row, tic);
    if (said === 'no') continue;
    const limit = cell(row, 'max_item_usd');
    const side =
      limit === '' || cell(row, 'limits_held') === 'no' ? -1 : compare(price, rational(limit));
    if (side > 0 || (side === 0 && cell(row, 'limit_kind') !== 'up_to')) continue;
    if (said === 'yes') return row;
    unclear = true;
  }
  return unclear ? 'unclear' : null;
}

/** What a holiday leaves of a tax; null where nothing says. */
export function onHoliday(
  holiday: Row | 'unclear' | null,
  state: Rational,
  local: Rational,
): Taxed | null {
  if (holiday === null) return { state, local };
  if (holiday === 'unclear') return state.over + local.over > 0n ? null : { state, local };
  if (cell(holiday, 'limits_held') === 'no') {
    return state.over + local.over > 0n ? null : { state, local };
  }
  const scope = cell(holiday, 'scope');
  if (scope === 'all') return { state: ZERO, local: ZERO };
  return scope === 'varies' && local.over > 0n ? null : { state: ZERO, local };
}
