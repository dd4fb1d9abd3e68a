/** Problem documents (RFC 9457): the failures of everything that is not a lookup. */
import { limited, problem, type Problem } from '../base/problem.js';
import { fail, type FailureKind } from '../failure.js';
import { StoreFault } from '../store/fault.js';
import { LimitReached } from '../store/transaction.js';
import { failureMessage, metadata, RESPONSE_CODES } from '../wire/response-code.js';
import { headOf, PROBLEM_TYPE, type Fields, type Reply } from './reply.js';
import { statusTitle } from './status.js';

/** What a caller is told of a fault of the program; the log says more. */
export const FAULT_DETAIL = 'The service failed to answer.';

/** What callers are told of an error of the store; null for any other error. */
export function storeRefusal(error: unknown): Problem | null {
  if (error instanceof StoreFault) return problem(503, error.detail);
  return error instanceof LimitReached ? limited(429, error.message, error.limit) : null;
}

/**
 * Renders a problem document. Its `instance` is the path of the request; never the query, which may
 * hold a key.
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
 * A problem document that clients of lookups understand too: it has `metadata.response` with their
 * response code beside its own members.
 */
export function codedProblem(
  kind: FailureKind,
  instance: string,
  baseUrl: string,
  fields: Fields,
  detail?: string,
): Reply {
  const { code, name, http: status } = RESPONSE_CODES[kind];
  const message = failureMessage(fail(kind, detail));
  const members = metadata({ code, name, message }, baseUrl);
  const reply = problemReply({ status, detail: message, members }, instance, fields);
  return { ...reply, code };
}
