/** Parses moments in time as RFC 3339 writes them. */

const DATE = String.raw`(\d{4})-(\d{2})-(\d{2})`;
const TIME = String.raw`(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?`;
const ZONE = String.raw`(?:[Zz]|[+-](\d{2}):(\d{2}))`;
const RFC_3339 = new RegExp(`^${DATE}[Tt ]${TIME}${ZONE}$`);

const DAY_HOURS = 24;
const HOUR_MINUTES = 60;

/** Milliseconds since 1970 UTC; null for a text that is no date and time with a zone. */
export function parseInstant(text: string): number | null {
  const found = RFC_3339.exec(text);
  if (found === null) return null;
  const [, , month, day, hour, minute, second, zoneHour = '0', zoneMinute = '0'] = found;
  if (Number(hour) >= DAY_HOURS || Number(zoneHour) >= DAY_HOURS) return null;
  if (Number(minute) >= HOUR_MINUTES || Number(zoneMinute) >= HOUR_MINUTES) return null;
  // A leap second counts as the first moment of the next minute.
  const leap = second === '60';
  const plain = leap ? text.replace(/:60/, ':59') : text;
  const milliseconds = Date.parse(plain.replace(' ', 'T').toUpperCase());
  if (Number.isNaN(milliseconds) || Number(day) > lastDay(text, Number(month))) return null;
  return leap ? milliseconds - (milliseconds % 1000) + 1000 : milliseconds;
}

/** The last day of a month. It is checked because Date.parse accepts 31 April as 1 May. */
function lastDay(text: string, month: number): number {
  return new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate();
}
