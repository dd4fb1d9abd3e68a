/**
 * Checks bodies with fastest-validator, and words the errors as problem documents have them, with
 * their locations: "body.items[3].price: expected a number".
 */
import { createRequire } from 'node:module';
import type FastestValidator from 'fastest-validator';
import { isObject } from './json-object.js';

/** A member of a body that is at fault. */
export interface BodyError {
  readonly location: string;
  readonly message: string;
  readonly value?: unknown;
}

/** A rule of the validator, with the keywords of that library. */
export interface Rule {
  readonly type: string;
  readonly [keyword: string]: unknown;
}

/** What a check of our own reports to the library. */
export interface Finding {
  /** The kind of error, a key of `WORDS`. */
  readonly type: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  /** The path below the checked value, as "[2].price" or ".name"; absent for the value itself. */
  readonly below?: string;
  /** The member that the object there may not have; for errors of the type `unknown`. */
  readonly stranger?: Stranger | undefined;
}

/** A member that was not declared, and the names of those that were. */
interface Stranger {
  readonly name: string;
  readonly known: ReadonlySet<string>;
}

/** Adds what is wrong with a value to `found`, and returns the value. */
export type OwnCheck = (value: unknown, found: Finding[]) => unknown;

/** Most errors that are listed; further ones say nothing new. */
export const BODY_ERRORS_MAX = 10;

/** Longer values are not repeated in an error. */
const VALUE_CHARS_MAX = 200;

/** A finding as the library returns it, with the path to the checked value. */
interface Told extends Finding {
  readonly field?: string;
}

const WORDS: Readonly<Record<string, (expected: unknown) => string>> = {
  text: () => 'expected a string',
  textMin: (expected) => `expected length >= ${String(expected)}`,
  textMax: (expected) => `expected length <= ${String(expected)}`,
  number: () => 'expected a number',
  numberMin: (expected) => `expected number >= ${String(expected)}`,
  numberMax: (expected) => `expected number <= ${String(expected)}`,
  numberPositive: () => 'expected a number above 0',
  numberInteger: () => 'expected a whole number',
  boolean: () => 'expected true or false',
  list: () => 'expected an array',
  listMin: (expected) => `expected at least ${String(expected)} items`,
  listMax: (expected) => `expected at most ${String(expected)} items`,
  item: () => 'expected a value, not null',
  object: () => 'expected an object',
  unknown: () => 'unexpected property',
  choice: (expected) => `expected ${Array.isArray(expected) ? expected.join(' or ') : ''}`,
  blank: () => 'expected at least one character that is no space',
  uuid: () => 'expected a UUID',
  plainText: () => 'expected text without control characters',
  asciiText: () => 'expected printable ASCII characters',
  outerBlank: () => 'expected no space at either end',
  pathText: () => 'expected a text other than . and ..',
  twoLetters: () => 'expected two letters',
  emailText: () => 'expected an e-mail address',
  dateText: () => 'expected a date, or a date and time with its zone (RFC 3339)',
  dayText: () => 'expected a day of the calendar, YYYY-MM-DD',
  expression: () => 'expected a regular expression',
};

/** Types of errors whose `actual` is a length, or nothing that is worth repeating. */
const VALUELESS: ReadonlySet<string> = new Set([
  'textMin',
  'textMax',
  'listMin',
  'listMax',
  'unknown',
]);

function messageOf({ type, expected }: Told, where: string): string {
  if (type === 'required') {
    return `expected required property ${where.slice(where.lastIndexOf('.') + 1)}`;
  }
  return WORDS[type]?.(expected) ?? 'not as documented';
}

/**
 * The value for an error, if it is short and plain. A text that is too short for one character is
 * empty.
 */
function echo({ type, expected, actual: value }: Told): { readonly value?: unknown } {
  if (type === 'textMin' && expected === 1) return { value: '' };
  if (VALUELESS.has(type)) return {};
  if (typeof value === 'string') return value.length <= VALUE_CHARS_MAX ? { value } : {};
  return typeof value === 'number' || typeof value === 'boolean' ? { value } : {};
}

/** The path to the faulty value; for an undeclared member, the path to its object. */
function placeOf({ field, below = '' }: Told): string {
  return `${field === undefined ? '' : `.${field}`}${below}`;
}

function bodyError(error: Told, prefix: string): BodyError {
  const { stranger } = error;
  const member = stranger === undefined ? '' : `.${stranger.name}`;
  const location = `${prefix}${placeOf(error)}${member}`;
  return { location, message: messageOf(error, location), ...echo(error) };
}

let shared: FastestValidator.default | null = null;

/** The library, loaded at the first check, as most processes check nothing. */
function validator(): FastestValidator.default {
  if (shared !== null) return shared;
  /** The types of the library declare a default export that its CommonJS module does not have. */
  const Validator: typeof FastestValidator.default = createRequire(import.meta.url)(
    'fastest-validator',
  );
  // The library's own messages are emptied, because building them throws for a value that cannot be
  // converted to text.
  const names = Object.keys(new Validator().messages);
  shared = new Validator({
    useNewCustomCheckerFunction: true,
    haltOnFirstError: false,
    messages: Object.fromEntries(names.map((name) => [name, ''])),
  });
  return shared;
}

function compile(rule: Rule): (value: unknown) => readonly Told[] {
  let run: ReturnType<FastestValidator.default['compile']> | null = null;
  return (value) => {
    run ??= validator().compile({ $$root: true, ...rule });
    const result = run(value);
    return Array.isArray(result) ? result : [];
  };
}

/** A rule that consists of a check of our own. */
export function ownRule(check: OwnCheck): Rule {
  return { type: 'custom', check };
}

/** How many items a list must and may have; an absent limit means none. */
export interface ListLimits {
  readonly min?: number;
  readonly max?: number;
}

/**
 * A rule for lists. Items of a list that is too long are not checked, and checking ends after as
 * many errors as are listed: a mebibyte of `{}` would hold up every request for seconds.
 */
export function listRule(item: Rule, { min = 0, max = Infinity }: ListLimits): Rule {
  const check = compile(item);
  return ownRule((value, found) => {
    if (!Array.isArray(value)) found.push({ type: 'list', actual: value });
    else if (value.length > max) found.push({ type: 'listMax', expected: max });
    else if (value.length < min) found.push({ type: 'listMin', expected: min });
    else checkItems(value, check, found);
    return value;
  });
}

function checkItems(
  items: readonly unknown[],
  check: (value: unknown) => readonly Told[],
  found: Finding[],
): void {
  for (let at = 0; at < items.length && found.length < BODY_ERRORS_MAX; at += 1) {
    const item = items[at];
    if (item === null) {
      found.push({ type: 'item', below: `[${at}]` });
      continue;
    }
    for (const error of check(item)) {
      const { type, expected, actual, stranger } = error;
      found.push({ type, expected, actual, stranger, below: `[${at}]${placeOf(error)}` });
    }
  }
}

/** What is wrong with a value; empty when it is as documented. */
export type Check = (value: unknown, prefix?: string) => readonly BodyError[];

/** The error of a value that is no object; it does not repeat the value. */
const NO_OBJECT: readonly Told[] = [{ type: 'object' }];

/**
 * Compiles a rule for bodies, which are objects; the library would report null as a missing member.
 */
function compileBody(rule: Rule): (value: unknown) => readonly Told[] {
  const run = compile(rule);
  return (value) => {
    if (!isObject(value)) return NO_OBJECT;
    const found = run(value);
    return found.length <= BODY_ERRORS_MAX ? found : found.slice(0, BODY_ERRORS_MAX);
  };
}

/** Whether a value is a `T`: its check has found nothing wrong with it. */
export function isFaultless<T>(_value: unknown, errors: readonly BodyError[]): _value is T {
  return errors.length === 0;
}

/** Compiles a rule once. The check's `prefix` begins the locations; "body" unless given. */
export function compileRule(rule: Rule): Check {
  const run = compileBody(rule);
  return (value, prefix = 'body') => run(value).map((error) => bodyError(error, prefix));
}

/** A fault of a value. `place` is the path below the value, "" for the value itself. */
type Fault =
  | {
      /** An object has a member that is not among those `known`. */
      readonly kind: 'stranger';
      readonly place: string;
      readonly name: string;
      readonly known: ReadonlySet<string>;
    }
  | { readonly kind: 'misfit'; readonly place: string; readonly message: string };

/** The faults of a value; empty when it is as documented. */
export type FaultCheck = (value: unknown) => readonly Fault[];

/** Compiles a rule once, for callers that do more with a fault than report it. */
export function compileFaults(rule: Rule): FaultCheck {
  const run = compileBody(rule);
  return (value) =>
    run(value).map((error) => {
      const { stranger } = error;
      const place = placeOf(error);
      return stranger === undefined
        ? { kind: 'misfit', place, message: messageOf(error, place) }
        : { kind: 'stranger', place, ...stranger };
    });
}

// Checks of our own.

/** Whether a text has more than `max` characters; one above U+FFFF counts once. */
export function longerThan(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

/**
 * Whether the length of a text, in characters, is within limits. If not, the error is added to
 * `found`.
 */
export function keepsLength(text: string, min: number, max: number, found: Finding[]): boolean {
  if (text.length < min) found.push({ type: 'textMin', expected: min, actual: text });
  else if (longerThan(text, max)) found.push({ type: 'textMax', expected: max });
  else return true;
  return false;
}

/** A check for texts: `check` is called with a text and returns the type of an error, or null. */
export function textCheck(check: (text: string, found: Finding[]) => string | null): OwnCheck {
  return (value, found) => {
    const type = typeof value === 'string' ? check(value, found) : 'text';
    if (type !== null) found.push({ type, actual: value });
    return value;
  };
}

/** Longer names of members are shortened in a location. */
const NAME_CHARS_MAX = 100;

function shortened(name: string): string {
  return name.length <= NAME_CHARS_MAX ? name : `${name.slice(0, NAME_CHARS_MAX)}…`;
}

/** A check that reports members whose names are not among `known`. */
export function strangers(known: ReadonlySet<string>): OwnCheck {
  return (value, found) => {
    if (!isObject(value)) return value;
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue;
      found.push({ type: 'unknown', stranger: { name: shortened(name), known } });
      if (found.length >= BODY_ERRORS_MAX) break;
    }
    return value;
  };
}
