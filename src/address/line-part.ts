/** Parts of a line between commas, and their order. */
import { readTail } from './address-tail.js';
import type { Gazetteer } from './gazetteer.js';
import { readHouseNumbers } from './house-number.js';
import { startsWithDigit } from './number-words.js';
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

/** "Burlington VT 05401, 2 Church St": place first. Gives the line with the street first. */
export function streetFirst(line: Line, gazetteer: Gazetteer): Line {
  const { words, joins } = line;
  if (startsWithDigit(words[0] ?? '')) return line;
  const at = words.findIndex((word, index) => joins[index] === JOIN.comma && startsWithDigit(word));
  if (at < 1 || at + 1 >= words.length || readHouseNumbers(line, at, words.length).length === 0) {
    return line;
  }
  const head = { words: words.slice(0, at), joins: joins.slice(0, at) };
  if (readTail(head, gazetteer).state === '') return line;
  return {
    words: [...words.slice(at), ...head.words],
    joins: [JOIN.space, ...joins.slice(at + 1), JOIN.comma, ...head.joins.slice(1)],
  };
}
