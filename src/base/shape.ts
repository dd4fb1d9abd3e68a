/**
 * The shape of a body, declared once. Its TypeScript type (`Of`), its check (`checkOf`), its reader
 * (`readerOf`) and its JSON Schema (`schema`) all follow from that declaration.
 */
import {
  about,
  BOOLEAN,
  list as listSchema,
  object as objectSchema,
  oneOf,
  type Schema,
} from './json-schema.js';
import { MISFIT } from './json-cursor.js';
import { UUID } from './uuid.js';
import {
  readsFlag,
  readsList,
  readsNothing,
  readsNumber,
  readsObject,
  readsOptional,
  readsText,
  readWhole,
  type NumberLimits,
  type Reader,
} from './shape-reader.js';
import {
  type Check,
  compileRule,
  keepsLength,
  type ListLimits,
  listRule,
  type OwnCheck,
  ownRule,
  type Rule,
  strangers,
  textCheck,
} from './validator.js';

declare const TYPE: unique symbol;

/** A declared shape of values of type `T`. */
export interface Shape<T> {
  /** Makes a new rule for each use, since the library loses parts of a rule that it meets twice. */
  readonly rule: () => Rule;
  /** Returns the reader of texts of this shape. */
  readonly read: Reader;
  readonly schema: Schema;
  readonly optional: boolean;
  readonly [TYPE]?: T;
}

/** A member that may be absent or null, which mean the same. */
interface OptionalShape<T> extends Shape<T> {
  readonly optional: true;
}

/** The type of the values of a shape. */
export type Of<S> = S extends Shape<infer T> ? T : never;

/** Members of an object by their names. */
export type Members = Readonly<Record<string, Shape<unknown>>>;

type NeededNames<M extends Members> = {
  [Name in keyof M]: M[Name] extends OptionalShape<unknown> ? never : Name;
}[keyof M];

type ObjectOf<M extends Members> = { readonly [Name in NeededNames<M>]: Of<M[Name]> } & {
  readonly [Name in Exclude<keyof M, NeededNames<M>>]?: Of<M[Name]> | null;
};

function shape<T>(rule: () => Rule, read: Reader, schema: Schema): Shape<T> {
  return { rule, read, schema, optional: false };
}

/** Text that is valid when a check of our own has no finding. */
function own<T extends string>(check: OwnCheck, schema: Schema): Shape<T> {
  return shape(() => ownRule(check), readsText(check), schema);
}

/** Adds a sentence that describes the values to the schema of a shape. */
export function told<S extends Shape<unknown>>(described: S, description: string): S {
  return { ...described, schema: about(described.schema, description) };
}

/** Adds keywords to the schema of a shape, for rules that a later step checks. */
export function stated<S extends Shape<unknown>>(checked: S, keywords: Schema): S {
  return { ...checked, schema: { ...checked.schema, ...keywords } };
}

/** The same schema with null allowed. */
function orNull(schema: Schema): Schema {
  const { type, enum: values, ...rest } = schema;
  if (typeof type !== 'string') {
    const kinds = Array.isArray(rest['anyOf']) ? rest['anyOf'] : [schema];
    return { ...rest, anyOf: [...kinds, { type: 'null' }] };
  }
  return {
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
    ...rest,
  };
}

/** A member that may be absent or null. */
export function optional<T>({ rule, read, schema }: Shape<T>): OptionalShape<T> {
  const open = Object.keys(schema).every((keyword) => keyword === 'description');
  return {
    rule: () => ({ ...rule(), optional: true, nullable: true }),
    read: readsOptional(read),
    schema: open ? schema : orNull(schema),
    optional: true,
  };
}

/** Excludes line breaks, other control characters and halves of surrogate pairs. */
const PLAIN = /^[^\p{Cc}\p{Cs}]*$/u;
const ASCII = /^[ -~]*$/;
const FIELD = /^([!-~]([ -~]*[!-~])?)?$/;

function lengths(min: number, max: number): Schema {
  return { type: 'string', minLength: min, ...(max === Infinity ? {} : { maxLength: max }) };
}

type Fault = (text: string) => string | null;

/** Text of `min` to `max` characters without a fault. */
function sized(min: number, max: number, schema: Schema, fault: Fault): Shape<string> {
  return own(
    textCheck((value, found) => (keepsLength(value, min, max, found) ? fault(value) : null)),
    schema,
  );
}

/** Any text of `min` to `max` characters; one above U+FFFF counts once. */
export function anyText(min = 0, max = Infinity): Shape<string> {
  const schema = min === 0 && max === Infinity ? { type: 'string' } : lengths(min, max);
  return sized(min, max, schema, () => null);
}

const plainFault: Fault = (value) => (PLAIN.test(value) ? null : 'plainText');

/** Text of `min` to `max` characters without control characters. */
export function text(min: number, max: number): Shape<string> {
  return sized(min, max, lengths(min, max), plainFault);
}

/** As `text`, for a part of a path, in which "." and ".." would lead elsewhere. */
export function pathText(min: number, max: number): Shape<string> {
  const part = /[^.]|\.{3}/;
  const schema = { ...lengths(min, max), pattern: part.source };
  return sized(min, max, schema, (value) => (part.test(value) ? plainFault(value) : 'pathText'));
}

/** Text of `min` to `max` printable ASCII characters, in a header field: no outer blanks. */
export function asciiText(min: number, max: number): Shape<string> {
  const schema = { ...lengths(min, max), pattern: FIELD.source };
  const ends: Fault = (value) => (FIELD.test(value) ? null : 'outerBlank');
  const other: Fault = (value) => (ASCII.test(value) ? ends(value) : 'asciiText');
  return sized(min, max, schema, (value) => plainFault(value) ?? other(value));
}

/** An id of this service. */
export function uuid(): Shape<string> {
  return own(
    textCheck((value) => (UUID.test(value) ? null : 'uuid')),
    { type: 'string', format: 'uuid' },
  );
}

/** Text of up to `max` characters that `isValid` accepts; otherwise the error is `type`. */
export function textThat(
  isValid: (text: string) => boolean,
  type: string,
  schema: Schema,
  max = Infinity,
): Shape<string> {
  return sized(0, max, schema, (value) => (isValid(value) ? null : type));
}

/** One of several texts. */
export function choice<const T extends string>(values: readonly T[]): Shape<T> {
  const known: ReadonlySet<unknown> = new Set(values);
  return own((value, found) => {
    if (!known.has(value)) found.push({ type: 'choice', expected: values, actual: value });
    return value;
  }, oneOf(values));
}

/** true or false. */
export function flag(): Shape<boolean> {
  return shape(() => ({ type: 'boolean' }), readsFlag, BOOLEAN);
}

function numberSchema(type: string, { min, max, positive }: NumberLimits): Schema {
  return {
    type,
    ...(positive === true ? { exclusiveMinimum: 0 } : {}),
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  };
}

/** A finite number. */
export function number(limits: NumberLimits = {}): Shape<number> {
  return shape(
    () => ({ type: 'number', ...limits }),
    readsNumber(limits, false),
    numberSchema('number', limits),
  );
}

/** A whole number. */
export function whole(limits: NumberLimits = {}): Shape<number> {
  return shape(
    () => ({ type: 'number', integer: true, ...limits }),
    readsNumber(limits, true),
    numberSchema('integer', limits),
  );
}

/** A list of values of one shape. */
export function list<T>(item: Shape<T>, limits: ListLimits = {}): Shape<readonly T[]> {
  const { min, max } = limits;
  return shape(() => listRule(item.rule(), limits), readsList(item.read, limits), {
    ...listSchema(item.schema),
    ...(min === undefined ? {} : { minItems: min }),
    ...(max === undefined ? {} : { maxItems: max }),
  });
}

/** Any value; its meaning is checked elsewhere. */
export function anything(): Shape<unknown> {
  return shape(() => ({ type: 'any' }), readsNothing, {});
}

/**
 * One text, or a list of them. What is no list is reported as if only the single text were allowed.
 */
export function oneOrList<T>(one: Shape<T>, limits: ListLimits = {}): Shape<T | readonly T[]> {
  const several = list(one, limits);
  const rule = (): Rule => {
    const [alone, listed] = [one, several].map((each) => each.rule().check as OwnCheck);
    return ownRule((value, found) => (Array.isArray(value) ? listed : alone)!(value, found));
  };
  return shape(rule, readsNothing, { anyOf: [one.schema, several.schema] });
}

function propertiesOf(members: Members): Schema {
  const required: Record<string, Schema> = {};
  const others: Record<string, Schema> = {};
  for (const [name, { schema, optional: isOptional }] of Object.entries(members)) {
    (isOptional ? others : required)[name] = schema;
  }
  return objectSchema(required, others);
}

function rulesOf(members: Members): Readonly<Record<string, Rule>> {
  return Object.fromEntries(Object.entries(members).map(([name, { rule }]) => [name, rule()]));
}

/** Any object. */
export function object(): Shape<object> {
  return shape(() => ({ type: 'object' }), readsNothing, { type: 'object' });
}

/** An object that may have further members, which are ignored. */
export function open<M extends Members>(members: M): Shape<ObjectOf<M>> {
  return shape(
    () => ({ type: 'object', props: rulesOf(members) }),
    readsObject(members, true),
    propertiesOf(members),
  );
}

/** An object of these members and no others. */
export function closed<M extends Members>(members: M): Shape<ObjectOf<M>> {
  const schema = propertiesOf(members);
  const known = new Set(Object.keys(schema['properties'] as Schema));
  return shape(
    () => ({ type: 'object', props: rulesOf(members), custom: strangers(known) }),
    readsObject(members, false),
    { ...schema, additionalProperties: false },
  );
}

/**
 * The reader of a shape. It returns the value of a JSON text, with undefined for absent members;
 * null for a text of another shape, and for some unusual spellings (escapes, exponents).
 */
export function readerOf<T>({ read }: Shape<T>): (bytes: Uint8Array) => T | null {
  return (bytes) => {
    const value = readWhole(read(), bytes);
    return value === MISFIT ? null : (value as T);
  };
}

export function checkOf(shape: Shape<unknown>): Check {
  return compileRule(shape.rule());
}
