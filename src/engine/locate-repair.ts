/** Second readings of a street whose last word hides its type. */
import { withinOneTypo } from '../address/edit-distance.js';
import type { ParsedAddress } from '../address/parsed.js';
import { parseStreetName } from '../address/street-name.js';
import { SUFFIX_EXPANSIONS, suffixOf } from '../address/suffix.js';

/** Street types spelled out. */
const SPELLED = new Set(SUFFIX_EXPANSIONS.values());

/** Shorter words are near too many others. */
const MISSPELT_LETTERS_MIN = 4;

/** The street type that a word is one typo away from; "" for none or several. */
function misspeltSuffix(word: string): string {
  if (word.length < MISSPELT_LETTERS_MIN) return '';
  let only = '';
  for (const full of SPELLED) {
    if (full.length < MISSPELT_LETTERS_MIN || !withinOneTypo(word, full)) continue;
    const suffix = suffixOf(full);
    if (only !== '' && only !== suffix) return '';
    only = suffix;
  }
  return only;
}

/**
 * The street without a last word that is no part of it ("2043 Alder Way A": a unit without its
 * designator) or with its misspelt type read ("408 Bruce Stret"); null where neither applies.
 */
export function repairedReading(reading: ParsedAddress): ParsedAddress | null {
  const { name, suffix, postDirection } = reading;
  const cut = name.lastIndexOf(' ');
  if (cut < 0 || suffix !== '' || postDirection !== '') return null;
  const rest = name.slice(0, cut);
  const street = parseStreetName(rest);
  if (street.suffix !== '') {
    const preDirection = reading.preDirection || street.preDirection;
    return { ...reading, ...street, preDirection };
  }
  const meant = misspeltSuffix(name.slice(cut + 1));
  return meant === '' ? null : { ...reading, name: rest, suffix: meant };
}
