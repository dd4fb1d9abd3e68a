/**
 * Reads a JSON text that has a shape in one pass over its bytes: what is parsed is checked at once,
 * and nothing is made of it but the value. A text that has not the shape, or has it in an unusual
 * spelling, is not read here: `JSON.parse` and the check of the shape say what there is to it.
 */
import { JsonCursor, MISFIT, NO_NAME, OTHER_NAME, type Misfit } from './json-cursor.js';
import type { Finding, ListLimits, OwnCheck } from './validator.js';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Reads a value that has a shape; MISFIT for any other. */
export type ReadValue = (cursor: JsonCursor) => unknown;

/** Reads nothing: the shape is not one for this. */
export const readsNothing: ReadValue = () => MISFIT;

/** What checks found last; empty again whenever a value is taken for a misfit. */
const found: Finding[] = [];

/** Reads text that a check finds nothing about. */
export function readsText(check: OwnCheck): ReadValue {
  return (cursor) => {
    const text = cursor.string();
    if (text === MISFIT) return MISFIT;
    check(text, found);
    if (found.length === 0) return text;
    found.length = 0;
    return MISFIT;
  };
}

export const readsFlag: ReadValue = (cursor) => cursor.boolean();

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
): ReadValue {
  return (cursor) => {
    const value = cursor.number();
    if (value === MISFIT || value < min || value > max) return MISFIT;
    if ((positive && value === 0) || (isWhole && !Number.isInteger(value))) return MISFIT;
    return value;
  };
}

/** Reads null or what `read` does. */
export function readsOptional(read: ReadValue): ReadValue {
  return (cursor) => (cursor.takesNull() ? null : read(cursor));
}

/** Reads a list of what `read` does. */
export function readsList(read: ReadValue, { min = 0, max = Infinity }: ListLimits): ReadValue {
  return (cursor) => {
    if (!cursor.takes(OPEN_BRACKET)) return MISFIT;
    const values: unknown[] = [];
    let more: boolean | Misfit = !cursor.takes(CLOSE_BRACKET);
    while (more === true) {
      const value = values.length < max ? read(cursor) : MISFIT;
      if (value === MISFIT) return MISFIT;
      values.push(value);
      more = cursor.goesOn(CLOSE_BRACKET);
    }
    return more === MISFIT || values.length < min ? MISFIT : values;
  };
}

/** A member of an object that is read. */
export interface ReadMember {
  readonly read: ReadValue;
  readonly optional: boolean;
}

/**
 * Makes objects of the values of their members, in the members' order. They are written down and
 * not set one by one: all objects of a shape are laid out alike, and are made in one step.
 */
function maker(names: readonly string[]): (values: readonly unknown[]) => object {
  const members = names.map((name, at) => `${JSON.stringify(name)}: values[${at}]`);
  return new Function('values', `return { ${members.join(', ')} };`) as (
    values: readonly unknown[],
  ) => object;
}

/** Most members of an object: there is a bit for each that was met. */
const MEMBERS_MAX = 31;

/** What is made of the members of an object when one is first read: most shapes never are. */
interface Plan {
  readonly names: readonly Uint8Array[];
  readonly reads: readonly ReadValue[];
  /** A bit for each member that must be there. */
  readonly needed: number;
  readonly absent: readonly unknown[];
  readonly make: (values: readonly unknown[]) => object;
}

function planOf(members: Readonly<Record<string, ReadMember>>): Plan {
  const names = Object.keys(members);
  if (names.length > MEMBERS_MAX) throw new RangeError(`an object of ${names.length} members`);
  return {
    names: names.map((name) => Buffer.from(name)),
    reads: Object.values(members).map(({ read }) => read),
    needed: Object.values(members).reduce(
      (bits, { optional }, at) => (optional ? bits : bits | (1 << at)),
      0,
    ),
    absent: names.map(() => undefined),
    make: maker(names),
  };
}

/**
 * Reads an object of members; what is absent is undefined. Members that are not named are passed
 * over where it is open.
 */
export function readsObject(
  members: Readonly<Record<string, ReadMember>>,
  isOpen: boolean,
): ReadValue {
  let plan: Plan | null = null;
  return (cursor) => {
    const { names, reads, needed, absent, make } = (plan ??= planOf(members));
    if (!cursor.takes(OPEN_BRACE)) return MISFIT;
    const values = absent.slice();
    let met = 0;
    let which = -1;
    let more: boolean | Misfit = !cursor.takes(CLOSE_BRACE);
    while (more === true) {
      // Members mostly come in the order that they are documented in.
      which = cursor.name(names, which + 1 < reads.length ? which + 1 : 0);
      if (which === NO_NAME) return MISFIT;
      if (which === OTHER_NAME) {
        if (!isOpen || !cursor.passes()) return MISFIT;
      } else {
        const value = (met & (1 << which)) === 0 ? reads[which]!(cursor) : MISFIT;
        if (value === MISFIT) return MISFIT;
        values[which] = value;
        met |= 1 << which;
      }
      more = cursor.goesOn(CLOSE_BRACE);
    }
    return more === MISFIT || (met & needed) !== needed ? MISFIT : make(values);
  };
}

/** Reading one text is over before the next one is begun. */
const shared = new JsonCursor();

/** Reads the one value of a text; MISFIT where anything else stands there. */
export function readWhole(read: ReadValue, bytes: Uint8Array): unknown {
  shared.begin(bytes);
  const value = read(shared);
  return shared.end() ? value : MISFIT;
}
