/** Cuts an address line into words. */

/** What stands between a word and the one before it. */
export const JOIN = { space: 0, comma: 1, hyphen: 2, dash: 3, and: 4, glued: 5 } as const;
export type Join = (typeof JOIN)[keyof typeof JOIN];

/** A line cut into words of A–Z and 0–9, plus "#" and fractions like "1/2". */
export interface Line {
  readonly words: readonly string[];
  /** What stands before the word of the same index. */
  readonly joins: readonly Join[];
}

/** Combining marks, then everything that reads as an apostrophe, dash, fraction or plain letter. */
const MARKS = /[\u0300-\u036f\u2018\u2019\u201b\u02bb\u02bc\u2032\u00b4]/g;
const DASHES = /[\u2010-\u2015\u2212\u00ad]/g;
const FRACTIONS = /[\u00bc-\u00be\u2150-\u215e]/g;
const LETTERS = /[ßÆŒØŁĐÞ]/g;
const LETTER: Readonly<Record<string, string>> = {
  ß: 'SS', Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Þ: 'TH',
};

/** Capitals without accents, with plain quotes and dashes. */
function plainCapitals(text: string): string {
  // The code point test is the fast way out for the lines that need no folding.
  if (!/[^\0-\x7f]/.test(text)) return text.toUpperCase();
  return text
    .replace(FRACTIONS, ' $& ')
    .normalize('NFKD')
    .replace(/\u2044/g, '/')
    .replace(MARKS, '')
    .replace(DASHES, '-')
    .toUpperCase()
    .replace(LETTERS, (letter) => LETTER[letter] ?? '');
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => code >= 65 && code <= 90;
const isAlphanumeric = (code: number): boolean => isDigit(code) || isLetter(code);

/** What a separator means when it stands alone. */
function separatorJoin(code: number): Join {
  switch (code) {
    case 44: // ,
    case 59: // ;
    case 10: // line feed
    case 40: // (
    case 41: // )
    case 124: // |
      return JOIN.comma;
    case 38: // &
    case 47: // /
    case 64: // @
      return JOIN.and;
    case 45: // -
      return JOIN.dash;
    default:
      return JOIN.space;
  }
}

/** Whether the character at `index` belongs inside the word around it. */
function staysInside(text: string, code: number, index: number, start: number): boolean {
  const next = text.charCodeAt(index + 1);
  if (code === 46) {
    // Initials: "U.S.", "N.W."; "N.Main" and "St.Paul" are two words.
    const initial = index - start === 1 && isLetter(text.charCodeAt(start));
    return initial && isLetter(next) && !isAlphanumeric(text.charCodeAt(index + 2));
  }
  if (code === 47) return isDigit(text.charCodeAt(index - 1)) && isDigit(next);
  return code === 39 || code === 96;
}

/** Index where a word like "APT4" or "123MAIN" falls into two, 0 for none. */
function seam(word: string): number {
  const digitFirst = isDigit(word.charCodeAt(0));
  if (!digitFirst && !isDigit(word.charCodeAt(word.length - 1))) {
    if (!/^[A-Z]{2,}\d/.test(word)) return 0;
  }
  let index = 1;
  while (index < word.length && isDigit(word.charCodeAt(index)) === digitFirst) index++;
  if (index === word.length || word.includes('/')) return 0;
  if (!digitFirst) return index >= 2 ? index : 0;
  // "12A" and "22ND" are one word; so is the grid number "28W601".
  for (let at = index; at < word.length; at++) if (isDigit(word.charCodeAt(at))) return 0;
  return word.length - index >= 3 ? index : 0;
}

/** Cuts text into words. Linear in its length. */
export function tokenize(text: string): Line {
  const capitals = plainCapitals(text);
  const words: string[] = [];
  const joins: Join[] = [];
  let join: Join = JOIN.space;
  let start = -1;
  let head = '';
  const push = (end: number, mixed: boolean): void => {
    const word = head + capitals.slice(start, end);
    head = '';
    start = -1;
    if (word === '') return;
    const at = mixed ? seam(word) : 0;
    words.push(at === 0 ? word : word.slice(0, at));
    joins.push(join);
    if (at !== 0) {
      words.push(word.slice(at));
      joins.push(JOIN.glued);
    }
    join = JOIN.space;
  };
  let digits = false;
  let letters = false;
  for (let index = 0; index < capitals.length; index++) {
    const code = capitals.charCodeAt(index);
    const letter = isLetter(code);
    if (letter || isDigit(code)) {
      if (start < 0) {
        start = index;
        digits = letters = false;
      }
      if (letter) letters = true;
      else digits = true;
      continue;
    }
    const inWord = start >= 0;
    if (inWord && staysInside(capitals, code, index, start)) {
      if (code === 47) continue;
      head += capitals.slice(start, index);
      start = index + 1;
      continue;
    }
    if (inWord) push(index, digits && letters);
    if (code === 35) {
      words.push('#');
      joins.push(join);
      join = JOIN.space;
      continue;
    }
    const tight = code === 45 && inWord && isAlphanumeric(capitals.charCodeAt(index + 1));
    const separator = tight ? JOIN.hyphen : separatorJoin(code);
    if (separator !== JOIN.space && join !== JOIN.comma) join = separator;
  }
  if (start >= 0) push(capitals.length, digits && letters);
  return { words, joins };
}
