/** Sales-tax holidays: what is known of one, its days in a year, and which codes it covers. */
import type { DateInt } from '../../tax/date.js';
import type { Exact } from '../../tax/exact.js';
import { inForce } from '../../tax/product-rule.js';
import type { DaySpan, YearlyDays } from '../../tax/yearly-days.js';
import type { CartFacts, Citation } from './cart-facts.js';

/** Which taxes a holiday exempts from: local ones too, the state's alone, or not recorded. */
export const HOLIDAY_SCOPES = ['all', 'state', 'varies'] as const;
/** Whether an item whose price is exactly the limit is still exempt. */
export const LIMIT_KINDS = ['up_to', 'under'] as const;
/** Whether delivery charges are part of the price that a limit is for. */
export const DELIVERY_IN_PRICE = ['yes', 'no', 'unknown'] as const;

/** A holiday of each year that its row speaks for. */
export interface HolidayRule extends Citation {
  readonly name: string;
  readonly days: YearlyDays;
  /** First and last day that the row speaks for; the last is null where it has no end. */
  readonly heldFrom: DateInt | null;
  readonly heldTo: DateInt | null;
  readonly categories: readonly string[];
  /** Highest price of an item, in 10⁻⁹ dollars; null for no limit. */
  readonly limit: bigint | null;
  /** Null where it is not recorded whether the limit itself is exempt. */
  readonly limitKind: (typeof LIMIT_KINDS)[number] | null;
  readonly deliveryInPrice: (typeof DELIVERY_IN_PRICE)[number];
  readonly scope: (typeof HOLIDAY_SCOPES)[number];
  /** False where the law has limits that are not recorded, so that nothing can be said. */
  readonly limitsHeld: boolean;
}

/** A holiday with its days in one year. */
export type Holiday = HolidayRule & DaySpan;

/** Whether a price is within a holiday's limit; null where that is not recorded. */
export function isWithin(
  { limit, limitKind, limitsHeld }: HolidayRule,
  price: Exact,
): boolean | null {
  if (!limitsHeld) return null;
  if (limit === null || price < limit) return true;
  if (price > limit || limitKind === 'under') return false;
  return limitKind === null ? null : true;
}

/**
 * Whether a holiday's category covers a product code; `unclear` where the code is wider than what
 * the law names.
 */
export const COVERS = ['yes', 'no', 'unclear'] as const;
export type Cover = (typeof COVERS)[number];

/** Stands for all codes that the category does not list. */
const OTHER_CODES = '*';

/** The holiday in a year; null where its row is for other years. */
function holidayIn(rule: HolidayRule, year: number): Holiday | null {
  const span = rule.days(year);
  if (span === null || (rule.heldFrom !== null && span.from < rule.heldFrom)) return null;
  return rule.heldTo !== null && span.to > rule.heldTo ? null : { ...rule, ...span };
}

/** Whether a holiday covers a code: the strongest answer of its categories. */
export function coverOf(facts: CartFacts, { categories }: HolidayRule, tic: string): Cover {
  const covers = categories.map((category) => {
    const codes = facts.categories.get(category);
    return codes?.get(tic) ?? codes?.get(OTHER_CODES) ?? 'no';
  });
  return covers.includes('yes') ? 'yes' : covers.includes('unclear') ? 'unclear' : 'no';
}

/** Holidays of a state that cover a code, and those for which that is unclear. */
export interface CodeHolidays {
  readonly named: readonly HolidayRule[];
  readonly unclear: readonly HolidayRule[];
}

/** By how many days a yearly holiday may move from one year to the next. */
const SEASON_DAYS = 14;
const MONTH_DAYS = 31;

function yearOf(date: DateInt): number {
  return Math.floor(date / 10_000);
}

/** Approximate number of the day in its year, to compare seasons. */
function seasonDay(date: DateInt): number {
  return (Math.floor(date / 100) % 100) * MONTH_DAYS + (date % 100);
}

/** Holidays on a day. */
export function holidaysOn(rules: readonly HolidayRule[], date: DateInt): readonly Holiday[] {
  return rules
    .flatMap((rule) => holidayIn(rule, yearOf(date)) ?? [])
    .filter((holiday) => inForce(holiday, date));
}

/** The days of a rule in a year. A rule for a single year gives the days of that year. */
function seasonOf({ days, heldFrom }: HolidayRule, year: number): DaySpan | null {
  return days(year) ?? (heldFrom === null ? null : days(yearOf(heldFrom)));
}

/** Whether a day is so close to a holiday's days in other years that it may be one of them. */
function isAbout(season: DaySpan, date: DateInt): boolean {
  const day = seasonDay(date);
  return seasonDay(season.from) - SEASON_DAYS <= day && day <= seasonDay(season.to) + SEASON_DAYS;
}

/**
 * Why it is not known whether a season without recorded holidays has one in this year; "" where it
 * is known. A state may have several seasons a year, and announce them at different times.
 */
export function unheldHoliday(rules: readonly HolidayRule[], date: DateInt): string {
  const year = yearOf(date);
  const near = rules.filter((rule) => {
    const season = seasonOf(rule, year);
    return season !== null && isAbout(season, date);
  });
  const [first] = near;
  return first === undefined || near.some((rule) => holidayIn(rule, year) !== null)
    ? ''
    : `Sales-tax holidays of ${year} are not held; in other years ` +
        `there is "${first.name}" about this day.`;
}
