/** Why a request is refused, as a plain value that can be passed between threads. */
import type { BodyError } from './validator.js';

/** Statuses that a refusal may have. */
export type ProblemStatus =
  | (400 | 401 | 403 | 404 | 405 | 406 | 408 | 409 | 410 | 413 | 415 | 416 | 422 | 426 | 429 | 431)
  | (500 | 502 | 503 | 504 | 505 | 507);

export interface Problem {
  readonly kind: 'problem';
  readonly status: ProblemStatus;
  /** A sentence for a person. */
  readonly detail: string;
  /** The parts of the request that are at fault; absent where none is named. */
  readonly errors?: readonly BodyError[];
  /** Further members of the problem document, such as a limit. */
  readonly members?: Readonly<Record<string, unknown>>;
}

const VALIDATION_FAILED = 'validation failed';

export function problem(
  status: ProblemStatus,
  detail: string,
  errors?: readonly BodyError[],
): Problem {
  return { kind: 'problem', status, detail, ...(errors === undefined ? {} : { errors }) };
}

/** Makes the problem for something that exceeds a limit; the limit is a member of the document. */
export function limited(status: ProblemStatus, detail: string, limit: number): Problem {
  return { kind: 'problem', status, detail, members: { limit } };
}

/** Makes the problem for parts of a request that break the rules of its shape. */
export function invalid(...errors: readonly BodyError[]): Problem {
  return problem(422, VALIDATION_FAILED, errors);
}

/** Tells a problem from any other value. */
export function isProblem(value: object): value is Problem {
  return (value as Partial<Problem>).kind === 'problem';
}
