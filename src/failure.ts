/**
 * Expected refusals. They are values, never exceptions, so that they cross threads unchanged.
 * The union is closed: the wire's tables of codes and statuses do not compile with one missing.
 */
export const FAILURE_KINDS = [
  'invalid-key',
  'invalid-state',
  'invalid-city',
  'invalid-postal-code',
  'invalid-format',
  'internal',
  'feature-not-enabled',
  'rate-limited',
  'address-incomplete',
  'no-result',
  'invalid-historical',
  'international-not-enabled',
  'product-rules-not-enabled',
  'overloaded',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export interface Failure {
  readonly failure: FailureKind;
  /** What a person can do about it; appended to the standard message of the code. */
  readonly detail?: string;
}

/** Makes a failure value. */
export function fail(failure: FailureKind, detail?: string): Failure {
  return detail === undefined ? { failure } : { failure, detail };
}

/** Tells a failure from any other outcome. */
export function isFailure(outcome: object): outcome is Failure {
  // Read and not asked for with "in", which costs far more where outcomes have many shapes.
  return (outcome as Partial<Failure>).failure !== undefined;
}
