/** The service from start to end: opens its parts, listens, and closes them. */
import { waitUntil } from './base/process.js';
import type { Config } from './config.js';
import type { LiveDataset } from './dataset/live.js';
import type { BulkParts } from './bulk/run/open-bulk.js';
import { Router, type Route } from './http/router.js';
import type { StreamParts } from './bulk/stream/open-streams.js';
import { messageOf, type Log } from './log.js';
import { type AppOptions, type Beginning, leaveStore, openAll, type Opened } from './opened.js';
import { openParts, type Parts } from './parts.js';
import type { EnginePool } from './pool.js';
import { ServiceWatch } from './service-watch.js';

/** How long a service that stops waits for answers under way. */
export const DRAIN_MS_MAX = 4_000;
/** How long a server that replaces another waits for its first worker. */
const WARM_MS_MAX = 60_000;

export class App {
  /** A first key that was made at random, to be shown once; null otherwise. */
  readonly firstKey: string | null;
  /** Port of the listener for metrics; null before it listens, or where there is none. */
  metricsPort: number | null = null;
  /** For tests that watch requests under way. */
  readonly router: Router;
  readonly #opened: Opened;
  readonly #parts: Parts;
  readonly #config: Config;
  readonly #log: Log;
  readonly #watch: ServiceWatch;
  /** Whether other servers listen on the same port. */
  readonly #shared: boolean;
  #stopping: Promise<void> | null = null;

  private constructor(options: AppOptions, { opened, firstKey, watching }: Beginning) {
    const { config, log } = options;
    this.firstKey = firstKey;
    this.#config = config;
    this.#log = log;
    this.#shared = (options.supervised ?? null) !== null;
    this.#opened = opened;
    this.#parts = openParts(options, opened);
    const { routes, streams, gate } = this.#parts;
    this.#watch = new ServiceWatch(options, watching, this.#parts);
    this.router = new Router(routes, log, gate.fieldsOf, config.bodyBytes, this.#watch.front);
    streams.attach(opened.server, this.router);
    this.router.attach(opened.server);
  }

  get live(): LiveDataset {
    return this.#opened.live;
  }

  /** All routes of the service. */
  get routes(): readonly Route[] {
    return this.#parts.routes;
  }

  get pool(): EnginePool {
    return this.#parts.pool;
  }

  /** Checks at once whether a required provider can be reached, as is done every few seconds. */
  async lookForProvider(): Promise<void> {
    await this.#opened.providerWatch?.look();
  }

  get bulk(): BulkParts {
    return this.#parts.bulk;
  }

  get jobs(): Parts['jobs'] {
    return this.#parts.jobs;
  }

  get streams(): StreamParts {
    return this.#parts.streams;
  }

  /** Opens everything except the port. */
  static async start(options: AppOptions): Promise<App> {
    const beginning = await openAll(options);
    try {
      return new App(options, beginning);
    } catch (error) {
      await beginning.opened.pool.close();
      await leaveStore(beginning.opened);
      throw error;
    }
  }

  /**
   * Listens and returns the port.
   * @throws Error when the port is not available.
   */
  async listen(): Promise<number> {
    const { host, port } = this.#config;
    const listening = await this.#opened.server.listen(host, port, this.#shared);
    if (listening !== null) {
      await this.#listenForMetrics();
      this.#opened.delivery.start();
      this.#parts.files?.start();
      this.#parts.jobs.start();
      this.#opened.follower?.start();
      return listening;
    }
    throw new Error(
      `cannot listen on ${host}:${port}: the port is taken, or the address or port is not ` +
        'permitted; set HOST and PORT',
    );
  }

  /** Resolves when lookups would be answered at once. */
  async warm(): Promise<void> {
    await waitUntil(() => this.#parts.pool.state.serving > 0, performance.now() + WARM_MS_MAX);
  }

  /** @throws Error that names the setting when its address is not available. */
  async #listenForMetrics(): Promise<void> {
    const open = (): number => this.router.traffic.open;
    const patientMs = this.#shared ? this.#config.leaveMs : 0;
    this.metricsPort = await this.#watch.listen(this.#opened, this.#parts, open, patientMs);
  }

  /** Opens log files again, which may have been moved away, and reads the certificate again. */
  async reload(): Promise<void> {
    this.#watch.reopen();
    try {
      await this.#opened.server.renew();
    } catch (error) {
      this.#log.error('certificate not renewed', { message: messageOf(error) });
    }
  }

  /**
   * Reports that it is not ready, and goes on for the configured time while others send requests.
   */
  async drain(): Promise<void> {
    this.#parts.state.draining = true;
    this.#parts.files?.leave();
    const { drainMs } = this.#config;
    if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
  }

  /**
   * Leaves the port to another server that listens on it. Each connection is closed with an answer
   * that announces it, or ten seconds after one; jobs, events and mails go to the other server at
   * once.
   */
  async leave(): Promise<void> {
    const { server, delivery, member } = this.#opened;
    const { streams, jobs, files } = this.#parts;
    const { traffic } = this.router;
    const until = performance.now() + this.#config.leaveMs;
    this.#watch.leave();
    await server.stopTaking();
    traffic.closing = true;
    streams.stop();
    files?.leave();
    Promise.all([jobs.stop(), delivery.close(DRAIN_MS_MAX)])
      .then(() => member.resign())
      .catch((error: unknown) => this.#log.error('not handed over', { message: messageOf(error) }));
    await waitUntil(() => server.connections + traffic.open === 0, until);
    await this.stop();
  }

  /** Refuses new connections, finishes requests under way, and closes everything. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { server, live, follower, delivery, store, member, provider, providerWatch, limits } =
      this.#opened;
    const { bulk, streams, jobs, files, pool, usage, merchants, clock, state, guesses } =
      this.#parts;
    state.draining = true;
    store.leave();
    providerWatch?.close();
    server.stopListening();
    this.router.traffic.closing = true;
    bulk.stop();
    streams.stop();
    const until = performance.now() + DRAIN_MS_MAX;
    const delivered = delivery.close(DRAIN_MS_MAX);
    const paused = Promise.all([jobs.stop(), files?.close(until)]);
    // A job may be waiting for the check of an old release, which can take minutes.
    live.stop();
    await follower?.stop();
    await waitUntil(() => this.router.traffic.open === 0, until);
    streams.close();
    await paused;
    await pool.close();
    await bulk.close();
    server.close();
    await this.#watch.close();
    guesses.close();
    await limits.close();
    live.close();
    await usage.close();
    await delivered;
    await merchants.close();
    await clock.close();
    await provider?.close();
    await leaveStore({ member, store });
  }
}
