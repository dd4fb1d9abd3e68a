/**
 * Streets of ordinary words with a type that ends the name wherever it stands, "Spectrum Center Dr"
 * or "N Main St": read in one pass. All others are left to `readStreet`.
 */
import { WordTable, wordsOf } from '../base/word-table.js';
import { LETTERED_ROADS } from './highway.js';
import type { StreetName } from './street-name.js';
import { directionOf, honouredKey, SPELLED_WORDS } from './street-words.js';
import { isStrongSuffix, SUFFIX_WORDS, suffixOf } from './suffix.js';
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

/** Types by the words that they are written with. */
const TYPES = new WordTable(
  SUFFIX_WORDS.filter((word) => isStrongSuffix(suffixOf(word)) && !isSpecialType(word)).map(
    (word) => [word, suffixOf(word)] as const,
  ),
);

/** A unit's designator or a direction is no type. */
function isSpecialType(word: string): boolean {
  return UNIT_WORDS.includes(word) || directionOf(word) !== '';
}

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
  if (fold === '' || start === length) return null;
  const suffix = TYPES.get(words.slice(start));
  if (suffix === undefined) return null;
  // "12 A St": the letter may belong to the number.
  if (nameAt === 0 && words.charCodeAt(1) === SPACE) return null;
  const name = words.slice(nameAt, start - 1);
  return { preDirection, name, suffix, postDirection: '', fold: honouredKey(fold) };
}
