/** Compares what tax areas levy: one of the overlay with one of a state's file. */
import { DATE_OPEN, type DateInt } from '../../tax/date.js';
import type { AreaTuple, RateBook, ResolvedArea } from '../model.js';
import { dayAfter } from '../rates/list.js';

/** What is levied on a day, as text; null where it is not known. */
function leviedOn({ components, unknown }: ResolvedArea, day: DateInt): string | null {
  if (unknown.some(({ from, to }) => from <= day && to >= day)) return null;
  const parts = components.flatMap(({ periods }) =>
    periods.filter(({ from, to }) => from <= day && to >= day),
  );
  const sum = (of: 'sales' | 'use'): number =>
    parts.reduce((total, period) => total + period[of], 0);
  return `${sum('sales')} ${sum('use')}`;
}

/** The part of a rate book that resolves areas. */
type Levies = Pick<RateBook, 'resolve'>;

/** An area of the overlay. */
interface DrawnArea {
  readonly area: number;
  readonly tuple: AreaTuple;
}

/** Whether the county of a tuple levies anything, or might, on any day. */
export function countyLevies(book: Levies, tuple: AreaTuple): boolean {
  return book
    .resolve(tuple)
    .components.some(
      ({ level, periods }) =>
        level === 'county' && periods.some(({ sales, use }) => sales > 0 || use > 0),
    );
}

/** Whether the rates of codes are unknown today, because their sum exceeds the legal cap. */
export function isUnknown(book: Levies, tuple: AreaTuple): boolean {
  return book.resolve(tuple).unknown.some(({ to }) => to === DATE_OPEN);
}

/**
 * Whether the lists' rates are the same as those of a state's rate file: on each day that both
 * know, and on every day from the date of the rate file. Of earlier days, either may know more.
 */
function leviesSame(drawn: ResolvedArea, stated: ResolvedArea, day: DateInt): boolean {
  if (drawn.estimated || drawn.partial) return false;
  const periods = [drawn, stated].flatMap(({ components, unknown }) => [
    ...components.flatMap((component) => component.periods),
    ...unknown,
  ]);
  const days = new Set([
    day,
    ...periods.flatMap(({ from, to }) => (to < DATE_OPEN ? [from, dayAfter(to)] : [from])),
  ]);
  return [...days].every((on) => {
    const [one, other] = [leviedOn(drawn, on), leviedOn(stated, on)];
    return one === other ? on < day || one !== null : on < day && (one === null || other === null);
  });
}

/**
 * An area of the overlay with the same rates as a tuple of a rate file, though maybe with different
 * codes.
 */
export function sameRates(
  book: Levies,
  tuple: AreaTuple,
  drawn: readonly DrawnArea[],
  day: DateInt,
): number | undefined {
  if (tuple.untaxed === true) return undefined;
  const stated = book.resolve(tuple);
  return drawn.find((one) => leviesSame(book.resolve(one.tuple), stated, day))?.area;
}

/** An area of the overlay that is the same in everything; undefined where there is none. */
export function sameInAll(
  book: Levies,
  tuple: AreaTuple,
  drawn: readonly DrawnArea[],
): number | undefined {
  if (tuple.untaxed === true) return undefined;
  const resolve = (one: AreaTuple): string => JSON.stringify(book.resolve(one));
  const wanted = resolve(tuple);
  return drawn.find((one) => resolve(one.tuple) === wanted)?.area;
}
