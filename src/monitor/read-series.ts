/** Series for Prometheus whose figures are counted elsewhere, and read when they are requested. */
import {
  Counter,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  type MetricValueWithName,
} from 'prom-client';
import { LATENCY_BOUNDS } from '../http/request-meter.js';

/** A value of a series. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface SeriesName {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** A counter whose values come from a source. */
export class CountedSeries extends Counter<string> {
  readonly #read: () => readonly Sample[];

  constructor(name: SeriesName, read: () => readonly Sample[]) {
    super({ ...name, registers: [] });
    this.#read = read;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    const metric = await super.get();
    return { ...metric, values: this.#read().map(({ labels, value }) => ({ labels, value })) };
  }
}

/** Times of requests of one operation and precision. */
interface TimedRequests {
  readonly operation: string;
  readonly precision: string;
  /** How many requests are in each bucket; not cumulative. The last one has no bound. */
  readonly buckets: readonly number[];
  readonly seconds: number;
}

/** A histogram whose buckets come from a source. */
export class LatencySeries extends Histogram<string> {
  readonly #name: string;
  /** A histogram without values, from which name, help and type are taken. */
  readonly #empty: Histogram<string>;
  readonly #read: () => readonly TimedRequests[];

  constructor(name: SeriesName, read: () => readonly TimedRequests[]) {
    const config = { ...name, buckets: [...LATENCY_BOUNDS], registers: [] };
    super(config);
    this.#name = name.name;
    this.#empty = new Histogram(config);
    this.#read = read;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const metric = await this.#empty.get();
    return { ...metric, values: this.#read().flatMap((timed) => this.#values(timed)) };
  }

  /** The library calls this one to print the series. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }

  #values({
    operation,
    precision,
    buckets,
    seconds,
  }: TimedRequests): readonly MetricValueWithName<string>[] {
    const labels = { operation, precision };
    const name = this.#name;
    let count = 0;
    const values = buckets.map((inside, at): MetricValueWithName<string> => {
      count += inside;
      const le = LATENCY_BOUNDS[at] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...values,
      { metricName: `${name}_sum`, labels, value: seconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
