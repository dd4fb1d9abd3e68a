/**
 * Packs small records of plain values, which most of the store's are, into the same bytes as
 * msgpackr. msgpackr takes several times as long, since it learns the shape of every record again.
 * Other records are left to it.
 */

/** Longest text that is copied letter by letter; a native call copies longer ones faster. */
const TEXT_CHARS_MAX = 255;
/** Longest text that is packed here at all, such as the lines of an audit block. */
const LONG_TEXT_CHARS_MAX = 4_096;
/** Most bytes of a binary value, such as a sealed secret. */
const BYTES_MAX = 4_096;
/** Most members of an object, or elements of a list. */
const MEMBERS_MAX = 15;
const PACKED_BYTES = 1 << 18;
/** The memory that records are packed into; the next record overwrites it. */
export const PACKED = Buffer.allocUnsafeSlow(PACKED_BYTES);
/** Position after which no value is begun, since there might be no room for an object's names. */
const FULL = PACKED_BYTES - 2 * MEMBERS_MAX * TEXT_CHARS_MAX;

/** Id of a record's shape; shapes of objects within it have the following ids. */
const SHAPE_ID = 0x40;
/** Most shapes in a record, including its own. */
const SHAPES_MAX = 8;
/** Deepest nesting of objects and lists, such as the actors in an audit block. */
const DEPTH_MAX = 4;

let at = 0;
/**
 * By how many bytes the record would be shorter if objects were maps, which is how shares count.
 */
let plainLess = 0;
/** The shapes of objects so far in the record, with the bytes of their names. */
const shapes = Array.from({ length: SHAPES_MAX }, () => ({ names: [] as string[], bytes: 0 }));
let shapeCount = 0;

/** Packs a text; false if it is long or not ASCII. */
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

/** Packs a text of more than TEXT_CHARS_MAX; false if it is even longer, or not ASCII. */
function packLongText(text: string): boolean {
  const { length } = text;
  if (length > LONG_TEXT_CHARS_MAX) return false;
  PACKED[at] = 0xda;
  at = PACKED.writeUInt16BE(length, at + 1);
  // A text that is not ASCII takes more bytes than it has characters.
  if (PACKED.write(text, at) !== length) return false;
  at += length;
  return true;
}

function packNumber(value: number): void {
  if (value >>> 0 === value) {
    if (value < SHAPE_ID) PACKED[at++] = value;
    else if (value < 0x100) {
      // Numbers up to 0x7f take a byte more, since one byte would be the id of a shape.
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

/** Packs bytes; false if there are too many. */
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

/** Packs a value; false if it is not a plain one. */
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

/** Whether an object has these names, in this order. */
function isOf(names: readonly string[], object: object): boolean {
  let count = 0;
  for (const name in object) {
    if (names[count] !== name) return false;
    count += 1;
  }
  return count === names.length;
}

/** Index of an object's shape among those so far; -1 for a new one. */
function shapeOf(object: object): number {
  for (let index = 0; index < shapeCount; index += 1) {
    if (isOf(shapes[index]!.names, object)) return index;
  }
  return -1;
}

/** Packs the names of an object. The next object of that shape has only the shape's id. */
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
    // As a map, it would begin with three bytes and repeat the names.
    plainLess -= 2 + shapes[known]!.bytes;
  }
  for (const name in object) {
    if (!packValue((object as Readonly<Record<string, unknown>>)[name], depth)) return false;
  }
  return true;
}

/**
 * Packs a record, or a single number, into PACKED from a position on. The next call overwrites it.
 * @returns the position of its end; -1 if it is left to msgpackr
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

/** Length of a record with maps instead of shapes; -1 if msgpackr has to tell. */
export function plainBytes(record: unknown): number {
  return plainLength(packSmall(record, 0), 0);
}

/** That length for the record packed last. @param end what `packSmall` returned */
export function plainLength(end: number, from: number): number {
  return end < 0 ? end : end - from - plainLess;
}
