/**
 * Reads a JSON text of a shape in one pass over its bytes: values are checked as they are parsed,
 * and nothing but the value is built. A text that has another shape, or an unusual spelling, is not
 * read here; `JSON.parse` and the check of the shape then find out what is wrong with it.
 *
 * A reader is a function whose code is generated for its shape: it calls the readers of its members
 * by name, so that V8 inlines them, and all objects of a shape have the same layout. The code
 * contains names and limits of the shape, and nothing of any body.
 */
import { JsonCursor, memberNames, MISFIT, OTHER_NAME } from './json-cursor.js';
import type { Finding, ListLimits, OwnCheck } from './validator.js';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Reads a value of a shape; MISFIT for any other. */
export type ReadValue = (cursor: JsonCursor) => unknown;

/**
 * Returns the reader of a shape. It is made when it is first needed, since most shapes are never
 * read.
 */
export type Reader = () => ReadValue;

/** Makes a reader at its first use, and keeps it. */
export function once(make: Reader): Reader {
  let read: ReadValue | null = null;
  return () => (read ??= make());
}

/** The function that `code` returns; the code refers to `parts` by their names. */
function compiled(code: string, parts: Readonly<Record<string, unknown>>): ReadValue {
  const make = new Function('MISFIT', ...Object.keys(parts), code) as (
    ...values: readonly unknown[]
  ) => ReadValue;
  return make(MISFIT, ...Object.values(parts));
}

/** The reader of a shape that is always left to `JSON.parse`. */
export const readsNothing: Reader = () => () => MISFIT;

/** Findings of the last check. Emptied whenever they make a value a misfit. */
const found: Finding[] = [];

/** Reads a text that a check has no finding about. */
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
  /** Whether only numbers above zero are allowed. */
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

/** Reads null, or what `read` reads. */
export function readsOptional(read: Reader): Reader {
  const code = 'return (cursor) => cursor.takesNull() ? null : read(cursor);';
  return once(() => compiled(code, { read: read() }));
}

/** Reads a list of what `read` reads. */
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

/** A member of an object, as its reader needs it. */
interface ReadMember {
  readonly read: Reader;
  readonly optional: boolean;
}

/** Most members of an object, because a number of bits marks those that were met. */
const MEMBERS_MAX = 31;

/** The code that reads the member at an index of the names. */
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
    // Members mostly come in the order of the documentation.
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
 * Reads an object; an absent member becomes undefined. Members that the shape does not name are
 * skipped where it is open.
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

/** One cursor suffices, since a text is read to its end before the next one begins. */
const shared = new JsonCursor();

/** Reads a text that is one value; MISFIT for anything else. */
export function readWhole(read: ReadValue, bytes: Uint8Array): unknown {
  shared.begin(bytes);
  const value = read(shared);
  return shared.end() ? value : MISFIT;
}
