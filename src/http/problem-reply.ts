/** Problem documents (RFC 9457): the failures of everything that is not a lookup. */
import type { BodyError } from '../base/validator.js';
import { fail, type FailureKind } from '../failure.js';
import { failureMessage, metadata, RESPONSE_CODES } from '../wire/response-code.js';
import type { WireObject } from '../wire/tree.js';
import { headOf, PROBLEM_TYPE, type Fields, type Reply } from './reply.js';
import { statusTitle, type Status } from './status.js';

export interface ProblemDocument {
  readonly status: Status;
  readonly detail: string;
  /** Path of the request; never the query, which may hold a key. */
  readonly instance: string;
  readonly errors?: readonly BodyError[];
  /** Further members, e.g. the response code that lookups give. */
  readonly members?: WireObject;
}

/** What a caller is told of a fault of the program; the log says more. */
export const FAULT_DETAIL = 'The service failed to answer.';

/** Renders a problem document. */
export function problemReply(problem: ProblemDocument, fields: Fields = {}): Reply {
  const { status, detail, instance, errors, members } = problem;
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
  const reply = problemReply(
    {
      status,
      detail: message,
      instance,
      members: metadata({ code, name, message }, baseUrl),
    },
    fields,
  );
  return { ...reply, code };
}
