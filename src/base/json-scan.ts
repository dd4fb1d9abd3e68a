/**
 * The one scanner of JSON text as bytes. Everything that looks at a text without parsing it moves
 * over it with `nextOf`: to the next byte of the kind it asks for. A place is an index, and every
 * function takes one and gives one, so a reader can stop anywhere and go on from there.
 *
 * Nothing is checked here: bytes that are no JSON give places without meaning, but never an
 * exception and never an endless loop. Whether a text is JSON tells `json-text.ts`.
 *
 * Each reader names the bytes that it compares with itself: an imported constant is read from
 * memory at every use, which made the loops a tenth slower.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes to stop at: one where a byte is one of them, indexed by the byte. */
export type ByteSet = Uint8Array;

/** The set of these ASCII characters, and of the bytes below `controlsTo`. */
export function byteSet(characters: string, controlsTo = 0): ByteSet {
  const set = new Uint8Array(256).fill(1, 0, controlsTo);
  for (const byte of Buffer.from(characters, 'latin1')) set[byte] = 1;
  return set;
}

/** Every byte but those of a set. */
export function bytesBut(set: ByteSet): ByteSet {
  return set.map((is) => 1 - is);
}

const BLANKS = byteSet(' \t\n\r');
const NOT_BLANKS = bytesBut(BLANKS);
const BRACKETS = byteSet('"[]{}');
const VALUE_ENDS = byteSet('"[]{}, \t\n\r');

/** The place of the first byte of a set, from a place on; the end, or behind it, without one. */
export function nextOf(bytes: Uint8Array, from: number, set: ByteSet): number {
  const { length } = bytes;
  let at = from;
  while (at < length && set[bytes[at]!] === 0) at += 1;
  return at;
}

/** Whether a byte is one of the four that JSON allows between its tokens. */
export function isBlank(byte: number): boolean {
  return BLANKS[byte] === 1;
}

/** The place of the first byte that is not blank. */
export function skipBlanks(bytes: Uint8Array, from: number): number {
  return nextOf(bytes, from, NOT_BLANKS);
}

/** The place behind the string that begins with the quote at a place. */
export function skipString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  for (; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    // What is escaped may be a quote.
    if (byte === BACKSLASH) at += 1;
  }
  return at + 1;
}

/** The bit in which "[" differs from "{", and "]" from "}". */
const BRACE_BIT = 0x20;

/** Whether a byte opens a list or an object. */
export function isOpening(byte: number): boolean {
  return (byte | BRACE_BIT) === OPEN_BRACE;
}

/**
 * The place behind the list or object that begins at a place. Without recursion: how deep a text is
 * nested is its sender's choice.
 */
function skipNested(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let depth = 1;
  let at = from + 1;
  for (;;) {
    at = nextOf(bytes, at, BRACKETS);
    if (at >= length) return at;
    const byte = bytes[at]!;
    if (byte === QUOTE) at = skipString(bytes, at);
    else {
      depth += isOpening(byte) ? 1 : -1;
      at += 1;
      if (depth === 0) return at;
    }
  }
}

/** The place behind the value that begins at a place. */
export function skipValue(bytes: Uint8Array, from: number): number {
  const at = nextOf(bytes, from, VALUE_ENDS);
  const byte = bytes[at] ?? COMMA;
  if (byte === QUOTE) return skipString(bytes, at);
  // A comma, a blank or a closing bracket ends a number or a word.
  return isOpening(byte) ? skipNested(bytes, at) : at;
}

/** The place of the comma or closing bracket behind the element that begins at a place. */
export function elementEnd(bytes: Uint8Array, from: number): number {
  let at = skipBlanks(bytes, from);
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) return at;
    at = skipBlanks(bytes, skipValue(bytes, at));
  }
  return at;
}
