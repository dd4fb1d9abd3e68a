/** Answers of operations as OpenAPI writes them. */
import type { Schema } from '../base/json-schema.js';
import { RECEIPT_HEADER } from '../wire/receipt.js';
import type { ComponentName } from './document.js';

/** A reference to a named schema. */
export function reference(name: ComponentName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const LIMIT_HEADERS: Schema = {
  'X-RateLimit-Limit': {
    description: 'Requests in a rolling minute.', schema: { type: 'integer', minimum: 0 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in it.', schema: { type: 'integer', minimum: 0 },
  },
};

/** Header fields of answered lookups beside the limits. */
const LOOKUP_HEADERS: Schema = {
  'X-Situs-Precision': {
    description: 'How the place was found, with ";estimated" where a figure is.',
    schema: { type: 'string' },
  },
  'X-Situs-Dataset': {
    description: 'The dataset that answered, with ";stale" where a list has ended, and '
      + '";partial" where districts of the state are known not to be listed.',
    schema: { type: 'string' },
  },
};

/** Of answers that a receipt was asked for. */
const RECEIPT_FIELD: Schema = {
  [RECEIPT_HEADER]: {
    description: 'Only with receipt=true: what the answer depended on, as JSON.',
    schema: { type: 'string' },
  },
};

const XML: Schema = {
  'application/xml': { schema: { type: 'string', description: 'The same data as XML.' } },
};

export interface AnswerOptions {
  /** Also as XML. */
  readonly xml?: boolean;
  /** With the two fields of rate limits. */
  readonly limited?: boolean;
  readonly lookup?: boolean;
  /** With the place of what was made. */
  readonly located?: boolean;
  /** Content type, where it is not the usual one. */
  readonly type?: string;
}

const LOCATION: Schema = {
  Location: { description: 'Where it is kept.', schema: { type: 'string' } },
};

function headersOf(options: AnswerOptions): Schema {
  const { limited = false, lookup = false, located = false } = options;
  return {
    ...(limited ? LIMIT_HEADERS : {}), ...(lookup ? { ...LOOKUP_HEADERS, ...RECEIPT_FIELD } : {}),
    ...(located ? LOCATION : {}),
  };
}

/** An answer of one of several bodies. */
export function answerOf(
  description: string, names: readonly ComponentName[], options: AnswerOptions = {},
): Schema {
  const refs = names.map(reference);
  const [first = {}] = refs;
  const schema = refs.length === 1 ? first : { anyOf: refs };
  const headers = headersOf(options);
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: {
      [options.type ?? 'application/json']: { schema },
      ...(options.xml === true ? XML : {}),
    },
  };
}

/** A problem document. */
export function problemOf(description: string, options: AnswerOptions = {}): Schema {
  const headers = headersOf(options);
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { 'application/problem+json': { schema: reference('Problem') } },
  };
}
