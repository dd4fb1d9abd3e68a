/**
 * The Idempotency-Key of requests that write: what is kept of an answer, how that is returned
 * again, and how a key that cannot be used is refused.
 */
import { problem, type Problem, type ProblemStatus } from '../base/problem.js';
import { IDEMPOTENCY_KEY_CHARS_MAX, type Claimed, type KeptAnswer } from '../store/idempotency.js';
import { LIMIT_HEADER, REMAINING_HEADER } from './rate-limit.js';
import { fieldsOf, headOf, JSON_TYPE, type Fields, type Reply } from './reply.js';

export const IDEMPOTENCY_HEADER = 'idempotency-key';
/** The field of an answer that is returned again. */
export const REPLAYED_HEADER = 'Idempotency-Replayed';

/** Printable ASCII characters. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]+$/;

const RATE_FIELDS = new Set([LIMIT_HEADER.toLowerCase(), REMAINING_HEADER.toLowerCase()]);

/** What is kept of an answer: all but the rate fields, which are those of the moment. */
export function keptOf({ status, head, body }: Reply): KeptAnswer {
  const fields = [...fieldsOf(head)].filter(([name]) => !RATE_FIELDS.has(name));
  return { status, fields: Object.fromEntries(fields), body };
}

/** A kept answer with the present rate fields. */
export function replayed({ status, fields, body }: KeptAnswer, rate: Fields): Reply {
  const { 'content-type': type = JSON_TYPE, ...more } = fields;
  return { status, head: headOf(type, { ...rate, ...more, [REPLAYED_HEADER]: 'true' }), body };
}

function unfit(status: ProblemStatus, detail: string, message: string): Problem {
  return problem(status, detail, [{ location: 'header.Idempotency-Key', message }]);
}

/** The refusal of a key that is malformed; null for any other. */
export function unusableKey(key: string): Problem | null {
  return key.length <= IDEMPOTENCY_KEY_CHARS_MAX && IDEMPOTENCY_KEY.test(key)
    ? null
    : unfit(
        400,
        'The Idempotency-Key cannot be used.',
        `expected 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`,
      );
}

/**
 * The refusal of a key that is in use. `parts` says what the request of the key was compared by.
 */
export function takenKey(
  kind: Exclude<Claimed['kind'], 'fresh' | 'kept'>,
  parts: 'body' | 'path or body',
): Problem {
  switch (kind) {
    case 'running':
      return unfit(
        409,
        'A request with this Idempotency-Key is under way.',
        'expected a key that is not in use',
      );
    case 'unknown':
      return unfit(
        409,
        'This request was sent to the compliance provider before, and whether it was carried out ' +
          'is not known. It was not sent again: look it up first.',
        'expected a new key, once it is known that the first request was not carried out',
      );
    case 'other':
      return unfit(
        422,
        'This Idempotency-Key belongs to another request.',
        `expected a new key for another ${parts}`,
      );
  }
}
