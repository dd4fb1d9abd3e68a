/**
 * Makes the answer of `GET /metrics`, from figures that are read when it is asked for: the service
 * counts in plain numbers and knows nothing of Prometheus. The values of labels come from fixed
 * lists; none is a key, an account or an address.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { type Readiness, UNREADY } from '../api/system/health.js';
import type { AnswerCache } from '../api/lookup/answer-cache.js';
import type { FilesStatus } from '../bulk/fleet/open-files.js';
import type { JobCounts } from '../bulk/job/open-job.js';
import type { LiveRelease } from '../dataset/live.js';
import type { FleetStatus } from '../distribution/fleet-place.js';
import { PRECISIONS } from '../engine/situs.js';
import type { RequestMeter } from '../http/request-meter.js';
import type { TransportName } from '../http/transport.js';
import type { SharedRates } from '../limit/shared-rates.js';
import type { PoolState } from '../pool/threads.js';
import type { OutboxCount } from '../store/outbox-record.js';
import { CountedSeries, LatencySeries, type Sample } from './read-series.js';

/** Sources of the figures, which are read at each request for metrics. */
export interface MetricSources {
  readonly meter: RequestMeter;
  readonly cache: AnswerCache;
  readonly readiness: Readiness;
  /** How many requests of all kinds are under way. */
  open(): number;
  /** The workers for single lookups, and those for bulk files. */
  pools(): Readonly<Record<'lookup' | 'bulk', PoolState>>;
  release(): LiveRelease | null;
  /** Whether another dataset than the activated one is in use. */
  refused(): boolean;
  /** Null where the server belongs to no fleet. */
  fleet(): FleetStatus | null;
  /** Chunks of other nodes' files; null where this node takes none. */
  files(): FilesStatus | null;
  /** How many bytes the records of the store take. */
  storeBytes(): number;
  /** Rate windows shared with other nodes; null where there are none. */
  limits(): Pick<SharedRates, 'shared' | 'counts'> | null;
  /**
   * How many milliseconds old the known state of a shared store is; null for a store of this server
   * only.
   */
  storeAge(): number | null;
  outbox(): Readonly<Record<'events' | 'mails', OutboxCount>>;
  jobs(): JobCounts;
  jobBytes(): number;
  /** How many streams of messages are kept, and how many bulk files are under way. */
  streams(): number;
  uploads(): number;
  readonly transport: TransportName;
  /** Milliseconds since 1970. */
  now(): number;
}

/** A series: its name, its meaning, its labels, and how its samples are read from the sources. */
type Reading = readonly [
  name: string,
  help: string,
  labels: readonly string[],
  read: (sources: MetricSources) => readonly Sample[],
];

const one = (value: number): readonly Sample[] => [{ labels: {}, value }];
const flag = (value: boolean): readonly Sample[] => one(value ? 1 : 0);

/** One sample for each pool. */
function ofPools({ pools }: MetricSources, read: (state: PoolState) => number): readonly Sample[] {
  return Object.entries(pools()).map(([pool, state]) => ({ labels: { pool }, value: read(state) }));
}

/** One sample, or none where the server belongs to no fleet. */
function ofFleet(
  { fleet }: MetricSources,
  is: (status: FleetStatus) => boolean,
): readonly Sample[] {
  const status = fleet();
  return status === null ? [] : flag(is(status));
}

/** Samples about chunks of files; none where this node takes none. */
function ofFiles(
  { files }: MetricSources,
  read: (status: FilesStatus) => readonly Sample[],
): readonly Sample[] {
  const status = files();
  return status === null ? [] : read(status);
}

/** One sample about shared windows, or none where there are none. */
function ofLimits(
  { limits }: MetricSources,
  read: (rates: Pick<SharedRates, 'shared' | 'counts'>) => number,
): readonly Sample[] {
  const rates = limits();
  return rates === null ? [] : one(read(rates));
}

/** How many lists of each state have ended; "WA state a-list" counts for Washington. */
function staleStates(release: LiveRelease | null): readonly Sample[] {
  const lists = new Map<string, number>();
  for (const name of release?.stale ?? []) {
    const [state = ''] = name.split(' ');
    lists.set(state, (lists.get(state) ?? 0) + 1);
  }
  return [...lists].map(([state, value]) => ({ labels: { state }, value }));
}

/** Taken from the name of the release, which begins with the newest as-of day of its sources. */
function ageSeconds({ release, now }: MetricSources): readonly Sample[] {
  const [day = ''] = /^\d{4}-\d{2}-\d{2}/.exec(release()?.id ?? '') ?? [];
  return day === '' ? [] : one(Math.max(0, (now() - Date.parse(day)) / 1_000));
}

// biome-ignore format: a series a row, and below each how it is read
const GAUGES: readonly Reading[] = [
  ['situs_ready', '1 when requests should be sent here.', [],
    ({ readiness }) => flag(readiness.reasons.length === 0)],
  ['situs_unready', '1 for each reason that keeps the service from being ready.', ['reason'],
    ({ readiness: { reasons } }) => Object.keys(UNREADY).map((reason) =>
      ({ labels: { reason }, value: reasons.some((each) => each === reason) ? 1 : 0 }))],
  ['situs_requests_open', 'Requests under way.', [], ({ open }) => one(open())],
  ['situs_pool_waiting', 'Requests that no worker has taken yet.', ['pool'],
    (sources) => ofPools(sources, ({ waiting }) => waiting)],
  ['situs_pool_waiting_bytes', 'Bytes of these.', ['pool'],
    (sources) => ofPools(sources, ({ waitingBytes }) => waitingBytes)],
  ['situs_pool_workers', 'Worker threads, whether they serve or not.', ['pool'],
    (sources) => ofPools(sources, ({ lanes }) => lanes.length)],
  ['situs_pool_workers_serving', 'Worker threads that serve.', ['pool'],
    (sources) => ofPools(sources, ({ serving }) => serving)],
  ['situs_lane_requests', 'Requests taken by a worker and not answered.', ['pool', 'lane'],
    ({ pools }) => Object.entries(pools()).flatMap(([pool, { lanes }]) =>
      lanes.map((value, lane) => ({ labels: { pool, lane: String(lane) }, value })))],
  ['situs_answer_cache_bytes', 'Memory of answers that are kept.', [],
    ({ cache }) => one(cache.bytes)],
  ['situs_transport_info', '1, with the HTTP server that answers.', ['transport'],
    ({ transport }) => [{ labels: { transport }, value: 1 }]],
  ['situs_dataset_info', '1, with the release that answers.', ['dataset'],
    ({ release }) => {
      const id = release()?.id;
      return id === undefined ? [] : [{ labels: { dataset: id }, value: 1 }];
    }],
  ['situs_dataset_age_seconds', 'Since the newest as-of day of its sources.', [], ageSeconds],
  ['situs_dataset_areas', 'Tax areas of the release.', [],
    ({ release }) => one(release()?.areas ?? 0)],
  ['situs_dataset_refused', '1 while the activated release does not answer.', [],
    ({ refused }) => flag(refused())],
  ['situs_fleet_place_reached', '1 when the place of the fleet\'s datasets answers.', [],
    (sources) => ofFleet(sources, ({ reached }) => reached)],
  ['situs_fleet_dataset_followed', '1 when the dataset that is active for the fleet answers.', [],
    (sources) => ofFleet(sources, ({ follows }) => follows)],
  ['situs_fleet_dataset_unprepared', '1 while a dataset of the fleet cannot be prepared.', [],
    (sources) => ofFleet(sources, ({ problem }) => problem !== null)],
  ['situs_dataset_stale_lists', 'Lists of a state that have ended and are still used.', ['state'],
    ({ release }) => staleStates(release())],
  ['situs_store_bytes', 'Bytes of the store that hold records.', [],
    ({ storeBytes }) => one(storeBytes())],
  ['situs_limits_shared', '1 while rates are those of all nodes, 0 while shares of this one.', [],
    (sources) => ofLimits(sources, ({ shared }) => (shared ? 1 : 0))],
  ['situs_store_age_seconds', 'Since what is known of a shared store was its newest.', [],
    ({ storeAge }) => {
      const age = storeAge();
      return age === null ? [] : one(age / 1_000);
    }],
  ['situs_outbox_records', 'Events and mails that wait or could not be sent.', ['kind', 'state'],
    ({ outbox }) => Object.entries(outbox()).flatMap(([kind, { waiting, dead }]) => [
      { labels: { kind, state: 'waiting' }, value: waiting },
      { labels: { kind, state: 'dead' }, value: dead },
    ])],
  ['situs_jobs', 'Bulk jobs that have not ended.', ['state'],
    ({ jobs }) => Object.entries(jobs()).map(([state, value]) => ({ labels: { state }, value }))],
  ['situs_job_bytes', 'Disk of uploads and results of jobs.', [],
    ({ jobBytes }) => one(jobBytes())],
  ['situs_streams_open', 'Streams of messages that are kept.', [], ({ streams }) => one(streams())],
  ['situs_files_broker_reached', '1 when the broker that files go over can be reached.', [],
    (sources) => ofFiles(sources, ({ reached }) => flag(reached))],
  ['situs_files_chunks_open', 'Chunks of files of the fleet that this node has in hand.', [],
    (sources) => ofFiles(sources, ({ inHand }) => one(inHand))],
  ['situs_bulk_files_open', 'Bulk files under way.', [], ({ uploads }) => one(uploads())],
];

// biome-ignore format: a series a row, and below each how it is read
const COUNTERS: readonly Reading[] = [
  ['situs_requests_total', 'Requests answered; status 499 is a client that left before.',
    ['operation', 'status'], ({ meter }) => {
      const samples: Sample[] = [];
      meter.requests((operation, status, value) => {
        samples.push({ labels: { operation, status: String(status) }, value });
      });
      return samples;
    }],
  ['situs_refusals_total', 'Refusals by response code, or by status where there is none.', ['code'],
    ({ meter }) => {
      const samples: Sample[] = [];
      meter.refusals((code, value) => samples.push({ labels: { code: String(code) }, value }));
      return samples;
    }],
  ['situs_answer_cache_hits_total', 'Lookups answered from kept answers.', [],
    ({ cache }) => one(cache.hits)],
  ['situs_answer_cache_misses_total', 'Lookups that were not.', [],
    ({ cache }) => one(cache.misses)],
  ['situs_limits_asked_total', 'Requests whose shared window was asked.', [],
    (sources) => ofLimits(sources, ({ counts }) => counts.asked)],
  ['situs_limits_ahead_total', 'Requests admitted from places that were held ahead.', [],
    (sources) => ofLimits(sources, ({ counts }) => counts.ahead)],
  ['situs_limits_batches_total', 'Batches that they were asked in.', [],
    (sources) => ofLimits(sources, ({ counts }) => counts.batches)],
  ['situs_limits_alone_total', 'Requests decided about by the share of this node.', [],
    (sources) => ofLimits(sources, ({ counts }) => counts.own)],
  ['situs_limits_lost_total', 'Times that shared windows did not answer any more.', [],
    (sources) => ofLimits(sources, ({ counts }) => counts.away)],
  ['situs_files_chunks_total', 'Chunks of files of the fleet: taken, and what became of them.',
    ['result'], (sources) => ofFiles(sources, ({ counts }) =>
      Object.entries(counts).map(([result, value]) => ({ labels: { result }, value })))],
  ['situs_pool_workers_ended_total', 'Worker threads that ended and were replaced.', ['pool'],
    (sources) => ofPools(sources, ({ ended }) => ended)],
];

/** Makes the registry, which reads the sources each time it is asked. */
export function openMetrics(sources: MetricSources): Registry {
  const registry = new Registry();
  // Event loop, memory, garbage collection and processor time, under the library's usual names.
  collectDefaultMetrics({ register: registry });
  for (const [name, help, labelNames, read] of GAUGES) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          // For a series without labels `reset` would leave a 0, although there may be no value.
          if (labelNames.length === 0) this.remove();
          else this.reset();
          for (const { labels, value } of read(sources)) this.set({ ...labels }, value);
        },
      }),
    );
  }
  for (const [name, help, labelNames, read] of COUNTERS) {
    registry.registerMetric(new CountedSeries({ name, help, labelNames }, () => read(sources)));
  }
  registry.registerMetric(
    new LatencySeries(
      {
        name: 'situs_request_duration_seconds',
        labelNames: ['operation', 'precision'],
        help: 'From the head of a request to its answer; precision of answered lookups and carts.',
      },
      () =>
        sources.meter.latencies().map(({ precision, ...latency }) => ({
          ...latency,
          precision: PRECISIONS[precision] ?? 'none',
        })),
    ),
  );
  return registry;
}
