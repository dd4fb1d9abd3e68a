/** Why a request is refused, wherever that is found: a value that threads pass on as it is. */
import type { BodyError } from './validator.js';

/** Statuses of refusals that are found outside the gate and the router. */
export type ProblemStatus = 400 | 403 | 406 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 503 | 507;

export interface Problem {
  readonly kind: 'problem';
  readonly status: ProblemStatus;
  /** A sentence for a person. */
  readonly detail: string;
  /** The parts of the request at fault; absent where none is told of. */
  readonly errors?: readonly BodyError[];
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

/** Parts of a request that break the rules of its shape. */
export function invalid(...errors: readonly BodyError[]): Problem {
  return problem(422, VALIDATION_FAILED, errors);
}

/** Tells a problem from anything else. */
export function isProblem(value: object): value is Problem {
  return (value as Partial<Problem>).kind === 'problem';
}
