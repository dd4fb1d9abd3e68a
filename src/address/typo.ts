/** One slip of the keyboard, which a street name may have and still match; types it hides. */
import { ordinal } from './street-words.js';
import type { ParsedAddress } from './parsed.js';
import { parseStreetName } from './street-name.js';
import { SUFFIX_EXPANSIONS } from './suffix.js';
import { suffixOf, hasDigit, isDigits } from './word.js';

const TYPO_LETTERS_MIN = 4;

/**
 * Whether two texts are equal or one insertion, deletion, substitution or swap of neighbours
 * apart. Linear in their length.
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
 * Whether a name may be matched with a typo in it. Short names and names with figures may not:
 * a letter more or less makes another street of them ("5TH" and "6TH", "ELM" and "ELK").
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

/** No city numbers its streets higher. */
const NUMBERED_DIGITS_MAX = 3;

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

/** A numbered street is an ordinal, "W 42 St"; a type that stands twice counts once. */
function plainName({ name, suffix }: ParsedAddress): string | null {
  if (isDigits(name)) return name.length <= NUMBERED_DIGITS_MAX ? ordinal(Number(name)) : null;
  const cut = name.lastIndexOf(' ');
  return cut > 0 && suffixOf(name.slice(cut + 1)) === suffix ? name.slice(0, cut) : null;
}

/**
 * The street without a last word that is no part of it ("2043 Alder Way A": a unit without its
 * designator), with its misspelt type read ("408 Bruce Stret"), or by `plainName`; null where none
 * of them applies.
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
