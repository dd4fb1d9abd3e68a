/** The candidate readings of a line, and the parts that they consist of. */
import { readTail } from './address-tail.js';
import { readHighway } from './highway.js';
import { readHouseNumbers, type HouseNumber } from './house-number.js';
import type { Gazetteer, ParsedAddress, Tail } from './parsed.js';
import { readStreet, type StreetName } from './street-name.js';
import {
  isStrongSuffix,
  suffixOf,
  directionOf,
  hasDigit,
  isDigits,
  isOrdinal,
  startsWithDigit,
  JOIN,
  type Join,
  type Line,
} from './word.js';

/** A span of words: [from, to). */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One way to divide a line into its parts. A span whose `from` equals `to` is empty. */
export interface Reading {
  readonly kind: ParsedAddress['kind'];
  readonly line: Line;
  readonly tail: Tail;
  readonly number: HouseNumber;
  readonly street: Span;
  readonly city: Span;
  readonly unit: string;
  /** Likelihood: higher is likelier. */
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
    otherPlace: tail.otherPlace,
    zip: tail.zip,
    zip4: tail.zip4,
    country: tail.country,
    canadianPostalCode: tail.canadianPostalCode,
    kind: reading.kind,
  };
}

/** Whether the last word of a street is a unit without designator: "12 Main St 4B". */
export function endsInUnit(words: readonly string[], street: Span): boolean {
  const last = words[street.to - 1] ?? '';
  if (street.to - street.from < 3 || last.length > 6 || !hasDigit(last) || isOrdinal(last)) {
    return false;
  }
  let before = street.to - 2;
  if (directionOf(words[before] ?? '') !== '') before--;
  return before > street.from && isStrongSuffix(suffixOf(words[before] ?? ''));
}

/** Whether a number at the end of a street belongs to the road's name: "TOWN HIGHWAY 28". */
export function isNumbered(words: readonly string[], street: Span, gazetteer: Gazetteer): boolean {
  const directed = directionOf(words[street.from] ?? '') !== '';
  const at = directed ? street.from + 1 : street.from;
  return readHighway(words, at, street.to, gazetteer)?.next === street.to;
}

/**
 * Appends the addresses that a reading means to `target`, up to `max`: first the likeliest one,
 * then those of other meanings of its street.
 */
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

/** Parts of the line between commas, from a word on. */
export function partsOf(line: Line, from: number, end: number): Span[] {
  const parts: Span[] = [];
  let start = from;
  for (let index = from + 1; index <= end; index++) {
    const join = index === end ? JOIN.comma : line.joins[index];
    if (join !== JOIN.comma && join !== JOIN.dash) continue;
    parts.push({ from: start, to: index });
    start = index;
  }
  return parts;
}

/** The line without one word; a new part begins where the word stood. */
export function withoutWord(line: Line, at: number): Line {
  const joins: Join[] = line.joins.filter((_, index) => index !== at);
  if (at < joins.length) joins[at] = JOIN.comma;
  return { words: line.words.filter((_, index) => index !== at), joins };
}

/**
 * Index of the first part, other than the first of the line, that begins with a house number; -1 if
 * none does.
 */
function numberedPart(line: Line): number {
  const { words, joins } = line;
  const at = words.findIndex((word, index) => joins[index] === JOIN.comma && startsWithDigit(word));
  if (at < 1 || at + 1 >= words.length) return -1;
  return readHouseNumbers(line, at, words.length).length === 0 ? -1 : at;
}

/** The words from `from` to before `to`, as a part of a line. */
function part({ words, joins }: Line, from: number, to: number): Line {
  return {
    words: words.slice(from, to),
    joins: words
      .slice(from, to)
      .map((_, index) => (index === 0 ? JOIN.comma : (joins[from + index] ?? JOIN.space))),
  };
}

function joined(first: Line, ...rest: readonly Line[]): Line {
  const words = [...first.words, ...rest.flatMap((line) => line.words)];
  const joins = [JOIN.space, ...first.joins.slice(1), ...rest.flatMap((line) => line.joins)];
  return { words, joins };
}

/**
 * Moves a ZIP at the front to the end: "05401, 2 Church St, Burlington VT" and "05401 Burlington,
 * VT, 2 Church St". Only done where the end has no postal code, and a house number follows, so that
 * the digits in front are none.
 */
function zipLast(line: Line, gazetteer: Gazetteer): Line {
  const at = numberedPart(line);
  if (at < 1) return line;
  const tail = readTail(line, gazetteer);
  const place = at === 1 ? tail : readTail(part(line, 1, at), gazetteer);
  if (tail.zip !== '' || tail.canadianPostalCode !== '' || place.state === '') return line;
  return joined(part(line, at, line.words.length), part(line, 1, at), part(line, 0, 1));
}

/**
 * The line with its street first, where the place comes first: "Burlington VT 05401, 2 Church St".
 */
export function streetFirst(line: Line, gazetteer: Gazetteer): Line {
  const first = line.words[0] ?? '';
  if (first.length === 5 && isDigits(first)) return zipLast(line, gazetteer);
  if (startsWithDigit(first)) return line;
  const at = numberedPart(line);
  if (at < 1 || readTail(part(line, 0, at), gazetteer).state === '') return line;
  return joined(part(line, at, line.words.length), part(line, 0, at));
}
