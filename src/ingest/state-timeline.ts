/** Laying periods of several facts over one another. */
import type { DateInt } from '../tax/date.js';

/** A value that holds over an inclusive period. */
export interface Spell<T> {
  readonly from: DateInt;
  readonly to: DateInt;
  readonly value: T;
}

/** The periods in which both hold, with both values joined; ordered by their first day. */
export function overlay<A extends object, B extends object>(
  left: readonly Spell<A>[],
  right: readonly Spell<B>[],
): Spell<A & B>[] {
  const both: Spell<A & B>[] = [];
  for (const a of left) {
    for (const b of right) {
      const from = a.from > b.from ? a.from : b.from;
      const to = a.to < b.to ? a.to : b.to;
      if (from <= to) both.push({ from, to, value: { ...a.value, ...b.value } });
    }
  }
  return both.sort((one, other) => one.from - other.from);
}
