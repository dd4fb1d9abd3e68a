/** Problem documents (RFC 9457): the refusals of all operations but lookups. */
import { limited, problem, type Problem } from '../base/problem.js';
import { type Failure, isFailure } from '../failure.js';
import { StoreFault } from '../store/fault.js';
import { LimitReached } from '../store/transaction.js';
import { metadata, RESPONSE_CODES, responseOf } from '../wire/response-code.js';
import { headOf, PROBLEM_TYPE, type Fields, type Reply } from './reply.js';
import { statusTitle } from './status.js';

/** What a caller is told about a fault of the program; the log says more. */
export const FAULT_DETAIL = 'The service failed to answer.';

/** What callers are told about an error of the store; null for any other error. */
export function storeRefusal(error: unknown): Problem | null {
  if (error instanceof StoreFault) return problem(503, error.detail);
  return error instanceof LimitReached ? limited(429, error.message, error.limit) : null;
}

/**
 * Renders a problem document. Its `instance` is the path of the request, without the query, which
 * may contain a key.
 */
export function problemReply(
  { status, detail, errors, members }: Omit<Problem, 'kind'>,
  instance: string,
  fields: Fields = {},
): Reply {
  const body = {
    type: 'about:blank',
    title: statusTitle(status),
    status,
    detail,
    instance,
    ...(errors === undefined ? {} : { errors }),
    ...members,
  };
  return { status, head: headOf(PROBLEM_TYPE, fields), body: JSON.stringify(body) };
}

/**
 * Renders a refusal of either kind. A failure becomes a document that clients of lookups understand
 * too: beside its own members it has `metadata.response` with their response code.
 */
export function refusalReply(
  refusal: Problem | Failure,
  instance: string,
  baseUrl: string,
  fields: Fields,
): Reply {
  if (!isFailure(refusal)) return problemReply(refusal, instance, fields);
  const { code, http: status } = RESPONSE_CODES[refusal.failure];
  const told = responseOf(refusal);
  const members = metadata(told, baseUrl);
  return { ...problemReply({ status, detail: told.message, members }, instance, fields), code };
}
