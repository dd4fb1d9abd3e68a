/**
 * Reads a JSON text that has a shape in one pass over its bytes: what is parsed is checked at once,
 * and nothing is made of it but the value. A text that has not the shape, or has it in an unusual
 * spelling, is not read here: `JSON.parse` and the check of the shape say what there is to it.
 *
 * Readers are functions whose code is written for their shape: each calls those of its members by
 * name, so that V8 inlines them, and all objects of a shape are laid out alike. The code holds
 * names and limits of the shape, and nothing of any body.
 */
import { JsonCursor, memberNames, MISFIT, OTHER_NAME } from './json-cursor.js';
import type { Finding, ListLimits, OwnCheck } from './validator.js';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Reads a value that has a shape; MISFIT for any other. */
export type ReadValue = (cursor: JsonCursor) => unknown;

/** Gives the reader of a shape, which is made when it is first needed: most shapes never are. */
export type Reader = () => ReadValue;

/** A reader that is made once. */
export function once(make: Reader): Reader {
  let read: ReadValue | null = null;
  return () => (read ??= make());
}

/** What `code` returns, for which the names of `parts` stand for what they are. */
function compiled(code: string, parts: Readonly<Record<string, unknown>>): ReadValue {
  const make = new Function('MISFIT', ...Object.keys(parts), code) as (
    ...values: readonly unknown[]
  ) => ReadValue;
  return make(MISFIT, ...Object.values(parts));
}

/** Reads nothing: the shape is not one for this. */
export const readsNothing: Reader = () => () => MISFIT;

/** What checks found last; empty again whenever a value is taken for a misfit. */
const found: Finding[] = [];

/** Reads text that a check finds nothing about. */
export function readsText(check: OwnCheck): Reader {
  const code =
    'return (cursor) => {' +
    'const text = cursor.string();' +
    'if (text === MISFIT) return MISFIT;' +
    'check(text, found);' +
    'if (found.length === 0) return text;' +
    'found.length = 0;' +
    'return MISFIT;' +
    '};';
  return once(() => compiled(code, { check, found }));
}

export const readsFlag: Reader = () => (cursor) => cursor.boolean();

/** Limits of a number. */
export interface NumberLimits {
  readonly min?: number;
  readonly max?: number;
  /** Only numbers above zero. */
  readonly positive?: boolean;
}

/** Reads a number within limits. */
export function readsNumber(
  { min = -Infinity, max = Infinity, positive = false }: NumberLimits,
  isWhole: boolean,
): Reader {
  const misfits = [
    'value === MISFIT',
    ...(min === -Infinity ? [] : ['value < min']),
    ...(max === Infinity ? [] : ['value > max']),
    ...(positive ? ['value === 0'] : []),
    ...(isWhole ? ['!Number.isInteger(value)'] : []),
  ];
  const code =
    'return (cursor) => {' +
    'const value = cursor.number();' +
    `return ${misfits.join(' || ')} ? MISFIT : value;` +
    '};';
  return once(() => compiled(code, { min, max }));
}

/** Reads null or what `read` does. */
export function readsOptional(read: Reader): Reader {
  const code = 'return (cursor) => cursor.takesNull() ? null : read(cursor);';
  return once(() => compiled(code, { read: read() }));
}

/** Reads a list of what `read` does. */
export function readsList(read: Reader, { min = 0, max = Infinity }: ListLimits): Reader {
  const code =
    'return (cursor) => {' +
    `if (!cursor.takes(${OPEN_BRACKET})) return MISFIT;` +
    'const values = [];' +
    `let more = !cursor.takes(${CLOSE_BRACKET});` +
    'while (more === true) {' +
    'if (values.length >= max) return MISFIT;' +
    'const value = read(cursor);' +
    'if (value === MISFIT) return MISFIT;' +
    'values.push(value);' +
    `more = cursor.goesOn(${CLOSE_BRACKET});` +
    '}' +
    'return more !== false || values.length < min ? MISFIT : values;' +
    '};';
  return once(() => compiled(code, { read: read(), min, max }));
}

/** A member of an object that is read. */
interface ReadMember {
  readonly read: Reader;
  readonly optional: boolean;
}

/** Most members of an object: there is a bit for each that was met. */
const MEMBERS_MAX = 31;

/** Takes the value of the member at a place of the names. */
function memberCode(at: number): string {
  const bit = 1 << at;
  return (
    `case ${at}:` +
    `if ((met & ${bit}) !== 0) return MISFIT;` +
    `value${at} = read${at}(cursor);` +
    `if (value${at} === MISFIT) return MISFIT;` +
    `met |= ${bit};` +
    'break;'
  );
}

function objectCode(names: readonly string[], needed: number, isOpen: boolean): string {
  const places = names.map((_, at) => at);
  return (
    'return (cursor) => {' +
    `if (!cursor.takes(${OPEN_BRACE})) return MISFIT;` +
    `let met = 0, which = -1${places.map((at) => `, value${at}`).join('')};` +
    `let more = !cursor.takes(${CLOSE_BRACE});` +
    'while (more === true) {' +
    // Members mostly come in the order that they are documented in.
    `which = cursor.name(names, which < ${names.length - 1} ? which + 1 : 0);` +
    `switch (which) {${places.map(memberCode).join('')}` +
    `case ${OTHER_NAME}:${isOpen ? 'if (cursor.passes()) break;' : ''}` +
    'default: return MISFIT;' +
    '}' +
    `more = cursor.goesOn(${CLOSE_BRACE});` +
    '}' +
    `if (more !== false || (met & ${needed}) !== ${needed}) return MISFIT;` +
    `return {${names.map((name, at) => `${JSON.stringify(name)}: value${at}`).join()}};` +
    '};'
  );
}

/**
 * Reads an object of members; what is absent is undefined. Members that are not named are passed
 * over where it is open.
 */
export function readsObject(
  members: Readonly<Record<string, ReadMember>>,
  isOpen: boolean,
): Reader {
  return once(() => {
    const names = Object.keys(members);
    if (names.length > MEMBERS_MAX) throw new RangeError(`an object of ${names.length} members`);
    const all = Object.values(members);
    const needed = all.reduce((bits, { optional }, at) => (optional ? bits : bits | (1 << at)), 0);
    const reads = all.map(({ read }, at) => [`read${at}`, read()] as const);
    return compiled(objectCode(names, needed, isOpen), {
      names: memberNames(names),
      ...Object.fromEntries(reads),
    });
  });
}

/** Reading one text is over before the next one is begun. */
const shared = new JsonCursor();

/** Reads the one value of a text; MISFIT where anything else stands there. */
export function readWhole(read: ReadValue, bytes: Uint8Array): unknown {
  shared.begin(bytes);
  const value = read(shared);
  return shared.end() ? value : MISFIT;
}
