/** Checks of bodies against their shapes, and the problem that breaking one is. */
import { checkOf, type Shape } from '../../base/shape.js';
import type { BodyError } from '../../base/validator.js';

/** A refused body. Broken ids and JSON are 400, everything else about fields 422. */
export interface BodyProblem {
  readonly status: 400 | 422;
  readonly detail: string;
  readonly errors: readonly BodyError[];
}

export const VALIDATION_FAILED = 'validation failed';

/** Tells a problem from a body that was read. */
export function isBodyProblem(parsed: object): parsed is BodyProblem {
  return 'errors' in parsed && 'status' in parsed;
}

/** One field violation. */
export function violation(location: string, message: string, value?: unknown): BodyProblem {
  const error = value === undefined ? { location, message } : { location, message, value };
  return { status: 422, detail: VALIDATION_FAILED, errors: [error] };
}

export interface BodyOptions {
  /** Members that are ids of this service. */
  readonly ids?: readonly string[];
  /** The body holds secrets: no value is told back. */
  readonly secret?: boolean;
}

export type Checked<T> = { readonly value: T } | BodyProblem;

function told(error: BodyError, secret: boolean): BodyError {
  const { location, message } = error;
  if (secret) return { location, message };
  return message === 'expected length >= 1' && error.value === undefined
    ? { location, message, value: '' } : error;
}

/** Compiles the check of a body of a shape. */
export function bodyCheck<T>(
  shape: Shape<T>, { ids = [], secret = false }: BodyOptions = {},
): (input: unknown) => Checked<T> {
  const check = checkOf(shape);
  const idLocations = new Set(ids.map((name) => `body.${name}`));
  const passes = (errors: readonly BodyError[], _input: unknown): _input is T =>
    errors.length === 0;
  return (input) => {
    const errors = check(input);
    if (passes(errors, input)) return { value: input };
    const broken = errors.filter(({ location }) => idLocations.has(location));
    if (broken.length === 0) {
      const all = errors.map((error) => told(error, secret));
      return { status: 422, detail: VALIDATION_FAILED, errors: all };
    }
    const names = broken.map(({ location }) => location.slice('body.'.length));
    return {
      status: 400, detail: `${names.join(' and ')} must be a UUID.`,
      errors: broken.map(({ location, message }) => ({ location, message })),
    };
  };
}
