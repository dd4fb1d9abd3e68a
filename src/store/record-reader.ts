/**
 * Shapes of records. Each is declared once, as a list of members from which both its type and its
 * reader follow. A record may have been written by an earlier version of the program.
 */
import { isObject, type JsonObject } from '../base/json-object.js';

/** Changes the members of one version of a record into those of the next. */
type RecordStep = (fields: JsonObject) => JsonObject;

/** A step between versions that differ only in possible values of a member. */
export const AS_IT_IS: RecordStep = (fields) => fields;

/**
 * The error for a record that cannot be read: the store is damaged, or a newer program wrote it.
 */
export function damaged(kind: string): Error {
  return new Error(`damaged ${kind} record in the store`);
}

/**
 * The members of a record in the newest version of its shape. `steps[0]` leads from version 1 to 2
 * and so on.
 * @throws Error when it is no record, or its version is not known here.
 */
function upgraded(value: unknown, kind: string, steps: readonly RecordStep[] = []): JsonObject {
  if (!isObject(value)) throw damaged(kind);
  const { v } = value;
  if (typeof v !== 'number' || !Number.isInteger(v) || v < 1) throw damaged(kind);
  if (v > steps.length + 1) {
    throw new Error(`a ${kind} record of version ${v}: written by a newer version of Situs`);
  }
  let fields: JsonObject = value;
  for (const step of steps.slice(v - 1)) fields = step(fields);
  return fields;
}

/**
 * Reads a member of a record; `kind` names the record in errors.
 * @throws Error when the member has another type.
 */
type Reader<T> = (value: unknown, kind: string) => T;

/** Reads a member that may be absent; if so, the result lacks it too. */
interface OptionalReader<T> extends Reader<T> {
  readonly optional: true;
}

/** Members of a record, by name. */
type Members = Readonly<Record<string, Reader<unknown>>>;

type ReadBy<R> = R extends Reader<infer T> ? T : never;

type NeededNames<M extends Members> = {
  [Name in keyof M]: M[Name] extends OptionalReader<unknown> ? never : Name;
}[keyof M];

export type MembersRead<M extends Members> = {
  readonly [Name in NeededNames<M>]: ReadBy<M[Name]>;
} & { readonly [Name in Exclude<keyof M, NeededNames<M>>]?: ReadBy<M[Name]> };

/** A member whose values are those that `isRight` accepts. */
export function member<T>(isRight: (value: unknown) => value is T): Reader<T> {
  return (value, kind) => {
    if (!isRight(value)) throw damaged(kind);
    return value;
  };
}

export const text = member((value): value is string => typeof value === 'string');
export const number = member((value): value is number => typeof value === 'number');
export const flag = member((value): value is boolean => typeof value === 'boolean');

/** A member with one of several values. */
export function choice<const T>(values: readonly T[]): Reader<T> {
  return member((value): value is T => (values as readonly unknown[]).includes(value));
}

/** A member that may be null. */
export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value, kind) => (value === null ? null : read(value, kind));
}

/** A member that older records lack; `before` is its value for these. */
export function since<T>(read: Reader<T>, before: T): Reader<T> {
  return (value, kind) => (value === undefined ? before : read(value, kind));
}

/** A member that may be absent. */
export function optional<T>(read: Reader<T>): OptionalReader<T> {
  return Object.assign<Reader<T>, { readonly optional: true }>((value, kind) => read(value, kind), {
    optional: true,
  });
}

/** Reads members into an object that already has some. */
function reading<M extends Members>(
  shape: M,
): (begun: Record<string, unknown>, fields: JsonObject, kind: string) => MembersRead<M> {
  const each = Object.entries(shape).map(([name, read]) => ({
    name,
    read,
    mayLack: 'optional' in read,
  }));
  return (begun, fields, kind) => {
    for (const { name, read, mayLack } of each) {
      const value = fields[name];
      if (value !== undefined || !mayLack) begun[name] = read(value, kind);
    }
    return begun as MembersRead<M>;
  };
}

/** A member that is an object with these members; others are left out. */
export function members<M extends Members>(shape: M): Reader<MembersRead<M>> {
  const read = reading(shape);
  return (value, kind) => {
    if (!isObject(value)) throw damaged(kind);
    return read({}, value, kind);
  };
}

/**
 * Makes the reader of a record; the reader's result is the record's type. It throws an error where
 * the record has another shape: the store is damaged, or a newer program wrote it.
 */
export function recordReader<const V extends number, M extends Members>(
  kind: string,
  v: V,
  shape: M,
  steps: readonly RecordStep[] = [],
): (value: unknown) => { readonly v: V } & MembersRead<M> {
  const read = reading(shape);
  return (value) =>
    read({ v }, upgraded(value, kind, steps), kind) as { readonly v: V } & MembersRead<M>;
}
