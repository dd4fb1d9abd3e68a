/**
 * Checks of request bodies against fastest-validator schemas, told in the words and locations of
 * problem documents: "body.items[3].price: expected a number".
 */
import { createRequire } from 'node:module';
import type FastestValidator from 'fastest-validator';
import type { ValidationError, ValidationSchema } from 'fastest-validator';

/** Its types name a default export that its CommonJS module does not have. */
const Validator: typeof FastestValidator.default =
  createRequire(import.meta.url)('fastest-validator');

/** A member of a body that is not as it should be. */
export interface BodyError {
  readonly location: string;
  readonly message: string;
  readonly value?: unknown;
}

/** Errors listed; further ones say nothing new. */
export const BODY_ERRORS_MAX = 10;

/** Longer values are not repeated in an error. */
const VALUE_CHARS_MAX = 200;

/** Longer names of members are cut in a location. */
const NAME_CHARS_MAX = 100;

const WORDS: Readonly<Record<string, (error: ValidationError) => string>> = {
  required: ({ field }) => (field.endsWith(']') ? 'expected a value, not null'
    : `expected required property ${field.replace(/^.*\./, '')}`),
  string: () => 'expected a string',
  stringEmpty: () => 'expected length >= 1',
  stringMin: ({ expected }) => `expected length >= ${String(expected)}`,
  stringMax: ({ expected }) => `expected length <= ${String(expected)}`,
  number: () => 'expected a number',
  numberMin: ({ expected }) => `expected number >= ${String(expected)}`,
  numberMax: ({ expected }) => `expected number <= ${String(expected)}`,
  numberPositive: () => 'expected a number above 0',
  numberInteger: () => 'expected a whole number',
  boolean: () => 'expected true or false',
  array: () => 'expected an array',
  arrayEmpty: () => 'expected at least 1 item',
  arrayMin: ({ expected }) => `expected at least ${String(expected)} items`,
  arrayMax: ({ expected }) => `expected at most ${String(expected)} items`,
  object: () => 'expected an object',
  objectStrict: () => 'unexpected property',
  uuid: () => 'expected a UUID',
  plainText: () => 'expected text without control characters',
  asciiText: () => 'expected printable ASCII characters',
  emailText: () => 'expected an e-mail address',
  dateText: () => 'expected a date, or a date and time with its zone (RFC 3339)',
};

function messageOf(error: ValidationError): string {
  if (error.type === 'enumValue') {
    return `expected ${String(error.expected).split(', ').join(' or ')}`;
  }
  return WORDS[error.type]?.(error) ?? 'not as documented';
}

/** Only short plain values are told back; of a length, the validator tells just the number. */
function echo({ type, actual: value }: ValidationError): { readonly value?: unknown } {
  if (/^(?:string|array)M(?:in|ax)$/.test(type)) return {};
  if (typeof value === 'string') return value.length <= VALUE_CHARS_MAX ? { value } : {};
  return typeof value === 'number' || typeof value === 'boolean' ? { value } : {};
}

function shortened(name: string): string {
  return name.length <= NAME_CHARS_MAX ? name : `${name.slice(0, NAME_CHARS_MAX)}…`;
}

function bodyErrors(error: ValidationError, prefix: string): readonly BodyError[] {
  const at = (field: string): string => (field === '' ? prefix : `${prefix}.${field}`);
  const field = (error.field as string | undefined) ?? '';
  const message = messageOf(error);
  if (error.type !== 'objectStrict') return [{ location: at(field), message, ...echo(error) }];
  return String(error.actual).split(', ', BODY_ERRORS_MAX).map(shortened).map((name) => (
    { location: at(field === '' ? name : `${field}.${name}`), message }
  ));
}

const VALIDATOR = new Validator({ useNewCustomCheckerFunction: true, haltOnFirstError: false });

/** Parts of the library's own rule for arrays: the loop over items, and what follows a maximum. */
const ITEMS_LOOP = 'for (var i = 0; i < arr.length; i++) {';
/** It tells the list in place of the item that is null. */
const NO_ITEM = /(type: "required",[^;]*?field: )field,/g;
const ABOVE_MAX = /(errors\.push\(\{ type: "arrayMax"[^;]*;)/;

function replaced(source: string, part: string | RegExp, by: string): string {
  const text = source.replace(part, by);
  if (text === source) throw new Error('the validator has another rule for arrays');
  return text;
}

/**
 * The library looks at every item of a list, however many are wrong already and however far above
 * its maximum the list is; a mebibyte of `{}` would hold up everyone for seconds. Here a list that
 * is too long ends its check, and items are looked at until there are as many errors as are told.
 */
function boundArrays(): void {
  const { array } = VALIDATOR.rules;
  if (array === undefined) throw new Error('the validator has no rule for arrays');
  VALIDATOR.add('array', (rule, path, context) => {
    const { source, ...rest } = array.call(VALIDATOR, rule, path, context);
    const { items, max } = rule.schema;
    const ended = max === undefined ? source : replaced(source, ABOVE_MAX, '$1 return value;');
    if (items === undefined) return { ...rest, source: ended };
    const bounded = replaced(ended, ITEMS_LOOP,
      `for (var i = 0; i < arr.length && errors.length < ${BODY_ERRORS_MAX}; i++) {`);
    return {
      ...rest, source: replaced(bounded, NO_ITEM, '$1(parentField || "") + "[" + i + "]",'),
    };
  });
}

boundArrays();

const LENGTH = 'var len = value.length;';

/**
 * The library counts UTF-16 units; the limits of this API are characters, as those of a JSON schema
 * are. Only a text that seems too long is counted again.
 */
function countCharacters(): void {
  const { string } = VALIDATOR.rules;
  if (string === undefined) throw new Error('the validator has no rule for strings');
  VALIDATOR.add('string', (rule, path, context) => {
    const { source, ...rest } = string.call(VALIDATOR, rule, path, context);
    const max = Number(rule.schema.max ?? Number.NaN);
    return {
      ...rest,
      source: Number.isNaN(max) ? source : replaced(source, LENGTH,
        `${LENGTH} if (len > ${max} && len <= ${2 * max}) len = Array.from(value).length;`),
    };
  });
}

countCharacters();

/** What a value breaks of a schema; none when it is as documented. */
export type Check = (value: unknown, prefix?: string) => readonly BodyError[];

/** Compiles a schema of an object once. */
export function compileCheck(schema: ValidationSchema): Check {
  const run = VALIDATOR.compile({ $$async: false, ...schema });
  return (value, prefix = 'body') => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return [{ location: prefix, message: 'expected an object' }];
    }
    const result = run(value);
    if (result === true) return [];
    const errors = Array.isArray(result) ? result : [];
    return errors.slice(0, BODY_ERRORS_MAX).flatMap((error) => bodyErrors(error, prefix))
      .slice(0, BODY_ERRORS_MAX);
  };
}
