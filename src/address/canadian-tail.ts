/** Reads the end of a Canadian address. */
import { wordsOf } from '../base/tables.js';
import { type Gazetteer, type Tail, type TailDraft, unread } from './parsed.js';
import { DESIGNATORS } from './unit.js';
import { isStrongSuffix, suffixOf, hasDigit, startsWithDigit, JOIN, type Line } from './word.js';

const CANADIAN = /^[A-Z]\d[A-Z]\d[A-Z]\d$/;

/** Takes "M5V 3L9", "M5V-3L9" or "M5V3L9". */
export function takeCanadianCode(words: readonly string[], tail: TailDraft): boolean {
  const last = words[tail.end - 1] ?? '';
  let code = last;
  let count = 1;
  if (last.length === 3) {
    code = (words[tail.end - 2] ?? '') + last;
    count = 2;
  }
  if (code.length !== 6 || !CANADIAN.test(code)) return false;
  tail.end -= count;
  tail.canadianPostalCode = `${code.slice(0, 3)} ${code.slice(3)}`;
  return true;
}

/** The longest name of a province has four words: "Terre-Neuve-et-Labrador". */
const NAME_WORDS_MAX = 4;
/**
 * A province's name of so few characters is an abbreviation, which cannot be the name of a street
 * or city.
 */
const ABBREVIATION_CHARS_MAX = 4;
const HALF = /^[A-Z]\d[A-Z]$/;

/**
 * Designators of parts of buildings, in French or beyond the standard ones. What follows one is no
 * postal code.
 */
const OTHER_UNITS = wordsOf(
  (
    'APP BUREAU LOCAL UNITE PORTE ETAGE BLOC TOUR AILE ENTREE NIVEAU CASIER CASE BOITE ' +
    'BLOCK TOWER WING ENTRANCE LEVEL LOCKER DOOR DOCK PHASE SECTION'
  ).split(' '),
);
/**
 * Street types that stand before the name, and below the words that may stand between the two: "rue
 * du Labrador".
 */
const FRENCH_TYPES = wordsOf(
  (
    'RUE AVENUE AVE AV BOULEVARD BOUL BLVD CHEMIN CH PLACE RANG ROUTE RTE COTE MONTEE COURS ' +
    'CROISSANT ALLEE IMPASSE QUAI TERRASSE RUELLE CARRE'
  ).split(' '),
);
const PARTICLES = wordsOf(['DE', 'DU', 'DES', 'LA', 'LE', 'LES']);

/** The words before `end`, back to the last comma or dash. */
function partBefore({ words, joins }: Line, end: number): readonly string[] {
  let from = end - 1;
  while (from > 0 && joins[from] !== JOIN.comma && joins[from] !== JOIN.dash) from--;
  return words.slice(Math.max(from, 0), end);
}

/** Whether words are a city rather than a street, a unit or a US state. */
function areCity(words: readonly string[], areFirst: boolean): boolean {
  const last = words.at(-1) ?? '';
  if (last.length <= 2 || (areFirst && isStrongSuffix(suffixOf(last)))) return false;
  if (FRENCH_TYPES.has(words[0] ?? '')) return false;
  return !words.some((word) => hasDigit(word) || DESIGNATORS.has(word) || OTHER_UNITS.has(word));
}

function followsCity(line: Line, end: number): boolean {
  const part = partBefore(line, end);
  return areCity(part, part.length === end);
}

/**
 * Whether the words from index `end` on are part of a street's name: a street type that comes first
 * stands before them.
 */
function nameStreet(line: Line, end: number): boolean {
  const part = partBefore(line, end);
  const at = startsWithDigit(part[0] ?? '') ? 1 : 0;
  return (
    FRENCH_TYPES.has(part[at] ?? '') && part.slice(at + 1).every((word) => PARTICLES.has(word))
  );
}

/** Words [from, end) that name a province. */
interface ProvinceWords {
  readonly province: string;
  readonly from: number;
  readonly isAbbreviated: boolean;
}

/** The province with the longest name that ends before `end`; null if none does. */
function provinceBefore(line: Line, end: number, gazetteer: Gazetteer): ProvinceWords | null {
  const { words, joins } = line;
  let found: ProvinceWords | null = null;
  let name = '';
  for (let from = end - 1; from >= 0 && from >= end - NAME_WORDS_MAX; from--) {
    name = name === '' ? words[from]! : `${words[from]!} ${name}`;
    const province = gazetteer.stateOf(name);
    const isAbbreviated = name.length <= ABBREVIATION_CHARS_MAX;
    if (province !== '') found = { province, from, isAbbreviated };
    if (joins[from] === JOIN.comma) break;
  }
  if (found === null || found.isAbbreviated) return found;
  return found.from > 0 && joins[found.from] !== JOIN.comma && nameStreet(line, found.from)
    ? null
    : found;
}

function takeProvince(line: Line, tail: TailDraft, gazetteer: Gazetteer): boolean {
  if (tail.state !== '') return false;
  const found = provinceBefore(line, tail.end, gazetteer);
  if (found === null) return false;
  tail.stateEnd = tail.end;
  tail.end = found.from;
  tail.state = found.province;
  return true;
}

/**
 * Whether "CA" is the country. It is only behind a postal code or a province: "Ontario, CA" may be
 * in California.
 */
function isCountryCode(line: Line, at: number, gazetteer: Gazetteer): boolean {
  const before = unread(at);
  if (HALF.test(line.words[at - 1] ?? '') || takeCanadianCode(line.words, before)) return true;
  const found = provinceBefore(line, at, gazetteer);
  return found !== null && (found.isAbbreviated || followsCity(line, found.from));
}

function takeCountry(line: Line, tail: TailDraft, gazetteer: Gazetteer): boolean {
  if (tail.country !== '') return false;
  const last = line.words[tail.end - 1];
  const isTold = last === 'CANADA' || last === 'CAN';
  if (!isTold && (last !== 'CA' || !isCountryCode(line, tail.end - 1, gazetteer))) return false;
  tail.country = 'CAN';
  tail.end--;
  return true;
}

/**
 * Takes a postal code, or its first half ("M5H"). Before a province, the half is taken only where
 * it cannot be a unit.
 */
function takeCode(line: Line, tail: TailDraft): boolean {
  if (tail.canadianPostalCode !== '') return false;
  if (takeCanadianCode(line.words, tail)) return true;
  const last = line.words[tail.end - 1] ?? '';
  if (last.length !== 3 || !HALF.test(last)) return false;
  if (tail.state !== '' && !followsCity(line, tail.end - 1)) return false;
  tail.canadianPostalCode = last;
  tail.end--;
  return true;
}

/** A different province right before the one that was read ("AB / SK"); "" if there is none. */
function otherProvince(line: Line, { end, state }: Tail, gazetteer: Gazetteer): string {
  const found = state === '' ? null : provinceBefore(line, end, gazetteer);
  if (found === null || found.province === state) return '';
  const isApart = found.from === 0 || line.joins[found.from] === JOIN.comma;
  return found.isAbbreviated || isApart ? found.province : '';
}

/**
 * Reads the end of an address that is known to be Canadian: postal code or its first half, province
 * by any of its names, and country. No word of it is read as a state or ZIP of the United States.
 * The gazetteer's states are the provinces of Canada.
 */
export function readCanadianTail(line: Line, gazetteer: Gazetteer): Tail {
  const tail = unread(line.words.length);
  while (
    tail.end > 0 &&
    (takeCountry(line, tail, gazetteer) ||
      takeCode(line, tail) ||
      takeProvince(line, tail, gazetteer))
  );
  tail.otherPlace = otherProvince(line, tail, gazetteer);
  const isHalf = tail.canadianPostalCode.length === 3;
  if (!isHalf || tail.state !== '' || tail.end === 0 || followsCity(line, tail.end)) return tail;
  return { ...unread(line.words.length), country: tail.country };
}
