/** One spelling for the words of a street's name, whatever way they were written. */
import { directionWord } from './direction.js';
import {
  CARDINAL_VALUES, isDigits, isOrdinal, ordinal, ORDINALS, ordinalValue, startsWithDigit,
  TENS_VALUES,
} from './number-words.js';
import { SUFFIX_EXPANSIONS } from './suffix.js';

/** Strips leading zeros: San Francisco's points are on "09TH ST". */
function plainFigures(word: string): string {
  if (word.charCodeAt(0) !== 48 || word.length === 1) return word;
  if (!isOrdinal(word) && !isDigits(word)) return word;
  const stripped = word.replace(/^0+/, '');
  return startsWithDigit(stripped) ? stripped : word;
}

/** What a word of a name may turn into; words that are not listed stay as they are. */
interface NameWord {
  /** 20 for "TWENTY", else 0. */
  readonly tens: number;
  /** Spelling as the first of several words, between others, as the last, and alone. */
  readonly first: string;
  readonly middle: string;
  readonly last: string;
  readonly alone: string;
}

const NAME_WORDS = new Map<string, NameWord>();

function define(word: string, first: string, middle = first, last = first, alone = last): void {
  NAME_WORDS.set(word, { tens: 0, first, middle, last, alone });
}

for (const [word, full] of SUFFIX_EXPANSIONS) define(word, full);
// "Mt Philo" and "Castle Mt", "St Paul" and "Maple St Ext", "Dr King" and "Oak Dr Ext".
define('SAINT', 'ST', 'ST', 'SAINT');
define('ST', 'ST', 'ST', 'STREET', 'ST');
define('MT', 'MOUNT', 'MOUNT', 'MOUNTAIN', 'MOUNT');
define('FT', 'FORT');
define('DOCTOR', 'DR', 'DR', 'DOCTOR');
define('DR', 'DR', 'DRIVE', 'DRIVE', 'DR');
define('JUNIOR', 'JR');
define('SENIOR', 'SR');
// A direction alone is the name itself: "NW Hwy". Letters stay, "E St" is not "East St".
for (const word of ['NE', 'NW', 'SE', 'SW']) define(word, word, word, word, directionWord(word));
for (const [word, value] of ORDINALS) define(word, ordinal(value));
for (const [word, tens] of TENS_VALUES) {
  NAME_WORDS.set(word, { tens, first: word, middle: word, last: word, alone: word });
}

/**
 * The words of a name from `start` to before `stop`, one spelling each: ordinals in figures,
 * short forms spelled out, "ST" for Saint. Applied twice it changes nothing more.
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

/** What a word adds to a key when it is one of several. */
const KEY_WORD = new Map<string, string>();
for (const [word, value] of CARDINAL_VALUES) KEY_WORD.set(word, String(value));
for (const word of ['N', 'S', 'E', 'W', 'NE', 'NW', 'SE', 'SW']) {
  KEY_WORD.set(directionWord(word), word);
}
/** What a word adds to a key even when it stands alone. */
const KEY_WORD_ALONE = new Map([
  ['STREET', 'ST'], ['SAINT', 'ST'], ['SAINTE', 'STE'], ['DRIVE', 'DR'], ['DOCTOR', 'DR'],
  ['MOUNT', 'MT'], ['FORT', 'FT'],
]);
for (const [word, short] of KEY_WORD_ALONE) KEY_WORD.set(word, short);
KEY_WORD.set('AND', '');

/** Spellings of one honoured name: "Dr Martin Luther King Jr", "M L King", "MLK". */
const KING = ['MARTINLUTHERKING', 'MARTINLKING', 'MLKING', 'MLK'];

function honouredKey(key: string): string {
  for (const spelling of KING) {
    const at = key.indexOf(spelling);
    if (at < 0) continue;
    const before = key.slice(0, at);
    const after = key.slice(at + spelling.length);
    const titled = before === 'DR' || before === 'REV' || before === 'REVDR';
    return `${titled ? '' : before}MLK${after.startsWith('JR') ? after.slice(2) : after}`;
  }
  return key;
}

/** Key of a name whose words are in the one spelling of `canonicalWords`. */
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
  return key.includes('K') && key.includes('L') ? honouredKey(key) : key;
}
