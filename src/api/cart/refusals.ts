/** Refusals of carts that may come as requests, as rows of files or in streams. */
import { problem } from '../../base/problem.js';
import { fail } from '../../failure.js';

/** Refuses a cart of no merchant where the key has no geocoded lookups. */
export const NO_GEO = fail(
  'feature-not-enabled',
  'The plan has no geocoded lookups, or their quota of this month is used up.',
);

/** Refuses a cart that could not be calculated because of a bug or because a worker ended. */
export const NOT_CALCULATED = problem(500, 'The service failed to calculate the cart.');
