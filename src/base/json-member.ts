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

/** Most bytes of an escaped character: the name may be written with escapes. */
const ESCAPE_BYTES_MAX = 6;

/** A name that members are compared with, without making texts of theirs. */
export interface MemberName {
  readonly text: string;
  readonly bytes: Buffer;
  /** As JSON. */
  readonly quoted: Buffer;
}

/** Makes a name to look for; once where it is looked for often. */
export function memberName(text: string): MemberName {
  return { text, bytes: Buffer.from(text), quoted: Buffer.from(JSON.stringify(text)) };
}

/** Whether the text between two quotes, those included, is a name. */
function isNamed(bytes: Uint8Array, from: number, to: number, name: MemberName): boolean {
  const length = to - from - 2;
  const wanted = name.bytes.length;
  if (length < wanted || length > wanted * ESCAPE_BYTES_MAX) return false;
  if (length === wanted) {
    let same = 0;
    while (same < wanted && bytes[from + 1 + same] === name.bytes[same]) same += 1;
    return same === wanted;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
  if (!text.includes('\\')) return false;
  try {
    return JSON.parse(text) === name.text;
  } catch {
    return false;
  }
}

/**
 * Told of a top-level member: where its name begins, its value begins and its value ends. True ends
 * the visit.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most visits look at all and return nothing
type Visit = (from: number, value: number, to: number, named: boolean) => boolean | void;

function eachMember(bytes: Uint8Array, name: MemberName, visit: Visit): void {
  // Before the brace there is space at most, or a byte order mark.
  let from = skipSpace(bytes, bytes.indexOf(OPEN_BRACE) + 1);
  while (bytes[from] === QUOTE) {
    const nameEnd = skipText(bytes, from);
    const value = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const to = skipValue(bytes, value);
    if (visit(from, value, to, isNamed(bytes, from, nameEnd, name)) === true) return;
    // Over the comma; after the last member this is the brace or what follows it.
    from = skipSpace(bytes, skipSpace(bytes, to) + 1);
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

/** Whether a name stands once in a text, in quotes, and nowhere written with escapes. */
function standsOnce(bytes: Uint8Array, { quoted }: MemberName): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const first = buffer.indexOf(quoted);
  return first >= 0 && buffer.indexOf(quoted, first + 1) < 0 && !buffer.includes(ESCAPE);
}

/**
 * The text of a top-level member's value, of the last one when it is repeated, as JSON.parse takes
 * it; null without one. Bytes that are no object give null or any text, never an exception.
 */
export function memberValue(bytes: Uint8Array, name: MemberName): Uint8Array | null {
  let found: Uint8Array | null = null;
  // Megabytes behind the only member of the name need not be walked through.
  const once = standsOnce(bytes, name);
  eachMember(bytes, name, (_from, value, to, named) => {
    if (named) found = bytes.subarray(value, to);
    return named && once;
  });
  return found;
}
