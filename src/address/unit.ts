/** Units in buildings and boxes, which are found anywhere in a line and removed from it. */
import { WordTable, wordsOf } from '../base/tables.js';
import { ordinal, ordinalValue } from './street-words.js';
import {
  isStrongSuffix,
  suffixOf,
  directionOf,
  hasDigit,
  isDigits,
  isOrdinal,
  JOIN,
  type Join,
  type Line,
} from './word.js';

/**
 * How a designator of Publication 28, appendix C2, is used. `any`: an identifier follows, anywhere.
 * `figures`: the identifier must have a digit and stand well behind the house number, since the
 * word may be the name of a street. `bare`: stands without an identifier at the end of a part of
 * the line.
 */
type Use = 'any' | 'figures' | 'floor' | 'bare' | 'box';

const TABLE: readonly (readonly [string, Use, string])[] = [
  ['APT', 'any', 'APARTMENT APMT APPT APTS APARTMENTS'],
  ['BLDG', 'any', 'BUILDING BLD BUILD BLDGS BUILDINGS'],
  ['DEPT', 'any', 'DEPARTMENT'],
  ['FL', 'floor', 'FLOOR FLR'],
  ['HNGR', 'figures', 'HANGAR HANGER'],
  ['KEY', 'figures', ''],
  ['LOT', 'figures', ''],
  ['PIER', 'figures', ''],
  ['PMB', 'any', ''],
  ['RM', 'any', 'ROOM ROOMS'],
  ['SLIP', 'figures', ''],
  ['SPC', 'figures', 'SPACE'],
  ['STE', 'any', 'SUITE SUIT STES SUITES'],
  ['STOP', 'figures', ''],
  ['TRLR', 'figures', 'TRAILER'],
  ['UNIT', 'any', 'UNT UNITS'],
  ['#', 'any', ''],
  ['BSMT', 'bare', 'BASEMENT'],
  ['FRNT', 'bare', 'FRONT'],
  ['LBBY', 'bare', 'LOBBY'],
  ['LOWR', 'bare', 'LOWER'],
  ['OFC', 'bare', 'OFFICE'],
  ['PH', 'bare', 'PENTHOUSE'],
  ['REAR', 'bare', ''],
  ['SIDE', 'bare', ''],
  ['UPPR', 'bare', 'UPPER'],
];

interface Designator {
  readonly standard: string;
  readonly use: Use;
}

const designators = new Map<string, Designator>();
for (const [standard, use, variants] of TABLE) {
  for (const word of [standard, ...variants.split(' ')]) {
    if (word !== '') designators.set(word, { standard, use });
  }
}

/** First words of boxes and of rural routes. */
const RURAL_START = new Set(['RR', 'HC', 'RFD', 'RURAL', 'STAR']);
for (const word of ['PO', 'P', 'POBOX', 'POB', 'POST', 'BOX', ...RURAL_START]) {
  designators.set(word, { standard: word, use: 'box' });
}
/** Words that may begin a unit or a box. */
export const UNIT_WORDS: readonly string[] = [...designators.keys()];
export const DESIGNATORS = new WordTable(designators);

/** A line without its units and boxes. */
interface UnitReading {
  readonly line: Line;
  /** "APT 4", "BLDG 2 STE 200", "PO BOX 12" or "". */
  readonly unit: string;
  readonly hasBox: boolean;
}

/** The words [start, next) to remove, and the unit that they mean. */
interface Cut {
  readonly start: number;
  readonly next: number;
  readonly text: string;
  readonly box: boolean;
  /** Set where only a number sign is removed: the words around it stay in one part of the line. */
  readonly isSign?: true;
}

/** A unit's identifier, and the index after it. */
interface Identifier {
  readonly text: string;
  readonly next: number;
}

const NUMBER_SIGNS = wordsOf(['#', 'NO', 'NUM', 'NUMBER']);

function isBreak(line: Line, index: number): boolean {
  return index >= line.words.length || line.joins[index] === JOIN.comma;
}

/** Reads an identifier: "4", "4-B", "AB12", "4 B", "NO 4"; null where there is none. */
function readIdentifier(line: Line, at: number, lettersMax: number): Identifier | null {
  const { words, joins } = line;
  let next = NUMBER_SIGNS.has(words[at] ?? '') ? at + 1 : at;
  const first = words[next] ?? '';
  if (first === '' || first === '#' || (next > at && joins[next] === JOIN.comma)) return null;
  const glued = joins[next + 1] === JOIN.glued;
  if (!hasDigit(first) && !glued && first.length > lettersMax) return null;
  if (first.length === 2 && !hasDigit(first) && !glued && suffixOf(first) !== '') return null;
  let text = first;
  next++;
  while (joins[next] === JOIN.hyphen || joins[next] === JOIN.glued) {
    text += (joins[next] === JOIN.hyphen ? '-' : '') + (words[next] ?? '');
    next++;
  }
  const letter = words[next] ?? '';
  if (letter.length === 1 && letter !== '#' && isDigits(text) && joins[next] === JOIN.space) {
    if ((!isDigits(letter) && directionOf(letter) === '') || isBreak(line, next + 1)) {
      text += letter;
      next++;
    }
  }
  return { text, next: afterList(line, next) };
}

/** The index after further identifiers in a list: "SUITES 100 & 200", "UNITS A AND B". */
function afterList({ words, joins }: Line, at: number): number {
  let next = at;
  for (;;) {
    const also = words[next] === 'AND' ? next + 1 : joins[next] === JOIN.and ? next : -1;
    const word = also < 0 ? '' : (words[also] ?? '');
    if (word === '' || word === '#' || (word.length > 1 && !hasDigit(word))) return next;
    next = also + 1;
  }
}

/** Whether the word before `at` ends a street or a part of the line. */
function endsPart(line: Line, at: number): boolean {
  if (line.joins[at] === JOIN.comma) return true;
  const before = line.words[at - 1] ?? '';
  return isStrongSuffix(suffixOf(before)) || (at > 2 && directionOf(before) !== '');
}

/** Reads a floor: "2ND FLOOR", "FL 2". FL is read cautiously, since it also means Florida. */
function readFloor(line: Line, at: number): Cut | null {
  const { words, joins } = line;
  const before = words[at - 1] ?? '';
  const level = isOrdinal(before) ? before : ordinal(ordinalValue(before));
  if (level !== '0TH' && at >= 1 && joins[at] !== JOIN.comma) {
    const spelled = words[at] !== 'FL' || (endsPart(line, at - 1) && at + 1 < words.length);
    if (spelled) return { start: at - 1, next: at + 1, text: `FL ${level}`, box: false };
  }
  const identifier = words[at + 1] ?? '';
  if (!hasDigit(identifier) || identifier.length > 4 || joins[at + 1] === JOIN.comma) return null;
  return { start: at, next: at + 2, text: `FL ${identifier}`, box: false };
}

const ROAD_KINDS = wordsOf(['US', 'STATE', 'COUNTY', 'CNTY', 'CTY', 'CO', 'ST']);

/**
 * Whether a number sign stands before the number of a road: it does in "US RTE # 7", but not in
 * "SHORE HWY # 7".
 */
function isRoadSign({ words }: Line, at: number): boolean {
  const suffix = suffixOf(words[at - 1] ?? '');
  if ((suffix !== 'RTE' && suffix !== 'HWY') || !hasDigit(words[at + 1] ?? '')) return false;
  const kind = words[at - 2] ?? '';
  return at < 2 || hasDigit(kind) || kind.length === 2 || ROAD_KINDS.has(kind);
}

function readUnit(line: Line, at: number, designator: Designator): Cut | null {
  const { standard, use } = designator;
  if (use === 'floor') return readFloor(line, at);
  if (use === 'bare') {
    if (at < 2 || !endsPart(line, at)) return null;
    if (standard === 'PH') {
      const identifier = readIdentifier(line, at + 1, 1);
      if (identifier !== null && hasDigit(identifier.text)) {
        return { start: at, next: identifier.next, text: `PH ${identifier.text}`, box: false };
      }
    }
    const told = standard === 'REAR' || standard === 'BSMT' || isBreak(line, at + 1);
    return told ? { start: at, next: at + 1, text: standard, box: false } : null;
  }
  if (standard === '#' && isRoadSign(line, at)) {
    return { start: at, next: at + 1, text: '', box: false, isSign: true };
  }
  // A number sign without a number after it is removed and means nothing.
  const empty = standard === '#' ? { start: at, next: at + 1, text: '', box: false } : null;
  if (line.joins[at + 1] === JOIN.comma) return empty;
  if (use === 'figures' && at < 3 && line.joins[at] !== JOIN.comma) return null;
  const identifier = readIdentifier(line, at + 1, use === 'any' ? 2 : 0);
  if (identifier === null) return empty;
  const { text, next } = identifier;
  // In "#12 Main St" the sign marks a house number, in "#12, 123 Main St" a unit.
  if (standard === '#' && at === 0 && !hasDigit((line.words[next] ?? '').charAt(0))) return null;
  return { start: at, next, text: `${standard} ${text}`, box: false };
}

/** How many words from `at` on say "PO BOX"; 0 where they do not. */
function boxWords(line: Line, at: number): number {
  const { words } = line;
  const word = words[at];
  const second = words[at + 1];
  if (word === 'POBOX') return 1;
  if (word === 'PO' || word === 'POB') return second === 'BOX' ? 2 : word === 'POB' ? 1 : 0;
  if (word === 'P' && second === 'O') return words[at + 2] === 'BOX' ? 3 : 0;
  if (word === 'POST' && second === 'OFFICE') return words[at + 2] === 'BOX' ? 3 : 0;
  if (word === 'BOX') return at === 0 || line.joins[at] === JOIN.comma ? 1 : 0;
  return 0;
}

function readBox(line: Line, at: number): Cut | null {
  const { words } = line;
  const count = boxWords(line, at);
  if (count > 0) {
    const identifier = readIdentifier(line, at + count, 1);
    if (identifier === null) return null;
    return { start: at, next: identifier.next, text: `PO BOX ${identifier.text}`, box: true };
  }
  // A box on a rural route: "RR 2 BOX 15", "HC 1 BOX 3", "RURAL ROUTE 2 BOX 15".
  const long = words[at] === 'RURAL' || words[at] === 'STAR';
  if (!RURAL_START.has(words[at] ?? '') || (long && suffixOf(words[at + 1] ?? '') !== 'RTE')) {
    return null;
  }
  const route = at + (long ? 2 : 1);
  if (!isDigits(words[route] ?? '') || words[route + 1] !== 'BOX') return null;
  const identifier = readIdentifier(line, route + 2, 1);
  if (identifier === null) return null;
  const name = words[at] === 'HC' || words[at] === 'STAR' ? 'HC' : 'RR';
  const text = `${name} ${words[route] ?? ''} BOX ${identifier.text}`;
  return { start: at, next: identifier.next, text, box: true };
}

function readCut(line: Line, at: number): Cut | null {
  const designator = DESIGNATORS.get(line.words[at] ?? '');
  if (designator === undefined) return null;
  return designator.use === 'box' ? readBox(line, at) : readUnit(line, at, designator);
}

function without(line: Line, cuts: readonly Cut[]): Line {
  const words: string[] = [];
  const joins: Join[] = [];
  let from = 0;
  const keep = (to: number, broken: boolean): void => {
    for (let index = from; index < to; index++) {
      const join = index === from && broken ? JOIN.comma : (line.joins[index] ?? JOIN.space);
      words.push(line.words[index] ?? '');
      joins.push(join);
    }
  };
  let broken = false;
  for (const cut of cuts) {
    keep(cut.start, broken);
    from = cut.next;
    broken = cut.isSign === undefined;
  }
  keep(line.words.length, broken);
  return { words, joins };
}

/**
 * Removes units and boxes from a line. Most units stand between street and city, so a new part of
 * the line begins after each.
 */
export function takeUnits(line: Line): UnitReading {
  let cuts: Cut[] | null = null;
  for (let at = 0; at < line.words.length; at++) {
    const cut = readCut(line, at);
    if (cut === null) continue;
    const previous = cuts?.at(-1);
    if (previous !== undefined && previous.next > cut.start) continue;
    cuts ??= [];
    cuts.push(cut);
    at = cut.next - 1;
  }
  if (cuts === null) return { line, unit: '', hasBox: false };
  return {
    line: without(line, cuts),
    unit: cuts
      .map((cut) => cut.text)
      .filter((text) => text !== '')
      .join(' '),
    hasBox: cuts.some((cut) => cut.box),
  };
}
