/** Words of street names: numbers, and one spelling of each word for keys. */
import { WordTable } from '../base/tables.js';
import { SUFFIX_EXPANSIONS } from './suffix.js';
import {
  startsWithDigit,
  isDigits,
  isOrdinal,
  DIRECTIONS,
  directionWord,
  honouredKey,
} from './word.js';

/**
 * "No" and "So" for north and south, as New England writes "No Main St". Elsewhere the words may
 * mean something else.
 */
export function isShortDirection(word: string): boolean {
  return word === 'NO' || word === 'SO';
}

const ONES = (
  'FIRST SECOND THIRD FOURTH FIFTH SIXTH SEVENTH EIGHTH NINTH TENTH ELEVENTH TWELFTH ' +
  'THIRTEENTH FOURTEENTH FIFTEENTH SIXTEENTH SEVENTEENTH EIGHTEENTH NINETEENTH'
).split(' ');
const TENS = ['TWENTY', 'THIRTY', 'FORTY', 'FIFTY', 'SIXTY', 'SEVENTY', 'EIGHTY', 'NINETY'];
const CARDINALS = 'ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN ELEVEN TWELVE'.split(' ');

const ordinals = new Map<string, number>();
const TENS_VALUES = new Map<string, number>();
ONES.forEach((word, index) => ordinals.set(word, index + 1));
TENS.forEach((word, index) => {
  const value = (index + 2) * 10;
  TENS_VALUES.set(word, value);
  ordinals.set(`${word.slice(0, -1)}IETH`, value);
  ONES.slice(0, 9).forEach((one, unit) => ordinals.set(word + one, value + unit + 1));
});
const ORDINAL = new WordTable(ordinals);
const CARDINAL = new WordTable(CARDINALS.map((word, index) => [word, index + 1] as const));

/** 22 → "22ND". */
export function ordinal(value: number): string {
  const teens = value % 100;
  if (teens >= 11 && teens <= 13) return `${value}TH`;
  return `${value}${['TH', 'ST', 'ND', 'RD'][value % 10] ?? 'TH'}`;
}

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

/** Strips leading zeros: San Francisco's points are on "09TH ST". */
function plainFigures(word: string): string {
  if (word.charCodeAt(0) !== 48 || word.length === 1) return word;
  if (!isOrdinal(word) && !isDigits(word)) return word;
  const stripped = word.replace(/^0+/, '');
  return startsWithDigit(stripped) ? stripped : word;
}

/** The spellings that a word of a name may become. Words without an entry stay as they are. */
interface NameWord {
  /** 20 for "TWENTY", else 0. */
  readonly tens: number;
  /** Spelling as the first of several words, between others, as the last, and alone. */
  readonly first: string;
  readonly middle: string;
  readonly last: string;
  readonly alone: string;
}

const nameWords = new Map<string, NameWord>();

function define(word: string, first: string, middle = first, last = first, alone = last): void {
  nameWords.set(word, { tens: 0, first, middle, last, alone });
}

for (const [word, full] of SUFFIX_EXPANSIONS) define(word, full);
// "Mt Philo" but "Castle Mt", "St Paul" but "Maple St Ext", "Dr King" but "Oak Dr Ext".
define('SAINT', 'ST', 'ST', 'SAINT');
define('ST', 'ST', 'ST', 'STREET', 'ST');
define('MT', 'MOUNT', 'MOUNT', 'MOUNTAIN', 'MOUNT');
define('FT', 'FORT');
define('DOCTOR', 'DR', 'DR', 'DOCTOR');
define('DR', 'DR', 'DRIVE', 'DRIVE', 'DR');
define('JUNIOR', 'JR');
define('SENIOR', 'SR');
// A direction that is the whole name is spelled out: "NW Hwy" is Northwest Highway. A single letter
// is not: "E St" is not "East St".
for (const word of ['NE', 'NW', 'SE', 'SW']) define(word, word, word, word, directionWord(word));
for (const [word, value] of ordinals) define(word, ordinal(value));
for (const [word, tens] of TENS_VALUES) {
  nameWords.set(word, { tens, first: word, middle: word, last: word, alone: word });
}
const NAME_WORDS = new WordTable(nameWords);

/**
 * The words of a name from `start` to before `stop` in one spelling: ordinals in figures, short
 * forms spelled out, "ST" for Saint. Applying it to its own result changes nothing.
 */
export function canonicalWords(words: readonly string[], start: number, stop: number): string[] {
  const canonical: string[] = [];
  for (let index = start; index < stop; index++) {
    const word = words[index] ?? '';
    if (startsWithDigit(word)) {
      canonical.push(plainFigures(word));
      continue;
    }
    if (word === '#') continue;
    const known = NAME_WORDS.get(word);
    if (known === undefined) {
      canonical.push(word);
      continue;
    }
    const unit = known.tens > 0 && index + 1 < stop ? ordinalValue(words[index + 1] ?? '') : 0;
    if (unit > 0 && unit < 10) {
      canonical.push(ordinal(known.tens + unit));
      index++;
      continue;
    }
    const isFirst = index === start;
    if (index < stop - 1) canonical.push(isFirst ? known.first : known.middle);
    else canonical.push(isFirst ? known.alone : known.last);
  }
  return canonical;
}

/** What words of a name with several words become in its key. */
const keyWords = new Map(CARDINALS.map((word, index) => [word, String(index + 1)]));
for (const word of ['N', 'S', 'E', 'W', 'NE', 'NW', 'SE', 'SW']) {
  keyWords.set(directionWord(word), word);
}
/** What a word becomes in a key even where it is the whole name. */
const KEYS_ALONE: readonly (readonly [string, string])[] = [
  ['STREET', 'ST'],
  ['SAINT', 'ST'],
  ['SAINTE', 'STE'],
  ['DRIVE', 'DR'],
  ['DOCTOR', 'DR'],
  ['MOUNT', 'MT'],
  ['FORT', 'FT'],
];
for (const [word, short] of KEYS_ALONE) keyWords.set(word, short);
keyWords.set('AND', '');
const KEY_WORD = new WordTable(keyWords);
const KEY_WORD_ALONE = new WordTable(KEYS_ALONE);

/** Words that may be spelled differently in a name or in its key. */
export const SPELLED_WORDS: readonly string[] = [
  ...nameWords.keys(),
  ...keyWords.keys(),
  ...DIRECTIONS.flat(),
];

/** The key of a name whose words `canonicalWords` has spelled. */
export function wordsKey(words: readonly string[]): string {
  let key = '';
  if (words.length === 1) {
    const word = words[0] ?? '';
    key = KEY_WORD_ALONE.get(word) ?? word;
  } else {
    for (const word of words) {
      key += startsWithDigit(word) ? word : (KEY_WORD.get(word) ?? word);
    }
  }
  return honouredKey(key);
}
