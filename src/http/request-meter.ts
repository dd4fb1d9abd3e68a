/**
 * Counts answered requests and their times in plain arrays of numbers, which allocates nothing.
 * They are evaluated when somebody asks.
 */

/** Bounds of times in microseconds: 64 times powers of two, up to 17 seconds. */
const FIRST_BOUND = 64;
const FIRST_BOUND_BITS = 6;
const BOUND_COUNT = 19;
/** The largest signed whole number of 32 bits. */
const WHOLE_MAX = 2 ** 31 - 1;
/** The last bucket has no upper bound. */
const BUCKETS = BOUND_COUNT + 1;
const STATUSES_FROM = 100;
const STATUSES = 500;
/** Response codes of lookups and statuses of HTTP share one array: codes are below 200. */
const CODES = 600;

/** Upper bounds of the buckets in seconds; longer times count in the last bucket. */
export const LATENCY_BOUNDS: readonly number[] = Array.from(
  { length: BOUND_COUNT },
  (_, at) => (FIRST_BOUND * 2 ** at) / 1_000_000,
);

/** Status of a request whose client left before its answer. */
export const GONE = 499;

/** The bucket of a time in microseconds. */
export function bucketOf(microseconds: number): number {
  if (microseconds <= FIRST_BOUND) return 0;
  if (microseconds > WHOLE_MAX) return BOUND_COUNT;
  return Math.min(BOUND_COUNT, 32 - Math.clz32((microseconds - 1) >> FIRST_BOUND_BITS));
}

/** Times of one operation and precision. */
interface Latency {
  readonly operation: string;
  /** Index of the precision. */
  readonly precision: number;
  /** How many requests are in each bucket; not cumulative. */
  readonly buckets: readonly number[];
  readonly seconds: number;
}

export class RequestMeter {
  readonly operations: readonly string[];
  readonly #precisions: number;
  readonly #requests: Float64Array;
  readonly #codes = new Float64Array(CODES);
  readonly #buckets: Float64Array;
  readonly #microseconds: Float64Array;

  /** `operations` are in the order of their indexes; `precisions` is their number. */
  constructor(operations: readonly string[], precisions: number) {
    this.operations = operations;
    this.#precisions = precisions;
    this.#requests = new Float64Array(operations.length * STATUSES);
    this.#buckets = new Float64Array(operations.length * precisions * BUCKETS);
    this.#microseconds = new Float64Array(operations.length * precisions);
  }

  /** Counts an answer; `code` is its response code, 0 where it has none. */
  count(
    operation: number,
    status: number,
    code: number,
    precision: number,
    microseconds: number,
  ): void {
    this.#requests[operation * STATUSES + status - STATUSES_FROM]! += 1;
    if (status >= 400) this.#codes[code === 0 ? status : code]! += 1;
    const series = operation * this.#precisions + precision;
    this.#microseconds[series]! += microseconds;
    this.#buckets[series * BUCKETS + bucketOf(microseconds)]! += 1;
  }

  /** Calls `each` for every operation and status that occurred. */
  requests(each: (operation: string, status: number, count: number) => void): void {
    this.#requests.forEach((count, at) => {
      if (count === 0) return;
      const name = this.operations[Math.floor(at / STATUSES)] ?? '';
      each(name, (at % STATUSES) + STATUSES_FROM, count);
    });
  }

  /** Calls `each` for every code of a refusal that occurred. */
  refusals(each: (code: number, count: number) => void): void {
    this.#codes.forEach((count, code) => {
      if (count > 0) each(code, count);
    });
  }

  /** The times of every operation and precision that occurred. */
  latencies(): readonly Latency[] {
    const found: Latency[] = [];
    for (let series = 0; series < this.#microseconds.length; series += 1) {
      const buckets = [...this.#buckets.subarray(series * BUCKETS, (series + 1) * BUCKETS)];
      if (buckets.every((count) => count === 0)) continue;
      found.push({
        operation: this.operations[Math.floor(series / this.#precisions)] ?? '',
        precision: series % this.#precisions,
        buckets,
        seconds: this.#microseconds[series]! / 1_000_000,
      });
    }
    return found;
  }
}
