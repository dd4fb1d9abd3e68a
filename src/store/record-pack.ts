/**
 * Packs small records of plain values, as most of the store's are, byte for byte as msgpackr does,
 * which takes several times as long: it learns the shape of every record anew. Others are left to
 * it.
 */

/** Longest text that is copied here; longer ones the system copies faster. */
const TEXT_CHARS_MAX = 255;
/** Longest text that is packed here at all, as the lines of an audit block. */
const LONG_TEXT_CHARS_MAX = 4_096;
/** Bytes of a value, as those of a sealed secret. */
const BYTES_MAX = 4_096;
/** Members of a record, or elements of a list. */
const MEMBERS_MAX = 15;
const PACKED_BYTES = 1 << 18;
/** What was packed last. */
export const PACKED = Buffer.allocUnsafeSlow(PACKED_BYTES);
/** From here on no further value is begun: an object begins with its names. */
const FULL = PACKED_BYTES - 2 * MEMBERS_MAX * TEXT_CHARS_MAX;

/** Id of the shape of a record; those of objects in it have the next ones. */
const SHAPE_ID = 0x40;
/** Shapes of objects in a record, its own among them. */
const SHAPES_MAX = 8;
/** Objects and lists within each other, as the actors of an audit block are. */
const DEPTH_MAX = 4;

let at = 0;
/** Bytes fewer where shapes are not told apart from maps, as shares count them. */
let plainLess = 0;
/** Shapes that objects of the record have had so far, each with the bytes of its names. */
const shapes = Array.from({ length: SHAPES_MAX }, () => ({ names: [] as string[], bytes: 0 }));
let shapeCount = 0;

/** False where a text is long or holds more than ASCII. */
function packText(text: string): boolean {
  const { length } = text;
  if (length > TEXT_CHARS_MAX) return false;
  if (length < 0x20) PACKED[at++] = 0xa0 + length;
  else {
    PACKED[at++] = 0xd9;
    PACKED[at++] = length;
  }
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x80) return false;
    PACKED[at++] = code;
  }
  return true;
}

/** Packs a text of more than TEXT_CHARS_MAX; false for one longer yet, or of more than ASCII. */
function packLongText(text: string): boolean {
  const { length } = text;
  if (length > LONG_TEXT_CHARS_MAX) return false;
  PACKED[at] = 0xda;
  at = PACKED.writeUInt16BE(length, at + 1);
  // More than ASCII takes more bytes than it has characters.
  if (PACKED.write(text, at) !== length) return false;
  at += length;
  return true;
}

function packNumber(value: number): void {
  if (value >>> 0 === value) {
    if (value < SHAPE_ID) PACKED[at++] = value;
    else if (value < 0x100) {
      // Up to 0x7f these would be ids of shapes.
      if (value < 0x80) plainLess += 1;
      PACKED[at++] = 0xcc;
      PACKED[at++] = value;
    } else if (value < 0x10000) {
      PACKED[at] = 0xcd;
      at = PACKED.writeUInt16BE(value, at + 1);
    } else {
      PACKED[at] = 0xce;
      at = PACKED.writeUInt32BE(value, at + 1);
    }
  } else if (value >> 0 !== value) {
    PACKED[at] = 0xcb;
    at = PACKED.writeDoubleBE(value, at + 1);
  } else if (value >= -0x20) PACKED[at++] = 0x100 + value;
  else if (value >= -0x80) {
    PACKED[at] = 0xd0;
    at = PACKED.writeInt8(value, at + 1);
  } else if (value >= -0x8000) {
    PACKED[at] = 0xd1;
    at = PACKED.writeInt16BE(value, at + 1);
  } else {
    PACKED[at] = 0xd2;
    at = PACKED.writeInt32BE(value, at + 1);
  }
}

/** False where there are many. */
function packBytes(bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length > BYTES_MAX) return false;
  if (length < 0x100) {
    PACKED[at++] = 0xc4;
    PACKED[at++] = length;
  } else {
    PACKED[at] = 0xc5;
    at = PACKED.writeUInt16BE(length, at + 1);
  }
  PACKED.set(bytes, at);
  at += length;
  return true;
}

/** False where it is none of the plain ones. */
function packValue(value: unknown, depth: number): boolean {
  if (at > FULL) return false;
  switch (typeof value) {
    case 'string':
      return value.length > TEXT_CHARS_MAX ? packLongText(value) : packText(value);
    case 'number':
      packNumber(value);
      return true;
    case 'boolean':
      PACKED[at++] = value ? 0xc3 : 0xc2;
      return true;
    case 'object':
      if (value === null) {
        PACKED[at++] = 0xc0;
        return true;
      }
      if (value instanceof Uint8Array) return packBytes(value);
      if (depth === DEPTH_MAX) return false;
      return Array.isArray(value) ? packList(value, depth + 1) : packObject(value, depth + 1);
    default:
      return false;
  }
}

function packList(list: readonly unknown[], depth: number): boolean {
  if (list.length > MEMBERS_MAX) return false;
  PACKED[at++] = 0x90 + list.length;
  for (const each of list) if (!packValue(each, depth)) return false;
  return true;
}

/** Whether an object has these names, in order. */
function isOf(names: readonly string[], object: object): boolean {
  let count = 0;
  for (const name in object) {
    if (names[count] !== name) return false;
    count += 1;
  }
  return count === names.length;
}

/** The place of the shape of an object, where one had it before; -1 where it is new. */
function shapeOf(object: object): number {
  for (let index = 0; index < shapeCount; index += 1) {
    if (isOf(shapes[index]!.names, object)) return index;
  }
  return -1;
}

/** Packs the names of an object, in whose place the next one of them has its id. */
function packShape(object: object): boolean {
  const shape = shapes[shapeCount];
  if (shape === undefined) return false;
  PACKED[at++] = 0xd4;
  PACKED[at++] = 0x72;
  PACKED[at++] = SHAPE_ID + shapeCount;
  const countAt = at;
  at += 1;
  plainLess += 1;
  let count = 0;
  for (const name in object) {
    if (count === MEMBERS_MAX || !packText(name)) return false;
    shape.names[count] = name;
    count += 1;
  }
  PACKED[countAt] = 0x90 + count;
  shape.names.length = count;
  shape.bytes = at - countAt - 1;
  shapeCount += 1;
  return true;
}

function packObject(object: object, depth: number): boolean {
  if (object.constructor !== Object) return false;
  const known = shapeOf(object);
  if (known < 0) {
    if (!packShape(object)) return false;
  } else {
    PACKED[at++] = SHAPE_ID + known;
    // A map begins with three bytes and has its names.
    plainLess -= 2 + shapes[known]!.bytes;
  }
  for (const name in object) {
    if (!packValue((object as Readonly<Record<string, unknown>>)[name], depth)) return false;
  }
  return true;
}

/**
 * Packs a record, or a number of its own, into a memory that the next one takes, from some byte on.
 * @returns where it ends; -1 where it is left to msgpackr
 */
export function packSmall(record: unknown, from: number): number {
  at = from;
  plainLess = 0;
  shapeCount = 0;
  if (typeof record === 'number') {
    packNumber(record);
    return at;
  }
  const isPacked = typeof record === 'object' && record !== null && packObject(record, 0);
  return isPacked ? at : -1;
}

/** How long a record is that says nothing of shapes; -1 where msgpackr has to tell. */
export function plainBytes(record: unknown): number {
  return plainLength(packSmall(record, 0), 0);
}

/** The same of what was packed last. @param end what `packSmall` returned */
export function plainLength(end: number, from: number): number {
  return end < 0 ? end : end - from - plainLess;
}
