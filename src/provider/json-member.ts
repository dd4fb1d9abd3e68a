/**
 * Cuts a member out of the text of a JSON object and leaves every other byte as it is: numbers keep
 * their spelling, members their order, text its escapes. Parsing and printing would not.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

/** The index after the text that begins at a quote. */
function skipText(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The index after the value that begins here, without recursion: depth is the sender's choice. */
function skipValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipText(bytes, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      at += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      // The end of the object around a number or word.
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
    } else {
      if (depth === 0 && (byte === COMMA || isSpace(byte))) return at;
      at += 1;
    }
    const wasOneToken = byte === QUOTE || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (depth === 0 && wasOneToken) return at;
  }
  return at;
}

function isNamed(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
  // The name may be written with escapes.
  if (text === `"${name}"`) return true;
  if (!text.includes('\\')) return false;
  try {
    return JSON.parse(text) === name;
  } catch {
    return false;
  }
}

interface Member {
  /** Where its name begins, its value begins and its value ends. */
  readonly from: number;
  readonly value: number;
  readonly to: number;
  readonly named: boolean;
}

function membersOf(bytes: Uint8Array, name: string): readonly Member[] {
  const members: Member[] = [];
  // Before the brace there is space at most, or a byte order mark.
  let from = skipSpace(bytes, bytes.indexOf(OPEN_BRACE) + 1);
  while (bytes[from] === QUOTE) {
    const nameEnd = skipText(bytes, from);
    const value = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const to = skipValue(bytes, value);
    members.push({ from, value, to, named: isNamed(bytes, from, nameEnd, name) });
    // Over the comma; after the last member this is the brace or what follows it.
    from = skipSpace(bytes, skipSpace(bytes, to) + 1);
  }
  return members;
}

/**
 * The bytes of a JSON object without every top-level member of a name, each with one of the commas
 * beside it.
 * @param bytes of an object that JSON.parse accepts; anything else gives bytes without meaning.
 */
export function withoutMember(bytes: Uint8Array, name: string): Uint8Array {
  const members = membersOf(bytes, name);
  if (!members.some(({ named }) => named)) return bytes;
  const parts = [bytes.subarray(0, members[0]?.from)];
  let isFirst = true;
  for (const [index, { from, to, named }] of members.entries()) {
    if (named) continue;
    // With the comma before it, unless nothing stands before it any more.
    parts.push(bytes.subarray(isFirst ? from : members[index - 1]?.to, to));
    isFirst = false;
  }
  parts.push(bytes.subarray(members.at(-1)?.to));
  return Buffer.concat(parts);
}

/**
 * The text of a top-level member's value, of the last one when it is repeated, as JSON.parse takes
 * it; null without one. Bytes that are no object give null or any text, never an exception.
 */
export function memberValue(bytes: Uint8Array, name: string): Uint8Array | null {
  const member = membersOf(bytes, name).findLast(({ named }) => named);
  return member === undefined ? null : bytes.subarray(member.value, member.to);
}

/**
 * The bytes of the only element of a JSON list; the bytes as they are when they are no list of one.
 * @param bytes that JSON.parse accepts.
 */
export function onlyElement(bytes: Uint8Array): Uint8Array {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== OPEN_BRACKET) return bytes;
  const from = skipSpace(bytes, open + 1);
  if (bytes[from] === CLOSE_BRACKET) return bytes;
  const to = skipValue(bytes, from);
  return bytes[skipSpace(bytes, to)] === CLOSE_BRACKET ? bytes.subarray(from, to) : bytes;
}
