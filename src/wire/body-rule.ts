/** Rules that bodies of several families share, and the problem that breaking them is. */
import { isMailAddress } from './mail-address.js';
import { longerThan } from './parameter.js';
import { compileCheck, type BodyError } from './validation.js';

/** A refused body. Broken ids and JSON are 400, everything else about fields 422. */
export interface BodyProblem {
  readonly status: 400 | 422;
  readonly detail: string;
  readonly errors: readonly BodyError[];
}

export const VALIDATION_FAILED = 'validation failed';

/** Tells a problem from a body that was read. */
export function isBodyProblem(parsed: object): parsed is BodyProblem {
  return 'errors' in parsed && 'status' in parsed;
}

/** One field violation. */
export function violation(location: string, message: string, value?: unknown): BodyProblem {
  const error = value === undefined ? { location, message } : { location, message, value };
  return { status: 422, detail: VALIDATION_FAILED, errors: [error] };
}

type Schema = Parameters<typeof compileCheck>[0];

/** A rule of the validator; its keywords are the library's. */
export type FieldRule = Exclude<Schema[string], undefined>;

interface RuleError {
  readonly type: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

/** No line breaks, no other control characters, no halves of characters. */
const PLAIN = /^[^\p{Cc}\p{Cs}]*$/u;
const ASCII = /^[\x20-\x7e]*$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function rule(
  check: (text: string) => RuleError | null, more: Readonly<Record<string, unknown>>,
): FieldRule {
  return {
    type: 'string',
    custom: (value: unknown, errors: RuleError[]): unknown => {
      // The library tells itself of what is no text, or missing.
      const error = typeof value === 'string' ? check(value) : null;
      if (error !== null) errors.push({ actual: value, ...error });
      return value;
    },
    ...more,
  };
}

export interface TextOptions {
  readonly optional?: boolean;
  /** Printable ASCII only. */
  readonly ascii?: boolean;
}

/** Text of `min` to `max` characters, those above U+FFFF counted once. */
export function text(min: number, max: number, options: TextOptions = {}): FieldRule {
  const { optional = false, ascii = false } = options;
  return rule((value) => {
    if (value.length < min) return { type: 'stringMin', expected: min };
    if (longerThan(value, max)) return { type: 'stringMax', expected: max };
    if (!PLAIN.test(value)) return { type: 'plainText' };
    return ascii && !ASCII.test(value) ? { type: 'asciiText' } : null;
  }, { optional });
}

/** An e-mail address that a mail can be sent to; empty text stands for none. */
export function email(max: number): FieldRule {
  return rule((value) => {
    if (longerThan(value, max)) return { type: 'stringMax', expected: max };
    return value === '' || isMailAddress(value) ? null : { type: 'emailText' };
  }, { optional: true });
}

/**
 * An id of this service. A function like the other rules: where one object stands for two members
 * of a schema, the library forgets its `custom` the second time.
 */
export function id(): FieldRule {
  return rule((value) => (UUID.test(value) ? null : { type: 'uuid' }), {});
}

export function flag(): FieldRule {
  return { type: 'boolean', optional: true };
}

export interface BodyOptions {
  /** Members that are ids of this service. */
  readonly ids?: readonly string[];
  /** The body holds secrets: no value is told back. */
  readonly secret?: boolean;
}

export type Checked<T> = { readonly value: T } | BodyProblem;

function told(error: BodyError, secret: boolean): BodyError {
  const { location, message } = error;
  if (secret) return { location, message };
  return message === 'expected length >= 1' && error.value === undefined
    ? { location, message, value: '' } : error;
}

/**
 * Compiles the check of a body: what passes has the shape `T`, which must be that of the schema.
 * Members that the schema does not name are violations.
 */
export function bodyCheck<T>(
  schema: Readonly<Record<string, FieldRule>>, { ids = [], secret = false }: BodyOptions = {},
): (input: unknown) => Checked<T> {
  const check = compileCheck({ $$strict: true, ...schema });
  const idLocations = new Set(ids.map((name) => `body.${name}`));
  const passes = (errors: readonly BodyError[], _input: unknown): _input is T =>
    errors.length === 0;
  return (input) => {
    const errors = check(input);
    if (passes(errors, input)) return { value: input };
    const broken = errors.filter(({ location }) => idLocations.has(location));
    if (broken.length === 0) {
      const all = errors.map((error) => told(error, secret));
      return { status: 422, detail: VALIDATION_FAILED, errors: all };
    }
    const names = broken.map(({ location }) => location.slice('body.'.length));
    return {
      status: 400, detail: `${names.join(' and ')} must be a UUID.`,
      errors: broken.map(({ location, message }) => ({ location, message })),
    };
  };
}
