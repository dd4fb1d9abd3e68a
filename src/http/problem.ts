/** Problem documents (RFC 9457): the failures of everything that is not a lookup. */
import type { WireObject } from '../wire/tree.js';
import { headOf, PROBLEM_TYPE, type Fields, type Reply } from './reply.js';
import { statusTitle, type Status } from './status.js';

/** One rejected field: "body.merchantName", "query.limit", "header.X-API-KEY". */
export interface ProblemError {
  readonly location: string;
  readonly message: string;
  readonly value?: unknown;
}

export interface Problem {
  readonly status: Status;
  readonly detail: string;
  /** Path of the request; never the query, which may hold a key. */
  readonly instance: string;
  readonly errors?: readonly ProblemError[];
  /** Further members, e.g. the response code that lookups give. */
  readonly members?: WireObject;
}

/** Renders a problem document. */
export function problemReply(problem: Problem, fields: Fields = {}): Reply {
  const { status, detail, instance, errors, members } = problem;
  const body = {
    type: 'about:blank', title: statusTitle(status), status, detail, instance,
    ...(errors === undefined ? {} : { errors }),
    ...members,
  };
  return { status, head: headOf(PROBLEM_TYPE, fields), body: JSON.stringify(body) };
}
