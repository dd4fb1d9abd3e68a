/** Why a request is refused, wherever that is found: a value that threads pass on as it is. */
import type { BodyError } from './validator.js';

/** Statuses of refusals. */
export type ProblemStatus =
  | (400 | 401 | 403 | 404 | 405 | 406 | 408 | 409 | 410 | 413 | 415 | 416 | 422 | 426 | 429 | 431)
  | (500 | 502 | 503 | 504 | 505 | 507);

export interface Problem {
  readonly kind: 'problem';
  readonly status: ProblemStatus;
  /** A sentence for a person. */
  readonly detail: string;
  /** The parts of the request at fault; absent where none is told of. */
  readonly errors?: readonly BodyError[];
  /** What stands beside the sentence, as a limit does. */
  readonly members?: Readonly<Record<string, unknown>>;
}

const VALIDATION_FAILED = 'validation failed';

/** Makes a problem. */
export function problem(
  status: ProblemStatus,
  detail: string,
  errors?: readonly BodyError[],
): Problem {
  return { kind: 'problem', status, detail, ...(errors === undefined ? {} : { errors }) };
}

/** Makes the problem of what passes a limit, which stands beside the sentence. */
export function limited(status: ProblemStatus, detail: string, limit: number): Problem {
  return { kind: 'problem', status, detail, members: { limit } };
}

/** Parts of a request that break the rules of its shape. */
export function invalid(...errors: readonly BodyError[]): Problem {
  return problem(422, VALIDATION_FAILED, errors);
}

/** Tells a problem from anything else. */
export function isProblem(value: object): value is Problem {
  return (value as Partial<Problem>).kind === 'problem';
}
