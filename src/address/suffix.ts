/** Street suffixes: what a word abbreviates and how it is spelled out. */
import { STRONG_SUFFIXES, SUFFIX_TABLE } from './suffix-table.js';
import { WordTable } from './word-table.js';

const abbreviations = new Map<string, string>();
const FULL = new Map<string, string>();
const EXPANSION = new Map<string, string>();
const STRONG = new Set(STRONG_SUFFIXES.split(' '));

/** Short forms that mean something else, or several things, in a name: "Via Roma", "St Paul". */
const NOT_EXPANDED = new Set(
  'BR CEN CP DIV DR EXP FT HT IS KY LA ML MT PR RAD ST STA STR UN VIA VL'.split(' '),
);

for (const line of SUFFIX_TABLE.trim().split('\n')) {
  const [abbreviation = '', full = '', ...variants] = line.split(' ');
  FULL.set(abbreviation, full);
  for (const word of [abbreviation, full, ...variants]) {
    abbreviations.set(word, abbreviation);
    // "TRAILS" is no short form of "TRAIL", however the suffix table counts it.
    const plural = word.startsWith(full);
    if (!plural && !NOT_EXPANDED.has(word)) EXPANSION.set(word, full);
  }
}

const ABBREVIATION = new WordTable(abbreviations);

/** "STREET", "STR" or "ST" → "ST"; '' for a word that is no suffix. */
export function suffixOf(word: string): string {
  return ABBREVIATION.get(word) ?? '';
}

/** "DR" → "DRIVE"; '' for anything but a standard abbreviation. */
export function suffixWord(abbreviation: string): string {
  return FULL.get(abbreviation) ?? '';
}

/** Whether a standard abbreviation ends a street's name almost wherever it stands. */
export function isStrongSuffix(abbreviation: string): boolean {
  return abbreviation !== '' && STRONG.has(abbreviation);
}

/** Short forms that may be spelled out inside a name: "CTR" → "CENTER". */
export const SUFFIX_EXPANSIONS: ReadonlyMap<string, string> = EXPANSION;
