/** Assembles the service: config → store → live dataset → pool → routes. */
import { availableParallelism } from 'node:os';
import type { Config } from './config.js';
import type { LiveDataset } from './dataset/live.js';
import { openLive } from './dataset/open-live.js';
import type { Dataset } from './dataset/dataset.js';
import { Delivery } from './event/delivery.js';
import { readDeliverySettings } from './event/settings.js';
import { AnswerCache } from './api/lookup/answer-cache.js';
import {
  openUploads, spoolDirOf, type BulkParts, type OpenBulkOptions,
} from './bulk/run/routes.js';
import { BULK_TERMS } from './bulk/run/kind.js';
import { accountRoutes } from './api/account/handler.js';
import { cartRoutes } from './api/cart/handler.js';
import { healthRoute } from './api/system/health.js';
import { lookupRoutes, type RenderFailure } from './api/lookup/handler.js';
import { openMerchantFamily, type MerchantFamily } from './api/merchant/routes.js';
import type { StartTimer } from './api/merchant/nexus-locator.js';
import { schemaRoutes, withOpenapi } from './describe/handler.js';
import { relayCart, relayRoutes } from './api/merchant/relay-handler.js';
import { metadataRoute } from './api/system/system.js';
import { openTics } from './api/catalogue/pages.js';
import { ticRoutes } from './api/catalogue/handler.js';
import { ClientGate, GuessGuard } from './http/client-limit.js';
import { Gate } from './http/gate.js';
import type { JobRegistry } from './bulk/job/registry.js';
import { openJobs } from './bulk/job/routes.js';
import { createRateGate } from './http/rate-limit.js';
import { Router, type Route } from './http/router.js';
import { openStreams, type StreamParts } from './bulk/stream/routes.js';
import { createServer, type RawServer } from './http/uws.js';
import { messageOf, type Log } from './log.js';
import { EnginePool } from './pool.js';
import { openProvider } from './provider/open.js';
import type { Provider } from './provider/port.js';
import { VERSION_KEY } from './store/format.js';
import { KeyCache } from './store/key-cache.js';
import { bootstrapKey } from './store/keys.js';
import { merchantFinder } from './store/merchant-cache.js';
import { countOutboxAccounts } from './store/outbox-count.js';
import { countShares } from './store/share-count.js';
import { claimStore, releaseServer } from './store/server-claim.js';
import { ServiceClock } from './store/service-clock.js';
import { Store } from './store/store.js';
import { UsageBook } from './store/usage.js';
import { openVault, type Vault } from './store/vault.js';
import { failureBytes } from './wire/failure-body.js';

/** Longest wait for answers under way when the service stops. */
export const DRAIN_MS_MAX = 4_000;
const DRAIN_CHECK_MS = 10;

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  /** Replaced in tests, as are the three below. */
  readonly worker?: URL;
  readonly open?: (dir: string) => Dataset;
  readonly renderFailure?: RenderFailure;
  /** Measures the budget of geocoding. */
  readonly timer?: StartTimer;
}

/** Tells the log of what went wrong. */
function logging(log: Log, event: string): (error: unknown) => void {
  return (error) => log.error(event, { message: messageOf(error) });
}

/** One thread for the front end on small machines, the rest for answers. */
function workerCount(config: Config): number {
  return config.workers > 0 ? config.workers : Math.max(1, availableParallelism() - 1);
}

/** Bulk files, with workers of their own. */
function openBulk(
  { config, log, worker }: AppOptions,
  services: Pick<OpenBulkOptions, 'gate' | 'usage' | 'releases' | 'findMerchant'>,
): BulkParts {
  const { baseUrl, precisionMin, logLevel } = config;
  return openUploads({
    ...services, log, baseUrl,
    threads: config.bulkWorkers > 0 ? config.bulkWorkers : availableParallelism(),
    settings: { baseUrl, precisionMin, logLevel },
    limits: {
      rowsMax: config.bulkRowsMax, bytesMax: config.bulkBytesMax, idleMs: config.bulkIdleMs,
    },
    spoolDir: spoolDirOf(config.varDir), spoolBytesMax: config.bulkSpoolBytesMax,
    ...(worker === undefined ? {} : { worker }),
  });
}

export class App {
  /** A first key that was made at random, to be shown once; null otherwise. */
  readonly firstKey: string | null;
  readonly live: LiveDataset;
  /** What the service answers. */
  readonly routes: readonly Route[];
  readonly #store: Store;
  readonly #usage: UsageBook;
  readonly #clock: ServiceClock;
  readonly #delivery: Delivery;
  readonly #merchants: MerchantFamily;
  readonly #provider: Provider | null;
  /** For those who watch what is under way, as are the bulk files, streams and exchanges. */
  readonly pool: EnginePool;
  readonly bulk: BulkParts;
  readonly #jobs: JobRegistry;
  readonly streams: StreamParts;
  readonly router: Router;
  readonly #server: RawServer;
  readonly #config: Config;
  #stopping: Promise<void> | null = null;

  private constructor(
    options: AppOptions, store: Store, vault: Vault, delivery: Delivery,
    provider: Provider | null, firstKey: string | null, server: RawServer, live: LiveDataset,
  ) {
    const { config, log, renderFailure = failureBytes } = options;
    this.#config = config;
    this.#store = store;
    this.#delivery = delivery;
    this.#provider = provider;
    this.#server = server;
    this.firstKey = firstKey;
    const keys = new KeyCache(store);
    const shared = {
      rates: createRateGate(), baseUrl: config.baseUrl, guesses: new GuessGuard(),
    };
    const gate = new Gate({ ...shared, find: (text) => keys.find(text) });
    const usage = new UsageBook(store, { failed: logging(log, 'usage not stored') });
    this.#usage = usage;
    this.#clock = new ServiceClock(store, { failed: logging(log, 'clock not stored') });
    const age = (): number => this.#clock.now();
    this.live = live;
    this.pool = new EnginePool({
      releases: this.live,
      log,
      threads: workerCount(config),
      settings: {
        baseUrl: config.baseUrl, precisionMin: config.precisionMin, logLevel: config.logLevel,
      },
      ...(options.worker === undefined ? {} : { worker: options.worker }),
    });
    const merchantOf = merchantFinder(store);
    this.bulk = openBulk(options, {
      gate, usage, releases: this.live, findMerchant: merchantOf,
    });
    this.streams = openStreams({
      gate, usage, releases: this.live, log,
      schedule: this.bulk.desk.schedule,
      findMerchant: merchantOf,
      idleMs: config.streamIdleMs, resumeMs: config.streamResumeMs,
    });
    const tics = openTics(this.live, log);
    this.#merchants = openMerchantFamily({
      store, vault, log, gate, usage, age, baseUrl: config.baseUrl,
      bodyWorkers: this.bulk.pool,
      locator: {
        loaded: () => this.live.release !== null,
        submit: (request) => this.pool.submit(request),
      },
      ...(options.timer === undefined ? {} : { timer: options.timer }),
    });
    const { jobs, routes: ofJobs } = openJobs({
      store, log, gate, usage, age, releases: this.live, baseUrl: config.baseUrl,
      findMerchant: merchantOf,
      keyOf: (id) => keys.findId(id), idempotency: this.#merchants.desk.idempotency,
      varDir: config.varDir, desk: this.bulk.desk, kinds: BULK_TERMS, filesDir: config.bulkDir,
      days: config.jobDays, limits: config.jobLimits,
    });
    this.#jobs = jobs;
    const relay = {
      ...this.#merchants.desk, provider, timeoutMs: config.providerTimeoutMs,
    };
    this.routes = withOpenapi([
      ...lookupRoutes({
        gate, usage, pool: this.pool, renderFailure, baseUrl: config.baseUrl,
        repeats: {
          cache: new AnswerCache(config.answerCacheBytes),
          release: () => this.live.release?.id ?? '',
        },
      }),
      ...accountRoutes({
        gate: new Gate({ ...shared, find: (text) => keys.findAny(text) }),
        counts: (id) => usage.counts(id),
        message: config.accountMessage,
      }),
      healthRoute({
        release: () => this.live.release,
        refusal: () => this.live.refusal,
        askStore: () => {
          store.get(VERSION_KEY);
        },
      }),
      metadataRoute(),
      ...ticRoutes({
        gate, clients: new ClientGate(), pages: () => tics.pages(), renderFailure,
        baseUrl: config.baseUrl,
      }),
      ...schemaRoutes(config.baseUrl),
      ...this.#merchants.routes,
      ...relayRoutes(relay),
      ...this.bulk.routes,
      ...ofJobs,
      this.streams.route,
      ...cartRoutes({
        ...relay, lookups: usage, pool: this.pool, bulkPool: this.bulk.pool,
        findMerchant: merchantOf,
        relayCart: (...asked) => relayCart(relay, ...asked),
      }),
    ], config.baseUrl);
    this.router = new Router(this.routes, log, gate.fieldsOf, config.bodyBytes);
    this.streams.attach(server, this.router.traffic);
    this.router.attach(server);
  }

  /** Opens everything; nothing listens yet. */
  static async start(options: AppOptions): Promise<App> {
    const { config, log } = options;
    const settings = readDeliverySettings(config);
    const provider = openProvider(config);
    const server = await createServer((error) =>
      log.error('handler failed', { message: messageOf(error) }));
    const store = await Store.open(config.varDir, { failed: logging(log, 'store') });
    await claimStore(store);
    await countShares(store);
    await countOutboxAccounts(store);
    const vault = await openVault(config, store);
    // Another process looks through the release while the rest is opened.
    const opening = openLive(config.varDir, log, options.open);
    opening.catch(() => undefined);
    const delivery = await Delivery.open({ store, vault, log, settings });
    const created = await bootstrapKey(store, config.bootstrapKey, config.bootstrapRate);
    const firstKey = config.bootstrapKey === null ? created?.text ?? null : null;
    const live = await opening;
    return new App(options, store, vault, delivery, provider, firstKey, server, live);
  }

  /**
   * Listens and returns the port.
   * @throws Error when the port cannot be had.
   */
  async listen(): Promise<number> {
    const { host, port } = this.#config;
    const listening = await this.#server.listen(host, port);
    if (listening !== null) {
      this.#delivery.start();
      this.#jobs.start();
      return listening;
    }
    throw new Error(
      `cannot listen on ${host}:${port}: the port is taken, or the address or port is not ` +
      'permitted; set HOST and PORT',
    );
  }

  /** Refuses new connections, finishes what is under way, closes everything. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#server.stopListening();
    this.router.traffic.closing = true;
    this.bulk.stop();
    this.streams.stop();
    const until = performance.now() + DRAIN_MS_MAX;
    const delivered = this.#delivery.close(DRAIN_MS_MAX);
    const paused = this.#jobs.stop();
    // A job may wait for the check of an old release, which can take minutes.
    this.live.stop();
    while (this.router.traffic.open > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
    this.streams.close();
    await paused;
    await this.pool.close();
    await this.bulk.close();
    this.#server.close();
    this.live.close();
    await this.#usage.close();
    await delivered;
    await this.#merchants.close();
    await this.#clock.close();
    await this.#provider?.close();
    // A claim that stays, on a full disk, holds nobody up: its process has ended.
    await releaseServer(this.#store).catch(() => undefined);
    await this.#store.close();
  }
}
