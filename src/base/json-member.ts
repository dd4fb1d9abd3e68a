/**
 * Cuts a member out of the text of a JSON object and leaves every other byte as it is: numbers keep
 * their spelling, members their order, text its escapes. Parsing and printing would not.
 */
import { Buffer } from 'node:buffer';
import { bufferOf } from './growing-bytes.js';
import { parsedText } from './json-object.js';
import { skipBlanks, skipString, skipValue } from './json-scan.js';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;

/** Most bytes of an escaped character: the name may be written with escapes. */
const ESCAPE_BYTES_MAX = 6;

/** A name that members are compared with, without making texts of theirs. */
interface MemberName {
  readonly text: string;
  readonly bytes: Buffer;
  /** How it ends as JSON, from its rarest letter on: a search begins anew at each first byte. */
  readonly ending: Buffer;
}

/** Letters of names, the rarest first. */
const BY_RARITY = 'zqxjkvwybhgfupmdlcsronaite';

/** The end of a name from its rarest letter on. */
function endingOf(text: string): string {
  const json = JSON.stringify(text);
  const rarest = [...BY_RARITY].find((letter) => text.includes(letter));
  return json.slice(rarest === undefined ? 1 : json.lastIndexOf(rarest));
}

/** Makes a name to look for; once where it is looked for often. */
export function memberName(text: string): MemberName {
  return { text, bytes: Buffer.from(text), ending: Buffer.from(endingOf(text)) };
}

/** Whether the text between two quotes, those included, is a name. */
function isNamed(bytes: Uint8Array, from: number, to: number, name: MemberName): boolean {
  const length = to - from - 2;
  const wanted = name.bytes.length;
  // What has no second quote ends behind the last byte.
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
 * Told of a top-level member: where its name begins, its value begins and its value ends. True ends
 * the visit.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most visits look at all and return nothing
type Visit = (from: number, value: number, to: number, named: boolean) => boolean | void;

function eachMember(bytes: Uint8Array, name: MemberName, visit: Visit): void {
  // Before the brace there is space at most, or a byte order mark.
  const open = bytes[0] === OPEN_BRACE ? 0 : bytes.indexOf(OPEN_BRACE);
  let from = skipBlanks(bytes, open + 1);
  while (bytes[from] === QUOTE) {
    const nameEnd = skipString(bytes, from);
    const value = skipBlanks(bytes, skipBlanks(bytes, nameEnd) + 1);
    const to = skipValue(bytes, value);
    if (visit(from, value, to, isNamed(bytes, from, nameEnd, name)) === true) return;
    // Over the comma; after the last member this is the brace or what follows it.
    from = skipBlanks(bytes, skipBlanks(bytes, to) + 1);
  }
}

/**
 * The bytes of a JSON object without every top-level member of a name, each with one of the commas
 * beside it.
 * @param bytes of an object that JSON.parse accepts; anything else gives bytes without meaning.
 */
export function withoutMember(bytes: Uint8Array, name: string): Uint8Array {
  const parts: Uint8Array[] = [];
  // What is kept begins at `keep`, or is not known yet: it begins with the next member.
  let keep: number | null = 0;
  let isFirst = true;
  let before = 0;
  let end = 0;
  eachMember(bytes, memberName(name), (from, _value, to, named) => {
    if (named) {
      if (keep !== null) parts.push(bytes.subarray(keep, isFirst ? from : before));
      keep = null;
    } else {
      // With the comma before it, unless nothing stands before it any more.
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

/** Places of the first byte that are looked at one by one. */
const PLACES_MAX = 8;

/**
 * Whether bytes stand somewhere from an offset on. To look for one of them costs a fifth of looking
 * for all or less; where that is found often, all are looked for.
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
 * Whether no name stands behind an offset again, before a quote or written with escapes: nothing
 * that ends like it does.
 */
function isLast(bytes: Uint8Array, from: number, { ending }: MemberName): boolean {
  const buffer = bufferOf(bytes);
  return !stands(buffer, ending, from) && !stands(buffer, ESCAPE, from);
}

/**
 * The text of a top-level member's value, of the last one when it is repeated, as JSON.parse takes
 * it; null without one. Bytes that are no object give null or any text, never an exception.
 */
export function memberValue(bytes: Uint8Array, name: MemberName): Uint8Array | null {
  let found: Uint8Array | null = null;
  eachMember(bytes, name, (_from, value, to, named) => {
    if (!named) return false;
    const isFirst = found === null;
    found = bytes.subarray(value, to);
    // Megabytes behind the only member of the name need not be walked through. That is asked once:
    // each of many members of the name would have all that is behind it searched.
    return isFirst && isLast(bytes, to, name);
  });
  return found;
}
