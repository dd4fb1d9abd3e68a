/**
 * Packs small records of plain values, as most of the store's are, byte for byte as msgpackr does,
 * which takes several times as long: it learns the shape of every record anew. Others are left to
 * it.
 */

/** Longest text that is copied here; longer ones the system copies faster. */
const TEXT_CHARS_MAX = 255;
/** Bytes of a value, as those of a sealed secret. */
const BYTES_MAX = 4_096;
/** Members of a record, or elements of a list. */
const MEMBERS_MAX = 15;
const PACKED_BYTES = 1 << 18;
/** What was packed last. */
export const PACKED = Buffer.allocUnsafeSlow(PACKED_BYTES);
/** From here on no further value is begun: an object begins with its names. */
const FULL = PACKED_BYTES - 2 * MEMBERS_MAX * TEXT_CHARS_MAX;

/** Ids of the shapes of a record and of the object in it. */
const SHAPE_ID = 0x40;
const INNER_ID = 0x41;

let at = 0;
/** Bytes fewer where shapes are not told apart from maps, as shares count them. */
let plainLess = 0;
/** Names of the object in the record, of which it may have several; their number is -1 before. */
const innerNames: string[] = [];
let innerCount = -1;
let innerNameBytes = 0;

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

/** False where it is none of the plain ones; objects in the record itself have the same names. */
function packValue(value: unknown, depth: number): boolean {
  if (at > FULL) return false;
  switch (typeof value) {
    case 'string':
      return packText(value);
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
      return depth === 0 && packInner(value);
    default:
      return false;
  }
}

function packInner(value: object): boolean {
  if (!Array.isArray(value)) {
    return innerCount < 0 ? packObject(value, INNER_ID, 1) : packAlike(value);
  }
  if (value.length > MEMBERS_MAX) return false;
  PACKED[at++] = 0x90 + value.length;
  for (const each of value) if (!packValue(each, 1)) return false;
  return true;
}

/** A further object of the names that one in the record had, which its id stands for. */
function packAlike(object: object): boolean {
  if (object.constructor !== Object) return false;
  let count = 0;
  for (const name in object) {
    if (innerNames[count] !== name) return false;
    count += 1;
  }
  if (count !== innerCount) return false;
  PACKED[at++] = INNER_ID;
  // A map begins with three bytes and has its names.
  plainLess -= 2 + innerNameBytes;
  for (const name in object) {
    if (!packValue((object as Readonly<Record<string, unknown>>)[name], 1)) return false;
  }
  return true;
}

function packObject(object: object, id: number, depth: number): boolean {
  if (object.constructor !== Object) return false;
  PACKED[at++] = 0xd4;
  PACKED[at++] = 0x72;
  PACKED[at++] = id;
  const countAt = at;
  at += 1;
  plainLess += 1;
  let count = 0;
  for (const name in object) {
    count += 1;
    if (count > MEMBERS_MAX || !packText(name)) return false;
    if (depth === 1) innerNames[count - 1] = name;
  }
  PACKED[countAt] = 0x90 + count;
  if (depth === 1) {
    innerCount = innerNames.length = count;
    innerNameBytes = at - countAt - 1;
  }
  for (const name in object) {
    if (!packValue((object as Readonly<Record<string, unknown>>)[name], depth)) return false;
  }
  return true;
}

/**
 * Packs a record into a memory that the next one takes, from some byte on.
 * @returns where it ends; -1 where it is left to msgpackr
 */
export function packSmall(record: unknown, from: number): number {
  at = from;
  plainLess = 0;
  innerCount = -1;
  const isPacked = typeof record === 'object' && record !== null && packObject(record, SHAPE_ID, 0);
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
