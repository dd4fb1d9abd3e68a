/** A street's name in parts, read from a publisher's column or from an address line. */
import { canonicalWords, isShortDirection, wordsKey } from './street-words.js';
import { readHighway } from './highway.js';
import { EMPTY_GAZETTEER, type Gazetteer } from './parsed.js';
import { titleCase } from './title-case.js';
import { tokenize } from './word.js';
import {
  isStrongSuffix,
  suffixOf,
  suffixWord,
  directionOf,
  directionWord,
  hasDigit,
  isOrdinal,
  isDigits,
} from './word.js';

/** A street's name in parts. Capitals without punctuation; a part that is missing is ''. */
export interface StreetName {
  /** N, S, E, W, NE, NW, SE, SW or "". */
  readonly preDirection: string;
  /**
   * The name without direction and suffix, in the one spelling of its words: "SPECTRUM CENTER",
   * "1ST", "STATE ROUTE 100".
   */
  readonly name: string;
  /** USPS standard abbreviation or "". */
  readonly suffix: string;
  readonly postDirection: string;
}

/** The likeliest reading of a street's words, and others that are possible, likeliest first. */
interface StreetReading {
  readonly street: StreetName;
  readonly others: readonly StreetName[];
}

const NONE: readonly StreetName[] = [];

function street(
  preDirection: string,
  name: string,
  suffix: string,
  postDirection: string,
): StreetName {
  return { preDirection, name, suffix, postDirection };
}

/** The direction in front, and the index after it. */
function readFront(words: readonly string[], from: number, to: number): [string, number] {
  const word = words[from] ?? '';
  const next = words[from + 1] ?? '';
  if (to - from < 2) return ['', from];
  if (isShortDirection(word) && (!hasDigit(next) || isOrdinal(next)) && next !== 'NAME') {
    return to - from > 2 ? [word.charAt(0), from + 1] : ['', from];
  }
  const direction = directionOf(word);
  if (direction === '') return ['', from];
  if (to - from > 2) {
    const both = joinDirections(word, next);
    const third = words[from + 2] ?? '';
    const initials = word.length === 1 && next.length === 1;
    if (both !== '' && suffixOf(third) === '' && (initials || hasDigit(third))) {
      return [both, from + 2];
    }
  }
  return [direction, from + 1];
}

/** The direction at the end, and the index where it starts. */
function readBack(words: readonly string[], start: number, to: number): [string, number] {
  if (to - start < 2) return ['', to];
  const last = words[to - 1] ?? '';
  const direction = directionOf(last);
  if (direction === '') {
    const short = isShortDirection(last) && isStrongSuffix(suffixOf(words[to - 2] ?? ''));
    return short && to - start >= 3 ? [last.charAt(0), to - 1] : ['', to];
  }
  if (to - start >= 3) {
    const both = joinDirections(words[to - 2] ?? '', last);
    if (both !== '' && suffixOf(words[to - 3] ?? '') !== '') return [both, to - 2];
  }
  return [direction, to - 1];
}

/** Reads a numbered road that nothing but a suffix or direction follows. */
function readNumbered(
  words: readonly string[],
  at: number,
  to: number,
  pre: string,
  gazetteer: Gazetteer,
): StreetReading | null {
  const highway = readHighway(words, at, to, gazetteer);
  if (highway === null) return null;
  const { name, next, other } = highway;
  let suffix = '';
  let post = '';
  let index = next;
  if (index < to) {
    suffix = suffixOf(words[index] ?? '');
    if (suffix !== '') index++;
  }
  if (index < to) {
    post = directionOf(words[index] ?? '');
    if (post !== '') index++;
  }
  if (index < to) return null;
  const others: StreetName[] = [];
  if (other !== '') others.push(street(pre, other, suffix, post));
  // "COUNTY RD E" may also be the eastern part of County Road.
  const letter = words[next - 1] ?? '';
  if (post === '' && suffix === '' && letter.length === 1 && directionOf(letter) !== '') {
    const plain = readPlain(words, at, to, pre, at);
    others.push(plain.street);
  }
  return { street: street(pre, name, suffix, post), others };
}

/** Whether a suffix at the end is a word of the name: "Avenue of the Pines", "The Green". */
function endsName(words: readonly string[], start: number, stop: number): boolean {
  if (words[start + 1] === 'OF' && suffixOf(words[start] ?? '') !== '') return true;
  return stop - start === 2 && words[start] === 'THE';
}

function spelled(words: readonly string[], start: number, stop: number): string {
  const spelling = canonicalWords(words, start, stop);
  let name = spelling[0] ?? '';
  for (let index = 1; index < spelling.length; index++) name += ` ${spelling[index]!}`;
  return name;
}

/**
 * Reads any street that is no numbered road. `from` is where the direction in front stands, `start`
 * where the name begins.
 */
function readPlain(
  words: readonly string[],
  from: number,
  to: number,
  pre: string,
  start: number,
): StreetReading {
  const [postWord, afterName] = readBack(words, start, to);
  let post = postWord;
  let stop = afterName;
  const last = words[stop - 1] ?? '';
  let suffix = stop > start ? suffixOf(last) : '';
  if (stop - start === 1 && suffix !== '') {
    if (pre === '' || !isStrongSuffix(suffix)) suffix = '';
    else {
      // Where only a suffix follows the direction, the direction is the name: "NORTH ST", "E ST".
      const name = spelled(words, from, start);
      const others = name.length === 1 ? [street('', directionWord(name), suffix, post)] : NONE;
      return { street: street('', name, suffix, post), others };
    }
  } else if (suffix !== '') {
    if (endsName(words, start, stop)) suffix = '';
    else stop--;
  }
  if (post === '' && stop - start === 2 && isDigits(words[start] ?? '')) {
    // A number with a direction, as in Utah: "400 S ST".
    post = directionOf(words[stop - 1] ?? '');
    if (post !== '') stop--;
  }
  if (suffix !== '' && stop - start === 1 && (pre === 'E' || pre === 'N')) {
    const second = directionOf(words[start] ?? '');
    if (pre + second === 'EW' || pre + second === 'NS') {
      const name = `${directionWord(pre)} ${directionWord(second)}`;
      return { street: street('', name, suffix, post), others: NONE };
    }
  }
  const name = spelled(words, start, stop);
  const whole = street(pre, name, suffix, post);
  if (suffix === '' || isStrongSuffix(suffix)) return { street: whole, others: NONE };
  return { street: whole, others: [street(pre, `${name} ${suffixWord(suffix)}`, '', post)] };
}

/** Reads the words from `from` to before `to` as one street. */
export function readStreet(
  words: readonly string[],
  from: number,
  to: number,
  gazetteer: Gazetteer,
): StreetReading {
  if (to - from === 1) {
    return { street: street('', spelled(words, from, to), '', ''), others: NONE };
  }
  const [pre, start] = readFront(words, from, to);
  // A state's name may begin with a direction ("NORTH CAROLINA 12"), so all the words are tried
  // first.
  let numbered = readNumbered(words, from, to, '', gazetteer);
  if (numbered === null && start > from) numbered = readNumbered(words, start, to, pre, gazetteer);
  return numbered ?? readPlain(words, from, to, pre, start);
}

/**
 * Reads a publisher's street column: "EAST BRUCE STREET", "E RUHL RD", "VT ROUTE 100 N". The
 * gazetteer is needed for states' names before route numbers.
 */
export function parseStreetName(text: string, gazetteer?: Gazetteer): StreetName {
  const words = tokenize(text).words.filter((word) => word !== '#');
  if (words.length === 0) return street('', '', '', '');
  return readStreet(words, 0, words.length, gazetteer ?? EMPTY_GAZETTEER).street;
}

/** A street in the post office's style, in mixed case: "E Bruce St", "US Highway 7". */
export function formatStreetName(name: StreetName): string {
  let text = name.preDirection === '' ? '' : `${name.preDirection} `;
  text += titleCase(name.name);
  if (name.suffix !== '') text += ` ${titleCase(name.suffix)}`;
  if (name.postDirection !== '') text += ` ${name.postDirection}`;
  return text.trim();
}

const SPACE = 32;

/**
 * The words of a name between single spaces; null where it contains other characters than capitals,
 * digits and slashes.
 */
function plainWords(name: string): string[] | null {
  const words: string[] = [];
  let start = 0;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code === SPACE) {
      words.push(name.slice(start, index));
      start = index + 1;
    } else if (code < 47 || code > 90 || (code > 57 && code < 65)) return null;
  }
  words.push(start === 0 ? name : name.slice(start));
  return words;
}

/**
 * Key of a street's name for the index and for queries, the same for every spelling: "St. Paul" and
 * "SAINT PAUL", "O'Neil" and "ONEIL", "First" and "1st" agree; "1" and "1ST" do not. `name` is the
 * name without direction and suffix.
 */
export function foldStreetName(name: string): string {
  const words = plainWords(name) ?? tokenize(name).words;
  return wordsKey(canonicalWords(words, 0, words.length));
}

/** "N", "W" → "NW"; '' where the two do not make an intermediate direction. */
export function joinDirections(first: string, second: string): string {
  const northSouth = directionOf(first);
  const eastWest = directionOf(second);
  if ((northSouth === 'N' || northSouth === 'S') && (eastWest === 'E' || eastWest === 'W')) {
    return northSouth + eastWest;
  }
  return '';
}
