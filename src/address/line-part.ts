/** Parts of a line between commas, and their order. */
import { readTail } from './address-tail.js';
import { readHouseNumbers } from './house-number.js';
import { isDigits, startsWithDigit } from './number-words.js';
import type { Gazetteer } from './parsed.js';
import type { Span } from './reading.js';
import { JOIN, type Join, type Line } from './token.js';

/** Parts of the line between commas, from a word on. */
export function partsOf(line: Line, from: number, end: number): Span[] {
  const parts: Span[] = [];
  let start = from;
  for (let index = from + 1; index <= end; index++) {
    const join = index === end ? JOIN.comma : line.joins[index];
    if (join !== JOIN.comma && join !== JOIN.dash) continue;
    parts.push({ from: start, to: index });
    start = index;
  }
  return parts;
}

/** The line without one word; what followed the word starts a new part. */
export function withoutWord(line: Line, at: number): Line {
  const joins: Join[] = line.joins.filter((_, index) => index !== at);
  if (at < joins.length) joins[at] = JOIN.comma;
  return { words: line.words.filter((_, index) => index !== at), joins };
}

/** Index of the first part that begins with a house number, not the line's first; -1 if none. */
function numberedPart(line: Line): number {
  const { words, joins } = line;
  const at = words.findIndex((word, index) => joins[index] === JOIN.comma && startsWithDigit(word));
  if (at < 1 || at + 1 >= words.length) return -1;
  return readHouseNumbers(line, at, words.length).length === 0 ? -1 : at;
}

/** The words from one to before another; the first of them starts a part. */
function part({ words, joins }: Line, from: number, to: number): Line {
  return {
    words: words.slice(from, to),
    joins: words.slice(from, to).map((_, index) =>
      index === 0 ? JOIN.comma : joins[from + index] ?? JOIN.space),
  };
}

function joined(first: Line, ...rest: readonly Line[]): Line {
  const words = [...first.words, ...rest.flatMap((line) => line.words)];
  const joins = [JOIN.space, ...first.joins.slice(1), ...rest.flatMap((line) => line.joins)];
  return { words, joins };
}

/**
 * "05401, 2 Church St, Burlington VT" and "05401 Burlington, VT, 2 Church St": a ZIP in front. Only
 * where no other figures at the end may be the ZIP, and the first ones no house number.
 */
function zipLast(line: Line, gazetteer: Gazetteer): Line {
  const at = numberedPart(line);
  if (at < 1) return line;
  const tail = readTail(line, gazetteer);
  const place = at === 1 ? tail : readTail(part(line, 1, at), gazetteer);
  if (tail.zip !== '' || tail.canadianPostalCode !== '' || place.state === '') return line;
  return joined(part(line, at, line.words.length), part(line, 1, at), part(line, 0, 1));
}

/** "Burlington VT 05401, 2 Church St": place first. Gives the line with the street first. */
export function streetFirst(line: Line, gazetteer: Gazetteer): Line {
  const first = line.words[0] ?? '';
  if (first.length === 5 && isDigits(first)) return zipLast(line, gazetteer);
  if (startsWithDigit(first)) return line;
  const at = numberedPart(line);
  if (at < 1 || readTail(part(line, 0, at), gazetteer).state === '') return line;
  return joined(part(line, at, line.words.length), part(line, 0, at));
}
