/** Billing periods: calendar months of UTC, whatever the time zone of machine or place. */

export interface Month {
  /** YYYYMM */
  readonly name: string;
  /** The millisecond at which it begins. */
  readonly startsAt: number;
  /** The millisecond at which the next month begins. */
  readonly endsAt: number;
}

/** The month that holds a moment given in milliseconds since 1970. */
export function monthAt(now: number): Month {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: `${year}${String(month + 1).padStart(2, '0')}`,
    startsAt: Date.UTC(year, month, 1),
    endsAt: Date.UTC(year, month + 1, 1),
  };
}
