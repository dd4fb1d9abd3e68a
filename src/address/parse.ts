/** Reads one line of address. */
import { wordsOf } from '../base/tables.js';
import { innerZipAt, readMilitary, readTail, withoutState } from './address-tail.js';
import {
  crossingAt,
  placeWithin,
  splitCity,
  stateWithin,
  streetEnds,
  withoutRemarks,
} from './line-place.js';
import { readHighway } from './highway.js';
import { readHouseNumbers, type HouseNumber, type HouseNumberReading } from './house-number.js';
import {
  NO_NUMBER,
  NO_SPAN,
  partsOf,
  spellOut,
  streetFirst,
  withoutWord,
  type Reading,
  type Span,
} from './reading.js';
import type { Gazetteer, ParsedAddress, Tail } from './parsed.js';
import { takeUnits } from './unit.js';
import {
  suffixOf,
  directionOf,
  hasDigit,
  isKnownCity,
  startsWithDigit,
  JOIN,
  tokenize,
  type Line,
} from './word.js';

/** Longest text that is read as an address; longer text is refused, not cut. */
export const ADDRESS_CHARS_MAX = 500;
const WORDS_MAX = 60;
export const READINGS_MAX = 6;

/** What all readings of a line have in common while they are collected. */
interface Gathering {
  readonly line: Line;
  readonly tail: Tail;
  readonly gazetteer: Gazetteer;
  readonly unit: string;
  readonly hasBox: boolean;
  /** Subtracted from every score. */
  readonly penalty: number;
  readonly readings: Reading[];
}

export const COUNTY_WORDS = wordsOf(['COUNTY', 'PARISH', 'BOROUGH', 'CNTY']);

/** The parts that may be street or city, without counties, and a unit without designator. */
function tidyParts(gathering: Gathering, parts: readonly Span[]): [Span[], string] {
  const { words } = gathering.line;
  const kept: Span[] = [];
  let unit = '';
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    const first = words[part.from] ?? '';
    const last = words[part.to - 1] ?? '';
    const length = part.to - part.from;
    const previous = kept.at(-1);
    if (previous !== undefined && length === 1 && directionOf(first) !== '') {
      kept[kept.length - 1] = { from: previous.from, to: part.to };
    } else if (index > 0 && length <= 2 && hasDigit(first)) {
      unit = `# ${words.slice(part.from, part.to).join(' ')}`;
    } else if (index === 0 || length < 2 || !COUNTY_WORDS.has(last)) {
      kept.push(part);
    }
  }
  return [kept, unit];
}

function add(
  gathering: Gathering,
  kind: Reading['kind'],
  number: HouseNumber,
  street: Span,
  city: Span,
  score: number,
  ownUnit = '',
): void {
  const { line, tail, unit, penalty, readings } = gathering;
  const cityless = city.from === city.to;
  // Without a ZIP and a city, "CT" is rather a court than a state.
  const lone = tail.doubtful && cityless && tail.zip === '' ? 1 : 0;
  const units = ownUnit === '' ? unit : unit === '' ? ownUnit : `${ownUnit} ${unit}`;
  readings.push({
    kind,
    line,
    tail,
    number,
    street,
    city,
    unit: units,
    score: score - penalty - lone,
  });
}

/** Adds the readings whose street begins at word `from`, with their cities. */
function addStreets(
  gathering: Gathering,
  number: HouseNumber,
  from: number,
  penalty: number,
): void {
  const { line, tail, gazetteer } = gathering;
  const [parts, ownUnit] = tidyParts(gathering, partsOf(line, from, tail.end));
  const street = parts[0];
  if (street === undefined) return;
  const city = parts.length > 1 ? parts.at(-1) : undefined;
  let doubted = city === undefined;
  if (city !== undefined) {
    add(gathering, 'street', number, street, city, 6 - penalty, ownUnit);
    const before = parts.length > 2 ? parts.at(-2) : undefined;
    if (before !== undefined)
      add(gathering, 'street', number, street, before, 3 - penalty, ownUnit);
    doubted = !isKnownCity(line.words, city.from, city.to, tail.state, gazetteer);
  }
  if (!doubted) return;
  const splits = splitCity(line.words, street.from, street.to, tail.state, gazetteer);
  for (const { cityAt, score } of splits) {
    // The part after the comma is preferred as the city, unless a known city ends this part.
    if (city !== undefined && (score < 4 || cityAt === street.to)) continue;
    const left = { from: street.from, to: cityAt };
    const right = { from: cityAt, to: street.to };
    add(gathering, 'street', number, left, right, score - penalty, ownUnit);
  }
}

function addNumbered(
  gathering: Gathering,
  numbers: readonly HouseNumberReading[],
  penalty: number,
): void {
  for (let rank = 0; rank < numbers.length; rank++) {
    const number = numbers[rank]!;
    if (number.next >= gathering.tail.end) continue;
    addStreets(gathering, number, number.next, penalty + rank * 1.25);
  }
}

function addCrossing(gathering: Gathering, crossing: number): void {
  const { line, tail, gazetteer } = gathering;
  const street = { from: 0, to: crossing };
  const word = line.words[crossing];
  const from = word === 'AND' || word === 'AT' ? crossing + 1 : crossing;
  const parts = partsOf(line, from, tail.end);
  const second = parts[0];
  if (second === undefined) return;
  const city = parts.length > 1 ? parts.at(-1) : undefined;
  if (city !== undefined) {
    add(gathering, 'intersection', NO_NUMBER, street, city, 6);
    return;
  }
  for (const split of splitCity(line.words, second.from, second.to, tail.state, gazetteer)) {
    const right = { from: split.cityAt, to: second.to };
    add(gathering, 'intersection', NO_NUMBER, street, right, split.score);
  }
}

/** Adds readings of a house number behind other words: "City Hall 149 Church St". */
function addInnerNumber(gathering: Gathering): boolean {
  const { line, tail, gazetteer } = gathering;
  if (readHighway(line.words, 0, tail.end, gazetteer) !== null) return false;
  for (let index = 1; index + 2 < tail.end; index++) {
    if (!startsWithDigit(line.words[index] ?? '')) continue;
    const route = suffixOf(line.words[index - 1] ?? '');
    if (route === 'HWY' || route === 'RTE' || route === 'RD') continue;
    const numbers = readHouseNumbers(line, index, tail.end);
    const next = numbers[0]?.next ?? tail.end;
    if (!streetEnds(line.words, next, tail.end, gazetteer).includes(2)) continue;
    addNumbered(gathering, numbers, 0.5);
    return true;
  }
  return false;
}

/** Adds readings of a line without a house number: a place, or a street as a whole. */
function addUnnumbered(gathering: Gathering): void {
  const { line, tail, gazetteer, hasBox } = gathering;
  const parts = tidyParts(gathering, partsOf(line, 0, tail.end))[0];
  const first = parts[0];
  const last = parts.at(-1);
  const placed = tail.state !== '' || tail.zip !== '' || tail.canadianPostalCode !== '';
  const kind = hasBox ? 'po-box' : 'place-only';
  if (first === undefined || last === undefined) {
    if (placed || hasBox) add(gathering, kind, NO_NUMBER, NO_SPAN, NO_SPAN, 1);
    return;
  }
  const crossing = hasBox ? -1 : crossingAt(line, tail.end);
  if (crossing > 0) addCrossing(gathering, crossing);
  const known = isKnownCity(line.words, last.from, last.to, tail.state, gazetteer);
  if (hasBox) {
    add(gathering, kind, NO_NUMBER, NO_SPAN, last, known ? 8 : 4);
    return;
  }
  const alone = parts.length === 1;
  add(gathering, kind, NO_NUMBER, NO_SPAN, last, known && alone ? 8 : alone ? 1 : 3);
  const shaped = streetEnds(line.words, first.from, first.to, gazetteer).includes(2);
  const isInner = alone && addInnerNumber(gathering);
  const penalty = (shaped ? 0 : 3.5) + (isInner ? 2 : 0);
  if (shaped || !alone || !known) addStreets(gathering, NO_NUMBER, 0, penalty);
}

/** The readings of the first house number that begins the line or a part of it. */
function findNumbers(line: Line, end: number): readonly HouseNumberReading[] {
  const at = line.words[0] === '#' ? 1 : 0;
  const numbers = at < end ? readHouseNumbers(line, at, end) : [];
  if (numbers.length > 0) return numbers;
  for (let index = 1; index < end; index++) {
    if (line.joins[index] !== JOIN.comma && line.joins[index] !== JOIN.dash) continue;
    if (!startsWithDigit(line.words[index] ?? '')) continue;
    const later = readHouseNumbers(line, index, end);
    if (later.length > 0) return later;
  }
  return [];
}

function gather(gathering: Gathering): void {
  const { line, tail } = gathering;
  const numbers = findNumbers(line, tail.end);
  addNumbered(gathering, numbers, 0);
  // "ONE WAY RD" and "A12 CAMP RD" may have no house number; "12 MAIN ST" certainly has one.
  const first = tail.end > 0 ? (line.words[0] ?? '') : '';
  const grid = directionOf(first.charAt(0)) !== '' && hasDigit(first);
  const told = startsWithDigit(first) || grid || first === '#';
  const certain = numbers.length > 0 && told;
  const own = numbers.length === 0 || gathering.readings.length === 0;
  if (own && !certain) addUnnumbered(gathering);
  else if (!certain) addStreets(gathering, NO_NUMBER, 0, 4);
}

/** The line without remarks and a ZIP in its middle, and what was read of its place. */
function readPlace(line: Line, gazetteer: Gazetteer): readonly [Line, Tail] {
  const tail = readTail(line, gazetteer);
  if (tail.twoZips || tail.canadianPostalCode !== '' || gazetteer.isCanadian === true) {
    return [line, tail];
  }
  if (tail.state === '') {
    const plain = withoutRemarks(line, gazetteer);
    if (plain.words.length < line.words.length) return readPlace(plain, gazetteer);
  }
  const inner = tail.zip === '' ? innerZipAt(line, tail.end) : -1;
  const zip = inner < 0 ? tail.zip : (line.words[inner] ?? '');
  if (zip === '' && tail.state === '') return [line, tail];
  const otherPlace =
    tail.state === '' ? stateWithin(line, tail.end, gazetteer) : placeWithin(line, tail, gazetteer);
  if (inner < 0) return [line, otherPlace === '' ? tail : { ...tail, otherPlace }];
  const body = withoutWord(line, inner);
  return [body, { ...readTail(body, gazetteer), zip, otherPlace }];
}

/** Whether the address has two ZIPs where one belongs; such an address has no reading. */
export const namesTwoZips = (text: string, gazetteer: Gazetteer): boolean =>
  readPlace(takeUnits(tokenize(text)).line, gazetteer)[1].twoZips;

/** The readings of a line from which units have been removed. */
function readLine(
  line: Line,
  gazetteer: Gazetteer,
  unit: string,
  hasBox: boolean,
): readonly Reading[] {
  const readings: Reading[] = [];
  const [body, tail] = readPlace(line, gazetteer);
  if (tail.twoZips) return [];
  gather({ line: body, tail, gazetteer, unit, hasBox, penalty: 0, readings });
  if (tail.doubtful) {
    const penalty = tail.zip === '' ? 0 : 1;
    gather({ line: body, tail: withoutState(tail), gazetteer, unit, hasBox, penalty, readings });
  }
  if (readings.length > 1) readings.sort((a, b) => b.score - a.score);
  return readings;
}

/**
 * Reads one line of address in any order and punctuation. Returns at most six readings, best first:
 * words can be divided in several ways, and some have several meanings. Empty when nothing can be
 * read. Never throws; takes time linear in the length of the line.
 */
export function parseAddress(text: string, gazetteer: Gazetteer): readonly ParsedAddress[] {
  if (text.length > ADDRESS_CHARS_MAX) return [];
  const tokens = tokenize(text);
  if (tokens.words.length === 0 || tokens.words.length > WORDS_MAX) return [];
  const military = readMilitary(tokens, gazetteer);
  if (military !== null) return [military];
  const { line, unit, hasBox } = takeUnits(tokens);
  const readings = readLine(streetFirst(line, gazetteer), gazetteer, unit, hasBox);
  const parsed: ParsedAddress[] = [];
  for (const reading of readings) {
    if (parsed.length >= READINGS_MAX) break;
    spellOut(reading, gazetteer, READINGS_MAX, parsed);
  }
  return parsed;
}
