/** Watches the service: metrics, the request log, traces, and the `Front` of each request. */
import type { AppOptions, Opened } from './opened.js';
import { packageVersion } from './base/process.js';
import type { Config } from './config.js';
import { PRECISIONS } from './engine/situs.js';
import type { CrossOrigins } from './http/cross-origin.js';
import { Front, type RequestLine, type RequestSink } from './http/front.js';
import type { TrustedProxies } from './http/proxies.js';
import { RequestMeter } from './http/request-meter.js';
import { operationNames } from './http/router.js';
import type { Log } from './log.js';
import { MetricsListener, type MetricsAddress, WATCH_READERS } from './monitor/listener.js';
import type { MetricSources } from './monitor/metrics.js';
import type { RequestLog } from './monitor/request-log.js';
import type { Traces } from './monitor/traces.js';
import type { Parts } from './parts.js';
import { outboxCounts } from './store/outbox-count.js';

/** Parts that are made from settings before anything else is opened. */
export interface WatchSettings {
  readonly metrics: MetricsAddress | null;
  readonly origins: CrossOrigins | null;
  readonly proxies: TrustedProxies | null;
  readonly requests: RequestLog | null;
  readonly traces: Traces | null;
}

async function openTraces(config: Config['traces'], log: Log): Promise<Traces | null> {
  if (config.url === '') return null;
  const monitor = await import('./monitor/traces.js');
  return new monitor.Traces(config, packageVersion(), log);
}

async function openRequestLog(config: Config['requestLog'], log: Log): Promise<RequestLog | null> {
  if (config.path === null) return null;
  const monitor = await import('./monitor/request-log.js');
  return monitor.RequestLog.open(config, log);
}

/** @throws Error that names a setting with an invalid value. */
export async function readWatchSettings(config: Config, log: Log): Promise<WatchSettings> {
  return {
    metrics: WATCH_READERS.metrics(config),
    origins: WATCH_READERS.origins(config),
    proxies: WATCH_READERS.proxies(config),
    traces: await openTraces(config.traces, log),
    // Last, because it opens a file.
    requests: await openRequestLog(config.requestLog, log),
  };
}

function sourcesOf(
  { store, live, follower, server, limits }: Opened,
  parts: Parts,
  meter: RequestMeter,
  open: () => number,
): MetricSources {
  const { pool, bulk, streams, jobs, files, cache, readiness } = parts;
  return {
    meter,
    cache,
    readiness,
    open,
    transport: server.transport,
    pools: () => ({ lookup: pool.state, bulk: bulk.pool.state }),
    release: () => live.release,
    refused: () => live.refusal !== null,
    fleet: () => follower?.status ?? null,
    limits: () => limits.shared,
    files: () => files?.status ?? null,
    storeBytes: () => store.bytes(),
    storeAge: () => store.age(),
    outbox: () => outboxCounts(store),
    jobs: () => jobs.counts,
    jobBytes: () => jobs.options.space.used,
    streams: () => streams.sessions.open,
    uploads: () => bulk.uploads.open,
    now: Date.now,
  };
}

/** Passes each request to all sinks; null where there are none. */
function sinkOf(sinks: readonly RequestSink[]): RequestSink | null {
  const [first = null, second] = sinks;
  if (second === undefined) return first;
  return {
    addresses: sinks.some(({ addresses }) => addresses),
    traces: sinks.some(({ traces }) => traces),
    told: (line: RequestLine) => sinks.forEach((sink) => sink.told(line)),
  };
}

export class ServiceWatch {
  readonly front: Front;
  readonly #address: MetricsAddress | null;
  readonly #meter: RequestMeter | null;
  readonly #requests: RequestLog | null;
  readonly #traces: Traces | null;
  readonly #log: Log;
  #listener: MetricsListener | null = null;

  constructor(
    { log }: AppOptions,
    { metrics, origins, proxies, requests, traces }: WatchSettings,
    { routes }: Pick<Parts, 'routes'>,
  ) {
    const names = operationNames(routes);
    this.#log = log;
    this.#address = metrics;
    this.#meter = metrics === null ? null : new RequestMeter(names, PRECISIONS.length);
    this.#requests = requests;
    this.#traces = traces;
    const sinks = [requests, traces].filter((sink) => sink !== null);
    for (const sink of sinks) sink.operations = names;
    this.front = new Front({ meter: this.#meter, sink: sinkOf(sinks), origins, proxies });
  }

  /**
   * Listens for metrics where that is configured, and returns the port; null otherwise, and while
   * another server has the port that may leave it within `patientMs`.
   */
  async listen(
    opened: Opened,
    parts: Parts,
    open: () => number,
    patientMs: number,
  ): Promise<number | null> {
    if (this.#address === null || this.#meter === null) return null;
    const { openMetrics } = await import('./monitor/metrics.js');
    const registry = openMetrics(sourcesOf(opened, parts, this.#meter, open));
    this.#listener = new MetricsListener(registry, this.#log);
    return this.#listener.listen(this.#address, patientMs);
  }

  /** Opens the request log again, which may have been moved away. */
  reopen(): void {
    this.#requests?.reopen();
  }

  /** Frees the address of metrics for the server that replaces this one. */
  leave(): void {
    this.#listener?.close();
    this.#listener = null;
  }

  async close(): Promise<void> {
    this.#listener?.close();
    await this.#traces?.close();
    await this.#requests?.close();
  }
}
