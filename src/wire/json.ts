/** Prints wire trees as JSON without white space. */
import { isDecimal, isList, type WireObject, type WireValue } from './tree.js';

/** What JSON escapes; lone surrogates are among them, so that bodies are always valid UTF-8. */
const ESCAPED = /["\\\0-\x1f\ud800-\udfff]/;

/** Members of an object without its braces. */
export function jsonMembers(object: WireObject): string {
  let text = '';
  for (const name in object) {
    if (text !== '') text += ',';
    text += `"${name}":${jsonValue(object[name] ?? null)}`;
  }
  return text;
}

/** One value. */
export function jsonValue(value: WireValue): string {
  if (typeof value === 'string') return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (isDecimal(value)) return value.decimal;
  if (!isList(value)) return `{${jsonMembers(value)}}`;
  return `[${value.map((item) => jsonValue(item)).join(',')}]`;
}
