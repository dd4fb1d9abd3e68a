/** Refusals of carts that come in more than one way: as requests, as rows of files, in streams. */
import { problem } from '../../base/problem.js';
import { fail } from '../../failure.js';

/** Refuses a cart of no merchant. */
export const NO_GEO = fail(
  'feature-not-enabled',
  'The plan has no geocoded lookups, or their quota of this month is used up.',
);

/** Refuses a cart that a bug, or the end of a worker, stands in the way of. */
export const NOT_CALCULATED = problem(500, 'The service failed to calculate the cart.');
