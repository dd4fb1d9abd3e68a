/**
 * Reads small records of plain values, those that record-pack.ts packs: msgpackr reads the names of
 * every record anew, which takes most of its time. Names that a kind of record had before are told
 * by their bytes. Whatever else there is in a record leaves it to msgpackr.
 */

/** Ids of the shapes of a record and of the object in it, as they are packed. */
const SHAPE_ID = 0x40;
const INNER_ID = 0x41;

/** Names that are remembered of a kind; a record has them as its optional members are there. */
const SHAPES_MAX = 8;
/** Kinds of records and of objects in them. */
const KINDS_MAX = 128;
/** Longer records are read by msgpackr, which has better ways with long texts. */
const RECORD_BYTES_MAX = 4_096;

/** The names of a record or of the object in it. */
interface Shape {
  /** From the number of names to the last of them. */
  readonly bytes: Uint8Array;
  readonly names: readonly string[];
}

const LEFT = Symbol('left to msgpackr');

let bytes: Buffer = Buffer.alloc(0);
let at = 0;
let end = 0;
/** Where `text` begins. */
let start = 0;
/** All bytes of the record as characters. */
let text = '';
/** Names of the object in the record, once there was one. */
let innerShape: Shape | null = null;

const outer = new Map<string, Shape[]>();
const inner = new Map<string, Shape[]>();

/** Whether the bytes from a place on are those of a shape. */
function isHere({ bytes: known }: Shape): boolean {
  const { length } = known;
  if (at + length > end) return false;
  for (let index = 0; index < length; index += 1) {
    if (bytes[at + index] !== known[index]) return false;
  }
  return true;
}

/** Reads a text of ASCII; null where it is none. */
function shortText(length: number): string | null {
  const from = at;
  at += length;
  if (at > end) return null;
  for (let index = from; index < at; index += 1) if (bytes[index]! >= 0x80) return null;
  return text.slice(from - start, at - start);
}

/** Reads names that were not met before; null where there is something else among them. */
function newShape(): Shape | null {
  const from = at;
  if (at >= end) return null;
  const count = bytes[at]! - 0x90;
  if (count < 0 || count > 0xf) return null;
  at += 1;
  const names: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const length = at < end ? bytes[at]! - 0xa0 : -1;
    if (length < 0 || length > 0x1f) return null;
    at += 1;
    const name = shortText(length);
    // msgpackr has an answer of its own to this one.
    if (name === null || name === '__proto__') return null;
    names.push(name);
  }
  return { bytes: Uint8Array.prototype.slice.call(bytes, from, at), names };
}

/** Reads the names of an object of a kind. */
function shapeOf(known: Map<string, Shape[]>, kind: string): Shape | null {
  const shapes = known.get(kind);
  if (shapes !== undefined) {
    for (const shape of shapes) {
      if (!isHere(shape)) continue;
      at += shape.bytes.length;
      return shape;
    }
  }
  const shape = newShape();
  if (shape === null) return null;
  if (shapes === undefined) {
    if (known.size < KINDS_MAX) known.set(kind, [shape]);
  } else if (shapes.length < SHAPES_MAX) shapes.push(shape);
  return shape;
}

/** Reads an object behind its mark; null where it is left to msgpackr. */
function objectOf(known: Map<string, Shape[]>, kind: string): object | null {
  const shape = shapeOf(known, kind);
  if (shape === null) return null;
  if (known === inner) innerShape = shape;
  return membersOf(shape, known === outer, kind);
}

/** Reads the members of an object of known names; null where one is left to msgpackr. */
function membersOf({ names }: Shape, mayNest: boolean, kind: string): object | null {
  const object: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) {
    const value = valueAt(kind, mayNest);
    if (value === LEFT) return null;
    object[names[index]!] = value;
  }
  return object;
}

function listOf(length: number): unknown {
  const list: unknown[] = [];
  for (let index = 0; index < length; index += 1) {
    const value = valueAt('', false);
    if (value === LEFT) return LEFT;
    list.push(value);
  }
  return list;
}

/** The object in a record, behind its mark. */
function innerOf(kind: string): unknown {
  if (bytes[at - 2] !== 0x72 || bytes[at - 1] !== INNER_ID || innerShape !== null) return LEFT;
  return objectOf(inner, kind) ?? LEFT;
}

function bytesOf(length: number): unknown {
  const from = at;
  at += length;
  return at > end ? LEFT : Uint8Array.prototype.slice.call(bytes, from, at);
}

/** Bytes of a number, of a length or of a mark behind the first byte of a value. */
const BEHIND = new Uint8Array(256);
for (const [token, length] of [
  [0xc4, 1],
  [0xc5, 2],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd4, 2],
  [0xd9, 1],
] as const)
  BEHIND[token] = length;

/** Reads a value of an object or list; LEFT where it is none of the plain ones. */
function valueAt(kind: string, mayNest: boolean): unknown {
  if (at >= end) return LEFT;
  const token = bytes[at]!;
  at += 1;
  if (token < SHAPE_ID) return token;
  if (token === INNER_ID && mayNest && innerShape !== null) {
    return membersOf(innerShape, false, kind) ?? LEFT;
  }
  if (token >= 0xe0) return token - 0x100;
  if (token >= 0xa0 && token < 0xc0) return shortText(token - 0xa0) ?? LEFT;
  if (token >= 0x90 && token < 0xa0) return mayNest ? listOf(token - 0x90) : LEFT;
  const from = at;
  at += BEHIND[token]!;
  if (at > end) return LEFT;
  switch (token) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
      return bytesOf(bytes[from]!);
    case 0xc5:
      return bytesOf(bytes.readUInt16BE(from));
    case 0xcb:
      return bytes.readDoubleBE(from);
    case 0xcc:
      return bytes[from];
    case 0xcd:
      return bytes.readUInt16BE(from);
    case 0xce:
      return bytes.readUInt32BE(from);
    case 0xd0:
      return bytes.readInt8(from);
    case 0xd1:
      return bytes.readInt16BE(from);
    case 0xd2:
      return bytes.readInt32BE(from);
    case 0xd4:
      return mayNest ? innerOf(kind) : LEFT;
    case 0xd9:
      return shortText(bytes[from]!) ?? LEFT;
    default:
      return LEFT;
  }
}

/**
 * The record of a kind that lies within some bytes, `from` to `to`; null where it is left to
 * msgpackr. It keeps nothing of the bytes.
 */
export function unpackSmall(within: Buffer, from: number, to: number, kind: string): object | null {
  if (to - from > RECORD_BYTES_MAX || to - from < 4) return null;
  if (within[from] !== 0xd4 || within[from + 1] !== 0x72 || within[from + 2] !== SHAPE_ID) {
    return null;
  }
  bytes = within;
  start = from;
  end = to;
  at = from + 3;
  innerShape = null;
  text = within.toString('latin1', from, to);
  const record = objectOf(outer, kind);
  return record !== null && at === end ? record : null;
}
