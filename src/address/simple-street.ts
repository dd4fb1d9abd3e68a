/**
 * Streets of ordinary words, with a type behind them or without, "Spectrum Center Dr", "N Main St",
 * "Broadway": read in one pass. All others are left to `readStreet`.
 */
import { WordTable, wordsOf } from '../base/word-table.js';
import { LETTERED_ROADS } from './highway.js';
import type { StreetName } from './street-name.js';
import { directionOf, honouredKey, SPELLED_WORDS } from './street-words.js';
import { SUFFIX_WORDS, suffixOf } from './suffix.js';
import { UNIT_WORDS } from './unit.js';
import { OFFICE_WORDS } from './address-tail.js';

/** A street with the folded name that it is looked up by. */
export interface FoldedStreet extends StreetName {
  readonly fold: string;
}

/** Words that mean something else than themselves before the last word of a street. */
const SPECIAL = wordsOf([
  ...['NO', 'SO', 'OF', 'THE'],
  ...SPELLED_WORDS,
  ...LETTERED_ROADS,
  ...SUFFIX_WORDS.filter((word) => suffixOf(word) === 'AVE'),
  ...UNIT_WORDS,
  ...OFFICE_WORDS,
]);

/** Types by the words that they are written with; what may be a unit or a direction is none. */
const TYPES = new WordTable(
  SUFFIX_WORDS.filter((word) => !UNIT_WORDS.includes(word) && directionOf(word) === '').map(
    (word) => [word, suffixOf(word)] as const,
  ),
);

const SPACE = 32;
const CAPITAL_A = 65;
const CAPITAL_Z = 90;

/** Reads what stands between a number and a comma; null for a street that is not as simple. */
export function readSimpleStreet(text: string): FoldedStreet | null {
  const words = text.toUpperCase();
  const { length } = words;
  let start = 0;
  let nameAt = 0;
  let preDirection = '';
  let fold = '';
  for (let at = 0; at < length; at += 1) {
    const code = words.charCodeAt(at);
    if (code >= CAPITAL_A && code <= CAPITAL_Z) continue;
    if (code !== SPACE || at === start) return null;
    const word = words.slice(start, at);
    if (start === 0 && (preDirection = directionOf(word)) !== '') nameAt = at + 1;
    else if (SPECIAL.has(word)) return null;
    else fold += word;
    start = at + 1;
  }
  // "12 A St": a letter behind a number may belong to it.
  if (start === length || (nameAt === 0 && words.charCodeAt(1) === SPACE)) return null;
  const last = words.slice(start);
  const suffix = fold === '' ? undefined : TYPES.get(last);
  if (suffix === undefined && SPECIAL.has(last)) return null;
  if (suffix === undefined && suffixOf(last) !== '') return null;
  const name = words.slice(nameAt, suffix === undefined ? length : start - 1);
  if (suffix === undefined) fold += last;
  return { preDirection, name, suffix: suffix ?? '', postDirection: '', fold: honouredKey(fold) };
}
