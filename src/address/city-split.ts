/** Where a street ends and a city begins when no comma says so. */
import { directionOf, directionWord, isShortDirection } from './direction.js';
import { readHighway } from './highway.js';
import { hasDigit, isDigits } from './number-words.js';
import type { Gazetteer } from './parsed.js';
import { isStrongSuffix, suffixOf } from './suffix.js';

/** A way to part words into street and city; the city is empty where `cityAt` is the end. */
export interface CitySplit {
  readonly cityAt: number;
  /** The higher the likelier; known cities are worth 4, streets with a suffix 2. */
  readonly score: number;
}

const CITY_WORDS_MAX = 4;
const ANCHORS_MAX = 2;

/** First words of cities that are written in two ways. */
const CITY_FIRST = new Map([
  ['ST', 'SAINT'], ['SAINT', 'ST'], ['STE', 'SAINTE'], ['MT', 'MOUNT'], ['MOUNT', 'MT'],
  ['FT', 'FORT'], ['FORT', 'FT'],
]);

/** Whether the words from `from` to before `to` name a city, in either spelling of the first. */
export function isKnownCity(
  words: readonly string[],
  from: number,
  to: number,
  state: string,
  gazetteer: Gazetteer,
): boolean {
  const first = words[from] ?? '';
  let rest = '';
  for (let index = from + 1; index < to; index++) rest += ` ${words[index] ?? ''}`;
  if (gazetteer.isCity(state, first + rest)) return true;
  if (rest === '') return false;
  const second = CITY_FIRST.get(first) ?? directionWord(directionOf(first));
  return second !== '' && second !== first && gazetteer.isCity(state, second + rest);
}

/**
 * How well a street may end before each word: 2 behind a strong suffix, a numbered road or a
 * direction that follows one, 1 behind a suffix that is as often part of a name, else 0.
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
  let score = 2.5;
  if (isStrongSuffix(suffixOf(words[to - 1] ?? ''))) score -= 2;
  for (let index = at; index < to; index++) if (hasDigit(words[index] ?? '')) return score - 3;
  return score;
}

/** A street of one word that cannot be a name by itself. */
function isThin(words: readonly string[], from: number, cityAt: number): boolean {
  const word = words[from] ?? '';
  return cityAt - from === 1 && (directionOf(word) !== '' || isStrongSuffix(suffixOf(word)));
}

/** Ways to part the words from `from` to before `to`, in no order. Never empty. */
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
    // A single letter or number is no city.
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
  // A street that ends where a known city begins leaves nothing to doubt.
  if (end < 2 && splits.some((split) => split.score >= 6)) return splits;
  splits.push({ cityAt: to, score: end === 2 ? 3 : 1 + end / 2 });
  if (splits.length === 1 && end === 0 && to - from >= 2) {
    splits.push({ cityAt: to - 1, score: 0.5 });
  }
  return splits;
}
