/** Candidate readings of a line, before they are weighed and spelled out. */
import type { Tail } from './address-tail.js';
import { directionOf } from './direction.js';
import { readHighway } from './highway.js';
import type { HouseNumber } from './house-number.js';
import { hasDigit, isOrdinal } from './number-words.js';
import type { Gazetteer, ParsedAddress } from './parsed.js';
import { readStreet, type StreetName } from './street-name.js';
import { isStrongSuffix, suffixOf } from './suffix.js';
import type { Line } from './token.js';

/** A span of words: [from, to). */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One way to part a line. Spans with `from` equal to `to` are empty. */
export interface Reading {
  readonly kind: ParsedAddress['kind'];
  readonly line: Line;
  readonly tail: Tail;
  readonly number: HouseNumber;
  readonly street: Span;
  readonly city: Span;
  readonly unit: string;
  /** The higher the likelier. */
  readonly score: number;
}

export const NO_NUMBER: HouseNumber = { number: '', value: -1, suffix: '', high: -1 };
export const NO_SPAN: Span = { from: 0, to: 0 };

function spanText(words: readonly string[], { from, to }: Span): string {
  let text = words[from] ?? '';
  for (let index = from + 1; index < to; index++) text += ` ${words[index] ?? ''}`;
  return text;
}

const NO_STREET: StreetName = { preDirection: '', name: '', suffix: '', postDirection: '' };

function compose(reading: Reading, street: StreetName, city: string, unit: string): ParsedAddress {
  const { number, tail } = reading;
  return {
    number: number.number,
    numberValue: number.value,
    numberSuffix: number.suffix,
    numberHigh: number.high,
    preDirection: street.preDirection,
    name: street.name,
    suffix: street.suffix,
    postDirection: street.postDirection,
    unit,
    city,
    state: tail.state,
    otherState: tail.otherState,
    zip: tail.zip,
    zip4: tail.zip4,
    country: tail.country,
    canadianPostalCode: tail.canadianPostalCode,
    kind: reading.kind,
  };
}

/** Whether the last word of a street is a unit without designator: "12 Main St 4B". */
function endsInUnit(words: readonly string[], street: Span): boolean {
  const last = words[street.to - 1] ?? '';
  if (street.to - street.from < 3 || last.length > 6 || !hasDigit(last) || isOrdinal(last)) {
    return false;
  }
  let before = street.to - 2;
  if (directionOf(words[before] ?? '') !== '') before--;
  return before > street.from && isStrongSuffix(suffixOf(words[before] ?? ''));
}

/** Whether the figures at the end number the road itself: "TOWN HIGHWAY 28". */
function isNumbered(words: readonly string[], street: Span, gazetteer: Gazetteer): boolean {
  const directed = directionOf(words[street.from] ?? '') !== '';
  const at = directed ? street.from + 1 : street.from;
  return readHighway(words, at, street.to, gazetteer)?.next === street.to;
}

/** Spells a reading out into `target`, with what its street may mean besides, up to `max`. */
export function spellOut(
  reading: Reading,
  gazetteer: Gazetteer,
  max: number,
  target: ParsedAddress[],
): void {
  const { words } = reading.line;
  const city = reading.city.to === reading.city.from ? '' : spanText(words, reading.city);
  const { street, unit } = reading;
  if (street.to === street.from) {
    target.push(compose(reading, NO_STREET, city, unit));
    return;
  }
  if (endsInUnit(words, street) && !isNumbered(words, street, gazetteer)) {
    const inner = readStreet(words, street.from, street.to - 1, gazetteer).street;
    const whole = readStreet(words, street.from, street.to, gazetteer).street;
    const own = `# ${words[street.to - 1] ?? ''}`;
    const joined = unit === '' ? own : `${own} ${unit}`;
    target.push(compose(reading, inner, city, joined));
    if (target.length < max) target.push(compose(reading, whole, city, unit));
    return;
  }
  const { street: name, others } = readStreet(words, street.from, street.to, gazetteer);
  target.push(compose(reading, name, city, unit));
  for (const other of others) {
    if (target.length < max) target.push(compose(reading, other, city, unit));
  }
}
