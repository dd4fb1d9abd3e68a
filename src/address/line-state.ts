/** States that a line names elsewhere than at its end: behind them stand words of no address. */
import { isKnownCity } from './city-split.js';
import { directionOf } from './direction.js';
import { isDigits, startsWithDigit } from './number-words.js';
import type { Gazetteer } from './parsed.js';
import { isStrongSuffix, suffixOf } from './suffix.js';
import { JOIN, type Line } from './token.js';

const CITY_WORDS_MAX = 3;

function isZip(word: string): boolean {
  return word.length === 5 && isDigits(word);
}

/** Words [from, to) that name a state. */
interface StateWords {
  readonly state: string;
  readonly from: number;
  readonly to: number;
}

/** The state whose name or code ends with a word; null if none. */
function stateAt({ words }: Line, last: number, gazetteer: Gazetteer): StateWords | null {
  const word = words[last] ?? '';
  if (startsWithDigit(word)) return null;
  const to = last + 1;
  const two = last === 0 ? '' : gazetteer.stateOf(`${words[last - 1] ?? ''} ${word}`);
  if (two !== '') return { state: two, from: last - 1, to };
  const state = gazetteer.stateOf(word);
  return state === '' ? null : { state, from: last, to };
}

/** Whether a state's code is as often another word: "CT" a court, "NE" a direction. */
function isOtherWord(word: string): boolean {
  return directionOf(word) !== '' || suffixOf(word) !== '';
}

/** Whether a house number begins the line, or a part of it, before a word. */
function hasNumberBefore({ words, joins }: Line, end: number): boolean {
  for (let index = 0; index < end; index++) {
    const starts = index === 0 || joins[index] === JOIN.comma || joins[index] === JOIN.dash;
    if (starts && startsWithDigit(words[index] ?? '')) return true;
  }
  return false;
}

/** Index of the ZIP of the first state and ZIP that stand together, -1 if none. */
function pairAt(line: Line, end: number, gazetteer: Gazetteer): number {
  const { words } = line;
  for (let index = 2; index < end; index++) {
    if (!isZip(words[index] ?? '') || isOtherWord(words[index - 1] ?? '')) continue;
    if (stateAt(line, index - 1, gazetteer) !== null) return index;
  }
  return -1;
}

/**
 * The line without what stands behind the first state and ZIP that follow a house number: "…, VT
 * 05401 (ring twice)", "…, VT 05401, Store 60606". Whatever figures are there are no ZIP.
 */
export function withoutRemarks(line: Line, gazetteer: Gazetteer): Line {
  const zip = pairAt(line, line.words.length, gazetteer);
  if (zip < 0 || !hasNumberBefore(line, zip - 2)) return line;
  const next = line.words[zip + 1] ?? '';
  const end = next.length === 4 && isDigits(next) && line.joins[zip + 1] === JOIN.hyphen
    ? zip + 2 : zip + 1;
  return { words: line.words.slice(0, end), joins: line.joins.slice(0, end) };
}

/** Whether a city may begin at a word: with its part of the line, or where a street ends. */
function beginsCity({ words, joins }: Line, index: number): boolean {
  return joins[index] === JOIN.comma || isStrongSuffix(suffixOf(words[index - 1] ?? ''));
}

/**
 * Whether the words before an index name a city of the state; where the state's code may be another
 * word, "Somers Ct", they must not belong to the street.
 */
function followsCity(line: Line, { state, from }: StateWords, gazetteer: Gazetteer): boolean {
  const doubtful = isOtherWord(line.words[from] ?? '');
  for (let length = 1; length <= CITY_WORDS_MAX && length < from; length++) {
    if (doubtful && !beginsCity(line, from - length)) continue;
    if (isKnownCity(line.words, from - length, from, state, gazetteer)) return true;
  }
  return false;
}

/**
 * Whether a ZIP is right behind a state, or it ends a part of the line as a code, or is one as a
 * name that no city has ("Georgia, 05468" is in Vermont).
 */
function stands(
  { words, joins }: Line, { state, from, to }: StateWords, gazetteer: Gazetteer,
): boolean {
  if (isZip(words[to] ?? '')) return true;
  if (to < words.length && joins[to] !== JOIN.comma) return false;
  if (words[from] === state) return true;
  return joins[from] === JOIN.comma && !gazetteer.isCity('', words.slice(from, to).join(' '));
}

/**
 * A state that the words before `end` name, '' if none: with a ZIP right behind it, as a part of
 * the line, or behind one of its cities.
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

/** The state of a state and ZIP that stand together before `end`; '' if none. */
export function pairedState(line: Line, end: number, gazetteer: Gazetteer): string {
  const zip = pairAt(line, end, gazetteer);
  return zip < 0 ? '' : stateAt(line, zip - 1, gazetteer)?.state ?? '';
}
