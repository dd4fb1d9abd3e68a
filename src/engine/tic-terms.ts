/** Text to search terms: words in small letters, without endings, without filler. */
import { stemmer } from 'stemmer';

const NOT_A_WORD = /[^\p{L}\p{N}]+/u;
const POSSESSIVE = /['\u2019]s?\b/gu;
const ACCENT = /\p{M}/gu;
/** "e-book" and "t-shirt" are one word. */
const LETTER_HYPHEN = /\b(\p{L})-(?=\p{L})/gu;

/** Says nothing about a product. `without` stays: it tells codes apart that are else the same. */
const FILLER: ReadonlySet<string> = new Set([
  'a', 'an', 'and', 'any', 'are', 'as', 'at', 'be', 'but', 'by', 'for', 'from', 'has', 'have', 'i',
  'in', 'is', 'it', 'its', 'my', 'new', 'of', 'on', 'only', 'or', 'our', 'some', 'such', 'than',
  'that', 'the', 'their', 'them', 'these', 'this', 'to', 'used', 'which', 'with', 'you', 'your',
]);

/** Letters of a word that can be a term alone. */
const LETTERS_MIN = 2;

/** The words of a text. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().normalize('NFKD').replace(ACCENT, '').replace(POSSESSIVE, '')
    .replace(LETTER_HYPHEN, '$1').split(NOT_A_WORD);
}

/** The term of a word; null for filler. */
export function termOf(word: string): string | null {
  if (word.length < LETTERS_MIN || FILLER.has(word)) return null;
  return stemmer(word);
}

/** The distinct terms of a text, the first `max` of a long one. */
export function termsOf(text: string, max = Infinity): readonly string[] {
  const terms = new Set<string>();
  for (const word of wordsOf(text)) {
    const term = termOf(word);
    if (term !== null) terms.add(term);
    if (terms.size === max) break;
  }
  return [...terms];
}
