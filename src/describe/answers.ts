/** Answers in the form of OpenAPI; those of merchant operations with all their refusals. */
import type { Schema } from '../base/json-schema.js';
import { LIMIT_HEADER, REMAINING_HEADER } from '../http/rate-limit.js';
import { OWN_HEADERS } from '../http/reply.js';
import type { ComponentName } from './document.js';
import { IDEMPOTENCY_PARAMETER } from './lookup-parameters.js';
import type { Operation } from './operations.js';

/** A reference to a named schema. */
export function reference(name: ComponentName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const RATE_HEADERS: Schema = {
  [LIMIT_HEADER]: {
    description: 'Requests in a rolling minute.',
    schema: { type: 'integer', minimum: 0 },
  },
  [REMAINING_HEADER]: {
    description: 'Requests left in it.',
    schema: { type: 'integer', minimum: 0 },
  },
};

/** Header fields of answered lookups, beside those of rate limits. */
const LOOKUP_HEADERS: Schema = {
  [OWN_HEADERS.precision]: {
    description: 'How the place was found, with ";estimated" where a figure is.',
    schema: { type: 'string' },
  },
  [OWN_HEADERS.dataset]: {
    description:
      'The dataset that answered, with ";stale" where a list has ended, and ' +
      '";partial" where districts of the state are known not to be listed.',
    schema: { type: 'string' },
  },
};

/** The header field of answers for which a receipt was requested. */
const RECEIPT_FIELD: Schema = {
  [OWN_HEADERS.receipt]: {
    description: 'Only with receipt=true: what the answer depended on, as JSON.',
    schema: { type: 'string' },
  },
};

const XML: Schema = {
  'application/xml': { schema: { type: 'string', description: 'The same data as XML.' } },
};

export interface AnswerOptions {
  /** Whether the answer is also available as XML. */
  readonly xml?: boolean;
  /** Whether it has the two rate fields. */
  readonly limited?: boolean;
  readonly lookup?: boolean;
  /** Whether it has a Location field. */
  readonly located?: boolean;
  /** Content type, where it is not JSON. */
  readonly type?: string;
}

const LOCATION: Schema = {
  Location: { description: 'Where it is kept.', schema: { type: 'string' } },
};

function headersOf(options: AnswerOptions): Schema {
  const { limited = false, lookup = false, located = false } = options;
  return {
    ...(limited ? RATE_HEADERS : {}),
    ...(lookup ? { ...LOOKUP_HEADERS, ...RECEIPT_FIELD } : {}),
    ...(located ? LOCATION : {}),
  };
}

/** An answer with one body, or one of several. */
export function answerOf(
  description: string,
  names: readonly ComponentName[],
  options: AnswerOptions = {},
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

/** An answer with a problem document. */
export function problemOf(description: string, options: AnswerOptions = {}): Schema {
  const headers = headersOf(options);
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { 'application/problem+json': { schema: reference('Problem') } },
  };
}

/** For operations with a key, whose answers have the rate fields. */
export const LIMITED: AnswerOptions = { limited: true };

/** Problem documents of an operation with a key: for each status, its reason. */
export function problemsOf(reasons: Readonly<Record<number, string>>): Schema {
  const problems = Object.entries(reasons).map(([status, why]) => [
    status,
    problemOf(why, LIMITED),
  ]);
  return Object.fromEntries(problems);
}

/** The same, together with those that every operation with a key has. */
export function refusalsOf(reasons: Readonly<Record<number, string>>): Schema {
  return problemsOf({
    401: 'Response code 101: no usable key.',
    429: 'Response code 108.',
    500: REASONS[500],
    ...reasons,
  });
}

// Operations behind the gate of merchants.

/** The reason for each status, where the operation states no other. */
export const REASONS = {
  400: 'The body is not JSON, or an id is not a UUID.',
  401: 'Response code 101: no usable key in the header.',
  403:
    'The account has no such merchant, or the plan or the scopes of the key do not include the ' +
    'operation.',
  404: 'There is no such merchant.',
  405: 'Response code 107: a quota of this month is used up.',
  409: 'A request with this Idempotency-Key is under way.',
  413: 'The body is longer than the operation takes.',
  422: 'A field breaks its rule, or the Idempotency-Key belongs to another request.',
  429:
    'Response code 108: over the rate of the key, or too many unusable keys of the address. ' +
    'Without a code: the account has used up what it may keep or send; limit tells how much.',
  500: 'A fault of the service.',
  502: 'The compliance provider cannot be reached, or its answer cannot be used.',
  503: 'Too many bodies are under way, or the store takes nothing now; nothing was done.',
  504: 'The answer took too long.',
} as const;
type Reason = keyof typeof REASONS;

/** Every operation behind the gate of merchants may answer with these. */
const ALWAYS: readonly Reason[] = [401, 403, 429, 500];

interface MerchantOperation {
  readonly id: string;
  readonly summary: string;
  /** Null for an operation without a body. */
  readonly body: ComponentName | null;
  readonly status: 200 | 201;
  readonly answer: string;
  readonly of: ComponentName;
  /** Whether the operation honours an Idempotency-Key and counts towards the quota. */
  readonly writes: boolean;
  /** Whether the answer has the header fields of lookups. */
  readonly lookup?: boolean;
  readonly more?: Partial<Readonly<Record<Reason, string>>>;
}

function reasonsOf({ body, writes, more = {} }: MerchantOperation): readonly Reason[] {
  const told: Reason[] = [...ALWAYS];
  if (body !== null) told.push(400, 413, 422, 503, 504);
  if (writes) told.push(405, 409);
  const named = Object.keys(more).map(Number);
  const isReason = (status: number): status is Reason => status in REASONS;
  return [...new Set([...told, ...named.filter(isReason)])].sort((one, other) => one - other);
}

/** Describes an operation behind the gate of merchants. */
export function merchantOperation(operation: MerchantOperation): Operation {
  const { id, summary, body, status, answer, of, writes, lookup = false, more = {} } = operation;
  const reasons = reasonsOf(operation).map((status) => [status, more[status] ?? REASONS[status]]);
  return {
    id,
    summary,
    tag: 'Merchants',
    keyed: true,
    headerOnly: true,
    parameters: writes ? [IDEMPOTENCY_PARAMETER] : [],
    ...(body === null ? {} : { body }),
    responses: {
      [String(status)]: answerOf(answer, [of], { ...LIMITED, lookup }),
      ...problemsOf(Object.fromEntries(reasons)),
    },
  };
}
