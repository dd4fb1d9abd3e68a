/**
 * Finds cities and states in a line: where the street ends and the city begins, and what the line
 * says after the address.
 */
import { isZip } from './address-tail.js';
import { readHighway } from './highway.js';
import type { Gazetteer, Tail } from './parsed.js';
import { isOtherWord } from './plain-words.js';
import { isShortDirection } from './street-words.js';
import {
  CITY_FIRST,
  isKnownCity,
  isStrongSuffix,
  suffixOf,
  directionOf,
  directionWord,
  hasDigit,
  isDigits,
  startsWithDigit,
  JOIN,
  type Line,
} from './word.js';

/** A way to divide words into street and city. The city is empty where `cityAt` is the end. */
interface CitySplit {
  readonly cityAt: number;
  /** Likelihood: higher is likelier. A known city is worth 4, a street that ends in a suffix 2. */
  readonly score: number;
}

const CITY_WORDS_MAX = 4;
const ANCHORS_MAX = 2;

/**
 * How well a street may end before each word. 2: behind a strong suffix, a numbered road, or a
 * direction that follows one. 1: behind a suffix that is as often part of a name. Otherwise 0.
 */
export function streetEnds(
  words: readonly string[],
  from: number,
  to: number,
  gazetteer: Gazetteer,
): readonly number[] {
  const ends: number[] = [0];
  const start = to - from > 1 && directionOf(words[from] ?? '') !== '' ? from + 1 : from;
  const highway = readHighway(words, start, to, gazetteer);
  const afterHighway = highway === null ? -1 : highway.next;
  for (let at = from + 1; at <= to; at++) {
    const word = words[at - 1] ?? '';
    const suffix = suffixOf(word);
    let end = 0;
    if (at === afterHighway) end = 2;
    else if (suffix !== '' && at - 1 > from) end = isStrongSuffix(suffix) ? 2 : 1;
    else if (at - 1 > from && directionOf(word) !== '') {
      const before = words[at - 2] ?? '';
      if (ends[at - 1 - from] === 2 || isDigits(before)) end = 2;
    } else if (isShortDirection(word) && ends[at - 1 - from] === 2) end = 2;
    ends.push(end);
  }
  return ends;
}

function scoreUnknown(words: readonly string[], at: number, to: number): number {
  // A short direction belongs to the street rather than to the city: "Queen St W Toronto".
  const isDirected = at + 1 < to && directionWord(words[at] ?? '') !== '';
  let score = isDirected ? 2.25 : 2.5;
  if (isStrongSuffix(suffixOf(words[to - 1] ?? ''))) score -= 2;
  for (let index = at; index < to; index++) if (hasDigit(words[index] ?? '')) return score - 3;
  return score;
}

/** Whether a street would be a single word that cannot be a name by itself. */
function isThin(words: readonly string[], from: number, cityAt: number): boolean {
  const word = words[from] ?? '';
  return cityAt - from === 1 && (directionOf(word) !== '' || isStrongSuffix(suffixOf(word)));
}

/**
 * The ways to divide the words from `from` to before `to` into street and city, in no particular
 * order. Never empty.
 */
export function splitCity(
  words: readonly string[],
  from: number,
  to: number,
  state: string,
  gazetteer: Gazetteer,
): CitySplit[] {
  const ends = streetEnds(words, from, to, gazetteer);
  const splits: CitySplit[] = [];
  const longest = Math.min(CITY_WORDS_MAX, to - from - 1);
  for (let length = longest; length >= 1; length--) {
    const cityAt = to - length;
    // A city's last word has no digit.
    if (hasDigit(words[to - 1] ?? '') || !isKnownCity(words, cityAt, to, state, gazetteer)) {
      continue;
    }
    const thin = isThin(words, from, cityAt) ? 2 : 0;
    splits.push({ cityAt, score: 4 + (ends[cityAt - from] ?? 0) + length / 4 - thin });
  }
  const known = splits.length;
  for (let at = from + 1; at < to && splits.length < known + ANCHORS_MAX; at++) {
    if (ends[at - from] !== 2 || splits.some((split) => split.cityAt === at)) continue;
    splits.push({ cityAt: at, score: scoreUnknown(words, at, to) });
  }
  const end = ends[to - from] ?? 0;
  // A proper end of a street followed by a known city leaves no doubt, so the words are not tried
  // as a street alone.
  if (end < 2 && splits.some((split) => split.score >= 6)) return splits;
  splits.push({ cityAt: to, score: end === 2 ? 3 : 1 + end / 2 });
  if (splits.length === 1 && end === 0 && to - from >= 2) {
    splits.push({ cityAt: to - 1, score: 0.5 });
  }
  return splits;
}

const CITY_BEFORE_STATE_WORDS_MAX = 3;

/** Words [from, to) that name a state. */
interface StateWords {
  readonly state: string;
  readonly from: number;
  readonly to: number;
}

/** The state whose name or code ends with the word at `last`; null if none does. */
function stateAt({ words }: Line, last: number, gazetteer: Gazetteer): StateWords | null {
  const word = words[last] ?? '';
  if (startsWithDigit(word)) return null;
  const to = last + 1;
  const two = last === 0 ? '' : gazetteer.stateOf(`${words[last - 1] ?? ''} ${word}`);
  if (two !== '') return { state: two, from: last - 1, to };
  const state = gazetteer.stateOf(word);
  return state === '' ? null : { state, from: last, to };
}

/** Whether a house number begins the line, or one of its parts, before the word at `end`. */
function hasNumberBefore({ words, joins }: Line, end: number): boolean {
  for (let index = 0; index < end; index++) {
    const starts = index === 0 || joins[index] === JOIN.comma || joins[index] === JOIN.dash;
    if (starts && startsWithDigit(words[index] ?? '')) return true;
  }
  return false;
}

/** Index of the ZIP of the first state that is directly followed by a ZIP; -1 if there is none. */
function pairAt(line: Line, end: number, gazetteer: Gazetteer): number {
  const { words } = line;
  for (let index = 2; index < end; index++) {
    if (!isZip(words[index] ?? '') || isOtherWord(words[index - 1] ?? '')) continue;
    if (stateAt(line, index - 1, gazetteer) !== null) return index;
  }
  return -1;
}

/**
 * The line up to the first state and ZIP that follow a house number. Remarks behind them are
 * dropped, since their figures are no ZIP: "…, VT 05401 (ring twice)", "…, VT 05401, Store 60606".
 */
export function withoutRemarks(line: Line, gazetteer: Gazetteer): Line {
  const zip = pairAt(line, line.words.length, gazetteer);
  if (zip < 0 || !hasNumberBefore(line, zip - 2)) return line;
  const next = line.words[zip + 1] ?? '';
  const end =
    next.length === 4 && isDigits(next) && line.joins[zip + 1] === JOIN.hyphen ? zip + 2 : zip + 1;
  return { words: line.words.slice(0, end), joins: line.joins.slice(0, end) };
}

/** Whether a city may begin at a word: where a part of the line begins, or where a street ends. */
function beginsCity({ words, joins }: Line, index: number): boolean {
  return joins[index] === JOIN.comma || isStrongSuffix(suffixOf(words[index - 1] ?? ''));
}

/**
 * Whether the words before a state name one of its cities. Where the state's code may be another
 * word, as in "Somers Ct", those words must also not belong to the street.
 */
function followsCity(line: Line, { state, from }: StateWords, gazetteer: Gazetteer): boolean {
  const doubtful = isOtherWord(line.words[from] ?? '');
  for (let length = 1; length <= CITY_BEFORE_STATE_WORDS_MAX && length < from; length++) {
    if (doubtful && !beginsCity(line, from - length)) continue;
    if (isKnownCity(line.words, from - length, from, state, gazetteer)) return true;
  }
  return false;
}

/**
 * Whether the words of a state are meant as the state: a ZIP follows directly, or they end a part
 * of the line and are its code, or they are a whole part that names no city ("Georgia, 05468" is in
 * Vermont).
 */
function stands(
  { words, joins }: Line,
  { state, from, to }: StateWords,
  gazetteer: Gazetteer,
): boolean {
  if (isZip(words[to] ?? '')) return true;
  if (to < words.length && joins[to] !== JOIN.comma) return false;
  if (words[from] === state) return true;
  return joins[from] === JOIN.comma && !gazetteer.isCity('', words.slice(from, to).join(' '));
}

/**
 * The state that is named before `end`, because a ZIP follows it, it is a part of the line by
 * itself, or one of its cities precedes it; "" if there is none.
 */
export function stateWithin(line: Line, end: number, gazetteer: Gazetteer): string {
  for (let index = 1; index < end; index++) {
    const found = stateAt(line, index, gazetteer);
    if (found === null) continue;
    if (!isOtherWord(line.words[index] ?? '') && stands(line, found, gazetteer)) {
      return found.state;
    }
    if (followsCity(line, found, gazetteer)) return found.state;
  }
  return '';
}

/**
 * Index at which the longest city of a state begins that ends before the word at `end`; -1 if none
 * does.
 */
function cityBefore({ words }: Line, end: number, state: string, gazetteer: Gazetteer): number {
  for (let from = Math.max(1, end - CITY_WORDS_MAX); from < end; from++) {
    if (isKnownCity(words, from, end, state, gazetteer)) return from;
  }
  return -1;
}

/** Whether two names mean one city. The first word may be written in two ways. */
function isSameCity(one: readonly string[], other: readonly string[]): boolean {
  const [first = '', ...rest] = one;
  const [otherFirst = '', ...others] = other;
  return (
    rest.join() === others.join() &&
    (first === otherFirst || (rest.length > 0 && CITY_FIRST.get(first) === otherFirst))
  );
}

/**
 * The place named in the middle of a line that contradicts its end: a state with its ZIP ("CA
 * 92618") or a city with its state ("IRVINE, CA"). Where the states differ, only the state is
 * given. "" where nothing contradicts.
 */
export function placeWithin(line: Line, { end, state, zip }: Tail, gazetteer: Gazetteer): string {
  const { words } = line;
  const at = pairAt(line, end, gazetteer);
  if (at >= 0) {
    const paired = stateAt(line, at - 1, gazetteer)?.state ?? '';
    if (paired !== state) return paired;
    if (zip !== '' && words[at] !== zip) return `${state} ${words[at] ?? ''}`;
  }
  const last = cityBefore(line, end, state, gazetteer);
  for (let index = 2; last > 0 && index < last; index++) {
    const found = words[index]!.length === 2 ? stateAt(line, index, gazetteer) : null;
    if (found?.from !== index || isOtherWord(words[index]!) || !stands(line, found, gazetteer)) {
      continue;
    }
    const from = cityBefore(line, index, found.state, gazetteer);
    if (from < 0 || !beginsCity(line, from)) continue;
    if (found.state !== state) return found.state;
    const city = words.slice(from, index);
    if (!isSameCity(city, words.slice(last, end))) return `${city.join(' ')}, ${state}`;
  }
  return '';
}

/** Index after an "&", "@" or "AND" between two streets; -1 if there is none. */
export function crossingAt(line: Line, end: number): number {
  for (let index = 1; index < end; index++) {
    if (line.joins[index] === JOIN.and) return index;
    const word = line.words[index];
    const before = suffixOf(line.words[index - 1] ?? '');
    if ((word === 'AND' || word === 'AT') && before !== '' && index + 1 < end) return index;
  }
  return -1;
}
