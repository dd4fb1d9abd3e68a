/**
 * Reads small records of plain values, which record-pack.ts packs. msgpackr reads the names of
 * every record again, which takes most of its time; here, names that occurred before in the same
 * kind of record are recognized by their bytes. A record with anything else is left to msgpackr.
 */

/** Id of a record's shape; shapes of objects within it have the following ids. */
const SHAPE_ID = 0x40;
/** Most shapes in a record, including its own. */
const RECORD_SHAPES_MAX = 8;
/** Deepest nesting of objects and lists. */
const DEPTH_MAX = 4;

/**
 * Shapes that are remembered for each kind of record; it depends on which optional members there
 * are.
 */
const SHAPES_MAX = 8;
/** Most kinds, of records and of objects in them. */
const KINDS_MAX = 128;
/** Longest record that is read here; msgpackr is better with long texts. */
const RECORD_BYTES_MAX = 4_096;

/** Bytes of the longest number. */
const NUMBER_BYTES_MAX = 9;

/** The names of a record or of an object in it. */
interface Shape {
  /** From the number of names to the last name. */
  readonly bytes: Uint8Array;
  readonly names: readonly string[];
}

const LEFT = Symbol('left to msgpackr');

let bytes: Buffer = Buffer.alloc(0);
let at = 0;
let end = 0;
/** Position of `text` in the memory. */
let start = 0;
/** All bytes of the record as characters. */
let text = '';
/** Shapes in the record so far, in the order of their ids. */
const met: Shape[] = [];

const outer = new Map<string, Shape[]>();
const inner = new Map<string, Shape[]>();

/** Whether the bytes at the current position are those of a shape. */
function isHere({ bytes: known }: Shape): boolean {
  const { length } = known;
  if (at + length > end) return false;
  for (let index = 0; index < length; index += 1) {
    if (bytes[at + index] !== known[index]) return false;
  }
  return true;
}

/** Reads a text; null where it is not ASCII. */
function shortText(length: number): string | null {
  const from = at;
  at += length;
  if (at > end) return null;
  for (let index = from; index < at; index += 1) if (bytes[index]! >= 0x80) return null;
  return text.slice(from - start, at - start);
}

/** Reads names that did not occur before; null where something else is among them. */
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
    // msgpackr treats this name in its own way.
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

/** Reads an object after its mark; null where it is left to msgpackr. */
function objectOf(known: Map<string, Shape[]>, kind: string, depth: number): object | null {
  if (met.length === RECORD_SHAPES_MAX) return null;
  const shape = shapeOf(known, kind);
  if (shape === null) return null;
  met.push(shape);
  return membersOf(shape, kind, depth);
}

/** Reads the members of an object whose names are known; null where one is left to msgpackr. */
function membersOf({ names }: Shape, kind: string, depth: number): object | null {
  const object: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) {
    const value = valueAt(kind, depth);
    if (value === LEFT) return null;
    object[names[index]!] = value;
  }
  return object;
}

function listOf(length: number, kind: string, depth: number): unknown {
  const list: unknown[] = [];
  for (let index = 0; index < length; index += 1) {
    const value = valueAt(kind, depth);
    if (value === LEFT) return LEFT;
    list.push(value);
  }
  return list;
}

/** Reads an object within a record, after its mark. */
function innerOf(kind: string, depth: number): unknown {
  if (bytes[at - 2] !== 0x72 || bytes[at - 1] !== SHAPE_ID + met.length) return LEFT;
  return objectOf(inner, kind, depth) ?? LEFT;
}

function bytesOf(length: number): unknown {
  const from = at;
  at += length;
  return at > end ? LEFT : Uint8Array.prototype.slice.call(bytes, from, at);
}

/** By first byte of a value: how many bytes of a number, length or mark follow. */
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
  [0xda, 2],
] as const)
  BEHIND[token] = length;

/** Reads an object or list after its first byte; LEFT for anything else. */
function nestedAt(token: number, kind: string, depth: number): unknown {
  if (depth > DEPTH_MAX) return LEFT;
  if (token >= 0x90) return listOf(token - 0x90, kind, depth);
  const shape = met[token - SHAPE_ID];
  return shape === undefined ? LEFT : (membersOf(shape, kind, depth) ?? LEFT);
}

/** Reads a value in an object or list; LEFT where it is not a plain one. */
function valueAt(kind: string, depth: number): unknown {
  if (at >= end) return LEFT;
  const token = bytes[at]!;
  at += 1;
  if (token < SHAPE_ID) return token;
  if (token < 0xa0) return nestedAt(token, kind, depth + 1);
  if (token >= 0xe0) return token - 0x100;
  if (token < 0xc0) return shortText(token - 0xa0) ?? LEFT;
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
      return depth < DEPTH_MAX ? innerOf(kind, depth + 1) : LEFT;
    case 0xd9:
      return shortText(bytes[from]!) ?? LEFT;
    case 0xda:
      return shortText(bytes.readUInt16BE(from)) ?? LEFT;
    default:
      return LEFT;
  }
}

/** A record that is only a number, such as a count of changes; null for any other. */
function numberOf(within: Buffer, from: number, to: number): number | null {
  const token = within[from]!;
  if (token >= SHAPE_ID && (token < 0xcb || token > 0xd2)) return null;
  bytes = within;
  end = to;
  at = from;
  const value = valueAt('', DEPTH_MAX);
  return typeof value === 'number' && at === end ? value : null;
}

/**
 * The record in the bytes `from` to `to`; null where it is left to msgpackr. The result does not
 * refer to the bytes.
 */
export function unpackSmall(
  within: Buffer,
  from: number,
  to: number,
  kind: string,
): object | number | null {
  if (to - from <= NUMBER_BYTES_MAX && to > from && within[from] !== 0xd4) {
    return numberOf(within, from, to);
  }
  if (to - from > RECORD_BYTES_MAX || to - from < 4) return null;
  if (within[from] !== 0xd4 || within[from + 1] !== 0x72 || within[from + 2] !== SHAPE_ID) {
    return null;
  }
  bytes = within;
  start = from;
  end = to;
  at = from + 3;
  met.length = 0;
  text = within.toString('latin1', from, to);
  const record = objectOf(outer, kind, 0);
  return record !== null && at === end ? record : null;
}
