/**
 * Removes or finds a member in the text of a JSON object. Every other byte stays as it is: numbers
 * keep their spelling, members their order, texts their escapes, which parsing and printing would
 * change.
 */
import { Buffer } from 'node:buffer';
import { bufferOf } from './growing-bytes.js';
import { parsedText } from './json-object.js';
import { skipBlanks, skipString, skipValue } from './json-scan.js';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** A character of a name takes at most this many bytes, since it may be written as an escape. */
const ESCAPE_BYTES_MAX = 6;

/** A name to compare with those of members, whose bytes need not be decoded for it. */
interface MemberName {
  readonly text: string;
  readonly bytes: Buffer;
  /**
   * The end of the name as JSON, from its rarest letter on. A search stops at each place where the
   * first byte matches, so a rare one makes it fast.
   */
  readonly ending: Buffer;
}

/** Letters of names, the rarest first. */
const BY_RARITY = 'zqxjkvwybhgfupmdlcsronaite';

/** The end of a name as JSON, from its rarest letter on. */
function endingOf(text: string): string {
  const json = JSON.stringify(text);
  const rarest = [...BY_RARITY].find((letter) => text.includes(letter));
  return json.slice(rarest === undefined ? 1 : json.lastIndexOf(rarest));
}

/** Prepares a name to look for. A name that is looked for often is prepared once. */
export function memberName(text: string): MemberName {
  return { text, bytes: Buffer.from(text), ending: Buffer.from(endingOf(text)) };
}

/** Whether the text between two quotes, which `from` and `to` include, is the name. */
function isNamed(bytes: Uint8Array, from: number, to: number, name: MemberName): boolean {
  const length = to - from - 2;
  const wanted = name.bytes.length;
  // A text without a second quote ends beyond the last byte.
  if (to > bytes.length || length < wanted || length > wanted * ESCAPE_BYTES_MAX) return false;
  if (length === wanted) {
    let same = 0;
    while (same < wanted && bytes[from + 1 + same] === name.bytes[same]) same += 1;
    return same === wanted;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
  return text.includes('\\') && parsedText(text) === name.text;
}

/**
 * Called for each top-level member with the places where its name begins, its value begins and its
 * value ends. Returning true ends the visit.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most visits look at all and return nothing
type Visit = (from: number, value: number, to: number, named: boolean) => boolean | void;

/** The place of an object's opening brace, which follows blanks or a byte order mark; else -1. */
function openBrace(bytes: Uint8Array): number {
  if (bytes[0] === OPEN_BRACE) return 0;
  const isMarked = BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte);
  const open = skipBlanks(bytes, isMarked ? BYTE_ORDER_MARK.length : 0);
  return bytes[open] === OPEN_BRACE ? open : -1;
}

function eachMember(bytes: Uint8Array, name: MemberName, visit: Visit): void {
  const open = openBrace(bytes);
  if (open < 0) return;
  let from = skipBlanks(bytes, open + 1);
  while (bytes[from] === QUOTE) {
    const nameEnd = skipString(bytes, from);
    const value = skipBlanks(bytes, skipBlanks(bytes, nameEnd) + 1);
    const to = skipValue(bytes, value);
    if (visit(from, value, to, isNamed(bytes, from, nameEnd, name)) === true) return;
    // Skips the comma; after the last member, the closing brace or what follows it.
    from = skipBlanks(bytes, skipBlanks(bytes, to) + 1);
  }
}

/**
 * The bytes of a JSON object without its top-level members of a name. Each is removed with one of
 * the commas beside it.
 * @param bytes of an object that JSON.parse accepts; anything else gives bytes without meaning.
 */
export function withoutMember(bytes: Uint8Array, name: string): Uint8Array {
  const parts: Uint8Array[] = [];
  // Where the bytes to keep begin; null after a removed member, until the next one is met.
  let keep: number | null = 0;
  let isFirst = true;
  let before = 0;
  let end = 0;
  eachMember(bytes, memberName(name), (from, _value, to, named) => {
    if (named) {
      if (keep !== null) parts.push(bytes.subarray(keep, isFirst ? from : before));
      keep = null;
    } else {
      // A kept member takes along the comma before it, unless no kept member precedes it.
      keep ??= isFirst ? from : before;
      isFirst = false;
    }
    before = to;
    end = to;
  });
  if (parts.length === 0) return bytes;
  parts.push(bytes.subarray(keep ?? end));
  return Buffer.concat(parts);
}

const ESCAPE = Buffer.from('\\u', 'latin1');

/** How many places that match the first byte are compared one by one. */
const PLACES_MAX = 8;

/**
 * Whether the wanted bytes stand anywhere from an offset on. Searching for the first byte alone
 * takes a fifth of the time or less; where that byte is found often, all of them are searched for.
 */
function stands(bytes: Buffer, wanted: Buffer, from: number): boolean {
  let at = from - 1;
  for (let places = 0; places < PLACES_MAX; places += 1) {
    at = bytes.indexOf(wanted[0]!, at + 1);
    if (at < 0) return false;
    let same = 1;
    while (same < wanted.length && bytes[at + same] === wanted[same]) same += 1;
    if (same === wanted.length) return true;
  }
  return bytes.indexOf(wanted, at + 1) >= 0;
}

/**
 * Whether the name cannot come again behind an offset: neither its end with a quote nor any Unicode
 * escape stands there.
 */
function isLast(bytes: Uint8Array, from: number, { ending }: MemberName): boolean {
  const buffer = bufferOf(bytes);
  return !stands(buffer, ending, from) && !stands(buffer, ESCAPE, from);
}

/**
 * The text of a top-level member's value, of the last one if the name is repeated, as in
 * JSON.parse; null where there is none. For bytes that are no object the result is null or any
 * text, never an exception.
 */
export function memberValue(bytes: Uint8Array, name: MemberName): Uint8Array | null {
  let found: Uint8Array | null = null;
  eachMember(bytes, name, (_from, value, to, named) => {
    if (!named) return false;
    const isFirst = found === null;
    found = bytes.subarray(value, to);
    // Where no second member of the name can follow, megabytes behind the first need not be walked
    // through. This is checked for the first one only, since each check searches all that follows.
    return isFirst && isLast(bytes, to, name);
  });
  return found;
}
