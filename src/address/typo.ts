/**
 * A typing error that a street name may contain and still match, and street types that a typing
 * error hides.
 */
import { ordinal } from './street-words.js';
import type { ParsedAddress } from './parsed.js';
import { parseStreetName } from './street-name.js';
import { SUFFIX_EXPANSIONS } from './suffix.js';
import { suffixOf, hasDigit, isDigits } from './word.js';

const TYPO_LETTERS_MIN = 4;

/**
 * Whether two texts are equal or differ by one insertion, deletion, substitution or swap of
 * neighbouring letters. Takes linear time.
 */
export function withinOneTypo(a: string, b: string): boolean {
  const difference = a.length - b.length;
  if (difference > 1 || difference < -1) return false;
  const shorter = difference <= 0 ? a : b;
  const longer = difference <= 0 ? b : a;
  let left = 0;
  while (left < shorter.length && shorter.charCodeAt(left) === longer.charCodeAt(left)) left++;
  let right = 0;
  const room = shorter.length - left;
  while (
    right < room &&
    shorter.charCodeAt(shorter.length - 1 - right) === longer.charCodeAt(longer.length - 1 - right)
  ) {
    right++;
  }
  const gap = room - right;
  if (difference !== 0) return gap === 0;
  if (gap <= 1) return true;
  return (
    gap === 2 &&
    shorter.charCodeAt(left) === longer.charCodeAt(left + 1) &&
    shorter.charCodeAt(left + 1) === longer.charCodeAt(left)
  );
}

/**
 * Whether a name may be matched despite a typo. Short names and names with digits may not, since
 * one letter makes another street of them ("5TH" and "6TH", "ELM" and "ELK").
 */
export function typoAllowed(name: string): boolean {
  if (hasDigit(name)) return false;
  let letters = 0;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code >= 65 && code <= 90) letters++;
  }
  return letters >= TYPO_LETTERS_MIN;
}

/** Numbers of streets have at most three digits. */
const NUMBERED_DIGITS_MAX = 3;

/** Street types spelled out. */
const SPELLED = new Set(SUFFIX_EXPANSIONS.values());

/** Shorter words differ from too many others by one letter only. */
const MISSPELT_LETTERS_MIN = 4;

/**
 * The street type that a word differs from by one typo; "" where there is none, or more than one.
 */
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
 * The name as an ordinal where it is a number ("W 42 St"), or without its last word where that
 * repeats the street type; null where neither applies.
 */
function plainName({ name, suffix }: ParsedAddress): string | null {
  if (isDigits(name)) return name.length <= NUMBERED_DIGITS_MAX ? ordinal(Number(name)) : null;
  const cut = name.lastIndexOf(' ');
  return cut > 0 && suffixOf(name.slice(cut + 1)) === suffix ? name.slice(0, cut) : null;
}

/**
 * A reading with its street repaired: without a last word that does not belong to it (the unit in
 * "2043 Alder Way A"), with its misspelt type read ("408 Bruce Stret"), or with the name that
 * `plainName` gives. Null where none of these applies.
 */
export function repairedReading(reading: ParsedAddress): ParsedAddress | null {
  const { name, suffix, postDirection } = reading;
  if (suffix !== '') {
    const plain = plainName(reading);
    return plain === null ? null : { ...reading, name: plain };
  }
  const cut = name.lastIndexOf(' ');
  if (cut < 0 || postDirection !== '') return null;
  const rest = name.slice(0, cut);
  const street = parseStreetName(rest);
  if (street.suffix !== '') {
    const preDirection = reading.preDirection || street.preDirection;
    return { ...reading, ...street, preDirection };
  }
  const meant = misspeltSuffix(name.slice(cut + 1));
  return meant === '' ? null : { ...reading, name: rest, suffix: meant };
}
