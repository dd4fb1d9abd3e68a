/** How long a body of a shape is at most, so that no route takes more than its shape needs. */
import { isObject, type JsonObject } from './json-object.js';
import type { Shape } from './shape.js';

/** A character above U+FFFF may be written as two escapes. */
const CHARACTER_BYTES = 12;
const UUID_CHARS = 36;
/** Of ASCII. */
const ESCAPE_BYTES = 6;
/** More than the digits of any amount that is told apart. */
const NUMBER_BYTES = 64;
const FALSE_BYTES = 5;
/** For blanks and line ends a third of the rest. */
const BLANKS = 4 / 3;

/** Every operation takes as much. */
export const BODY_BYTES_MIN = 4_096;

/** Bytes between two quotes, those included. */
function textBytes({ enum: values, format, maxLength }: JsonObject): number {
  if (Array.isArray(values)) {
    return 2 + ESCAPE_BYTES * Math.max(...values.map((value) => String(value).length));
  }
  if (format === 'uuid') return 2 + ESCAPE_BYTES * UUID_CHARS;
  return typeof maxLength === 'number' ? 2 + CHARACTER_BYTES * maxLength : Infinity;
}

function objectBytes({ properties }: JsonObject): number {
  if (!isObject(properties)) return Infinity;
  // Quotes, colon and comma beside the name.
  return Object.entries(properties).reduce(
    (sum, [name, schema]) =>
      sum + Buffer.byteLength(name) + 4 + (isObject(schema) ? longest(schema) : Infinity),
    2,
  );
}

/** Bytes of the longest documented value, without blanks; Infinity where it has no limit. */
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
 * What a route takes of a body of a shape: room for the longest one in its longest spelling, as a
 * power of two, from `min` to `max` bytes. Members that are not described have the room that is
 * left.
 */
export function bodyBytesMax(
  { schema }: Shape<unknown>,
  max: number,
  min: number = BODY_BYTES_MIN,
): number {
  const needed = BLANKS * longest(schema);
  return needed > max ? max : Math.max(min, 2 ** Math.ceil(Math.log2(needed)));
}
