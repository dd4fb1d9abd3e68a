/** Checks of bodies against their shapes, and the problem that breaking one is. */
import { checkOf, type Shape } from '../../base/shape.js';
import { invalid, problem, type Problem } from '../../base/problem.js';
import type { BodyError } from '../../base/validator.js';

/** One field violation. */
export function violation(location: string, message: string, value?: unknown): Problem {
  return invalid(value === undefined ? { location, message } : { location, message, value });
}

export interface BodyOptions {
  /** Members that are ids of this service. */
  readonly ids?: readonly string[];
  /** The body holds secrets: no value is told back. */
  readonly secret?: boolean;
}

export type Checked<T> = { readonly value: T } | Problem;

function withoutValue({ location, message }: BodyError): BodyError {
  return { location, message };
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
      return invalid(...secret ? errors.map(withoutValue) : errors);
    }
    const names = broken.map(({ location }) => location.slice('body.'.length));
    return problem(400, `${names.join(' and ')} must be a UUID.`,
      broken.map(withoutValue));
  };
}
