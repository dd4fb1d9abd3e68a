/**
 * How deep a JSON text is nested and how many values it has, told before it is parsed: the parser
 * takes seconds for megabytes of brackets, and everyone waits meanwhile.
 */

/** Levels of lists and objects in any text that is parsed; what is documented has less than ten. */
export const JSON_DEPTH_MAX = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * What a text has more of than it may: levels than JSON_DEPTH_MAX, or values than `valuesMax`. Of
 * bytes that are no JSON, any answer.
 */
export function excessOf(
  bytes: Uint8Array, valuesMax: number = Infinity,
): 'levels' | 'values' | null {
  let depth = 0;
  // Every value but the outermost follows a comma or the beginning of its list or object.
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at += 1;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      values += 1;
      if (depth > JSON_DEPTH_MAX) return 'levels';
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > valuesMax) return 'values';
  }
  return null;
}

/** Whether a text has more than JSON_DEPTH_MAX levels. Of bytes that are no JSON, any answer. */
export function isTooDeep(bytes: Uint8Array): boolean {
  return excessOf(bytes) === 'levels';
}
