/** Whether two areas are taxed alike: one of a list, and one of a state's rate file. */
import { DATE_OPEN, type DateInt } from '../../tax/date.js';
import type { ResolvedArea } from '../model.js';
import { dayAfter } from '../rates/list.js';

/** What is levied on a day, as text; null where it is not known. */
function leviedOn({ components, unknown }: ResolvedArea, day: DateInt): string | null {
  if (unknown.some(({ from, to }) => from <= day && to >= day)) return null;
  const parts = components.flatMap(({ periods }) =>
    periods.filter(({ from, to }) => from <= day && to >= day));
  const sum = (of: 'sales' | 'use'): number =>
    parts.reduce((total, period) => total + period[of], 0);
  return `${sum('sales')} ${sum('use')}`;
}

/**
 * Whether lists know as surely as a state's rate file what is levied: as much on every day that
 * both know, and on every day from that of the rate file on. Of earlier days either may know more.
 */
export function leviesSame(drawn: ResolvedArea, stated: ResolvedArea, day: DateInt): boolean {
  if (drawn.estimated || drawn.partial) return false;
  const periods = [drawn, stated].flatMap(({ components, unknown }) =>
    [...components.flatMap((component) => component.periods), ...unknown]);
  const days = new Set([day, ...periods.flatMap(({ from, to }) =>
    (to < DATE_OPEN ? [from, dayAfter(to)] : [from]))]);
  return [...days].every((on) => {
    const [one, other] = [leviedOn(drawn, on), leviedOn(stated, on)];
    return one === other ? on < day || one !== null : on < day && (one === null || other === null);
  });
}
