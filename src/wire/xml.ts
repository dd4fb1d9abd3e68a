/**
 * Prints wire trees as XML: an element per member in the same order, a list as repeated elements
 * of its name, null and empty text as an empty element.
 */
import { isDecimal, isList, type WireObject, type WireValue } from './tree.js';

const SPECIAL = /[&<>\r\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;
const MARKUP = /[&<>\r]/g;
/** What XML 1.0 cannot carry, even escaped: controls, lone surrogates and two noncharacters. */
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
};

/** Escapes text content. */
export function xmlText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replace(ILLEGAL, '\ufffd').replace(MARKUP, (mark) => ENTITIES[mark] ?? mark);
}

/** One element. */
export function xmlElement(name: string, value: WireValue): string {
  if (value === null || value === '') return `<${name}></${name}>`;
  if (typeof value === 'string') return `<${name}>${xmlText(value)}</${name}>`;
  if (typeof value !== 'object') return `<${name}>${value}</${name}>`;
  if (isDecimal(value)) return `<${name}>${value.decimal}</${name}>`;
  if (!isList(value)) return `<${name}>${xmlMembers(value)}</${name}>`;
  return value.map((item) => xmlElement(name, item)).join('');
}

/** The elements of an object's members. */
export function xmlMembers(object: WireObject): string {
  let text = '';
  for (const name in object) text += xmlElement(name, object[name] ?? null);
  return text;
}
