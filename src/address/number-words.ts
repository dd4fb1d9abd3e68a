/** Numbers written as words: ordinals of numbered streets and small cardinals. */

const ONES = [
  'FIRST', 'SECOND', 'THIRD', 'FOURTH', 'FIFTH', 'SIXTH', 'SEVENTH', 'EIGHTH', 'NINTH', 'TENTH',
  'ELEVENTH', 'TWELFTH', 'THIRTEENTH', 'FOURTEENTH', 'FIFTEENTH', 'SIXTEENTH', 'SEVENTEENTH',
  'EIGHTEENTH', 'NINETEENTH',
];
const TENS = [
  'TWENTY', 'THIRTY', 'FORTY', 'FIFTY', 'SIXTY', 'SEVENTY', 'EIGHTY', 'NINETY',
];
const CARDINALS = [
  'ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX', 'SEVEN', 'EIGHT', 'NINE', 'TEN', 'ELEVEN', 'TWELVE',
];

const ORDINAL = new Map<string, number>();
const TEN = new Map<string, number>();
const CARDINAL = new Map<string, number>();
ONES.forEach((word, index) => ORDINAL.set(word, index + 1));
TENS.forEach((word, index) => {
  const value = (index + 2) * 10;
  TEN.set(word, value);
  ORDINAL.set(`${word.slice(0, -1)}IETH`, value);
  ONES.slice(0, 9).forEach((one, unit) => ORDINAL.set(word + one, value + unit + 1));
});
CARDINALS.forEach((word, index) => CARDINAL.set(word, index + 1));

/** 22 → "22ND". */
export function ordinal(value: number): string {
  const teens = value % 100;
  if (teens >= 11 && teens <= 13) return `${value}TH`;
  return `${value}${['TH', 'ST', 'ND', 'RD'][value % 10] ?? 'TH'}`;
}

/** Every ordinal word below one hundred with its value, and the tens and small cardinals. */
export const ORDINALS: ReadonlyMap<string, number> = ORDINAL;
export const TENS_VALUES: ReadonlyMap<string, number> = TEN;
export const CARDINAL_VALUES: ReadonlyMap<string, number> = CARDINAL;

/** "FIRST" → 1, "TWENTYSECOND" → 22; 0 for other words. */
export function ordinalValue(word: string): number {
  return ORDINAL.get(word) ?? 0;
}

/** "ONE" → 1 up to "TWELVE" → 12; 0 for other words. */
export function cardinalValue(word: string): number {
  return CARDINAL.get(word) ?? 0;
}

/** The words of an ordinal below one hundred: 22 → "TWENTY SECOND", 40 → "FORTIETH"; else ''. */
export function ordinalWords(value: number): string {
  if (value < 1 || value > 99) return '';
  if (value < 20) return ONES[value - 1] ?? '';
  const ten = TENS[Math.floor(value / 10) - 2] ?? '';
  return value % 10 === 0 ? `${ten.slice(0, -1)}IETH` : `${ten} ${ONES[(value % 10) - 1] ?? ''}`;
}

/** Whether a word is an ordinal in figures: "1ST", "22ND". */
export function isOrdinal(word: string): boolean {
  const length = word.length;
  if (length < 3) return false;
  const end = word.charCodeAt(length - 1);
  const before = word.charCodeAt(length - 2);
  const pair =
    (before === 83 && end === 84) || // ST
    (before === 78 && end === 68) || // ND
    (before === 82 && end === 68) || // RD
    (before === 84 && end === 72); // TH
  return pair && isDigits(word.slice(0, -2));
}

/** Whether a word is figures only. */
export function isDigits(word: string): boolean {
  if (word === '') return false;
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** Whether a word begins with a figure. */
export function startsWithDigit(word: string): boolean {
  const code = word.charCodeAt(0);
  return code >= 48 && code <= 57;
}

/** Whether a word contains a figure. */
export function hasDigit(word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index);
    if (code >= 48 && code <= 57) return true;
  }
  return false;
}
