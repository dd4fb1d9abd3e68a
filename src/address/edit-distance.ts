/** One slip of the keyboard: the only typo that a street name may have and still match. */
import { hasDigit } from './number-words.js';

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
