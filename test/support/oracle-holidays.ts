/** Holidays as the oracle reads their table. */
import { cell, type Row, type Taxed } from './oracle-rules.js';
import type { OracleWorld } from './oracle-sale.js';
import { compare, type Rational, rational, ZERO } from './rational.js';

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
