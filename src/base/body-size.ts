/**
 * Computes the most bytes that a body of a shape can have, so that no route accepts more than its
 * shape needs.
 */
import { isObject, type JsonObject } from './json-object.js';
import type { Shape } from './shape.js';

/** A JSON text may write a character above U+FFFF as two escapes. */
const CHARACTER_BYTES = 12;
const UUID_CHARS = 36;
/** Bytes of an ASCII character that is written as an escape. */
const ESCAPE_BYTES = 6;
/** Longer than any number whose digits all make a difference. */
const NUMBER_BYTES = 64;
const FALSE_BYTES = 5;
/** Allows blanks and line ends of a third of the other bytes. */
const BLANKS = 4 / 3;

/** Every operation accepts bodies of this size at least. */
export const BODY_BYTES_MIN = 4_096;

/** Most bytes of a text, with its quotes. */
function textBytes({ enum: values, format, maxLength }: JsonObject): number {
  if (Array.isArray(values)) {
    return 2 + ESCAPE_BYTES * Math.max(...values.map((value) => String(value).length));
  }
  if (format === 'uuid') return 2 + ESCAPE_BYTES * UUID_CHARS;
  return typeof maxLength === 'number' ? 2 + CHARACTER_BYTES * maxLength : Infinity;
}

function objectBytes({ properties }: JsonObject): number {
  if (!isObject(properties)) return Infinity;
  // Four bytes beside each name: two quotes, a colon and a comma.
  return Object.entries(properties).reduce(
    (sum, [name, schema]) =>
      sum + Buffer.byteLength(name) + 4 + (isObject(schema) ? longest(schema) : Infinity),
    2,
  );
}

/**
 * Most bytes of a value that the schema describes, without blanks; Infinity where it has no limit.
 */
function longest(schema: JsonObject): number {
  const { type, anyOf, items, maxItems } = schema;
  if (Array.isArray(anyOf)) {
    return Math.max(...anyOf.map((each) => (isObject(each) ? longest(each) : Infinity)));
  }
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return textBytes(schema);
    case 'number':
    case 'integer':
      return NUMBER_BYTES;
    case 'boolean':
    case 'null':
      return FALSE_BYTES;
    case 'array':
      return typeof maxItems === 'number' && isObject(items)
        ? 2 + maxItems * (1 + longest(items))
        : Infinity;
    case 'object':
      return objectBytes(schema);
    default:
      return Infinity;
  }
}

/**
 * The most bytes of a body that a route accepts: enough for the longest value of the shape in its
 * longest spelling, rounded up to a power of two, from `min` to `max`. Rounding up also leaves some
 * room for members that the schema does not describe.
 */
export function bodyBytesMax(
  { schema }: Shape<unknown>,
  max: number,
  min: number = BODY_BYTES_MIN,
): number {
  const needed = BLANKS * longest(schema);
  return needed > max ? max : Math.max(min, 2 ** Math.ceil(Math.log2(needed)));
}
