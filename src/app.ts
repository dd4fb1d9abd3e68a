/** Assembles the service: config → store → live dataset → pool → routes. */
import { availableParallelism } from 'node:os';
import type { Config } from './config.js';
import { LiveDataset, type ReleaseFacts } from './dataset/live.js';
import { readManifest } from './dataset/manifest.js';
import { openDataset } from './dataset/open.js';
import type { Dataset } from './dataset/dataset.js';
import { Delivery } from './event/delivery.js';
import { readDeliverySettings } from './event/settings.js';
import { AnswerCache } from './http/answer-cache.js';
import {
  openBulkFamily, spoolDirOf, type BulkFamily, type BulkFamilyOptions,
} from './http/bulk/family.js';
import { BULK_TERMS } from './http/bulk/kind.js';
import { accountRoutes } from './http/handle/account.js';
import { cartRoutes } from './http/handle/cart.js';
import { healthRoute } from './http/handle/health.js';
import { lookupRoutes, type RenderFailure } from './http/handle/lookup.js';
import { openMerchantFamily, type MerchantFamily } from './http/handle/merchant-family.js';
import type { StartTimer } from './http/handle/nexus-locator.js';
import { withOpenapi } from './http/handle/openapi.js';
import { relayCart, relayRoutes } from './http/handle/relay.js';
import { schemaRoutes } from './http/handle/schema.js';
import { metadataRoute } from './http/handle/system.js';
import { TicDesk } from './http/handle/tic-desk.js';
import { ClientGate } from './http/handle/tic-gate.js';
import { ticRoutes } from './http/handle/tic.js';
import { refusalFields } from './http/rate-fields.js';
import type { JobDesk } from './http/jobs/desk.js';
import { openJobFamily } from './http/jobs/family.js';
import { createRateGate } from './http/rate-limit.js';
import { Router, type Route } from './http/router.js';
import { openStreamFamily, type StreamFamily } from './http/socket/family.js';
import { createServer, type RawServer } from './http/uws.js';
import { messageOf, type Log } from './log.js';
import { EnginePool } from './pool.js';
import { openProvider } from './provider/open.js';
import type { Provider } from './provider/port.js';
import { VERSION_KEY } from './store/format.js';
import { KeyCache } from './store/key-cache.js';
import { bootstrapKey } from './store/keys.js';
import { merchantFinder } from './store/merchant-cache.js';
import { claimStore, releaseServer } from './store/server-claim.js';
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

/** Reads a release's facts and asks for one record of each end, so that a torn file shows. */
function probe(dataset: Dataset, dir: string): ReleaseFacts {
  const manifest = readManifest(dir);
  const areas = manifest.counts['areas'] ?? 0;
  if (areas === 0 || dataset.states().length === 0) throw new Error('the dataset is empty');
  const today = new Date().toISOString().slice(0, 10);
  const stale = manifest.coverage.flatMap(({ state, levels }) => levels
    .filter(({ until }) => until !== '' && until < today)
    .map(({ level, source }) => `${state} ${level} ${source}`));
  return { areas, stale };
}

/** One thread for the front end on small machines, the rest for answers. */
function workerCount(config: Config): number {
  return config.workers > 0 ? config.workers : Math.max(1, availableParallelism() - 1);
}

/** Bulk files, with workers of their own. */
function openBulk(
  { config, log, worker }: AppOptions,
  services: Pick<BulkFamilyOptions, 'findKey' | 'gate' | 'usage' | 'releases' | 'findMerchant'>,
): BulkFamily {
  const { baseUrl, precisionMin, logLevel } = config;
  return openBulkFamily({
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

/** The product codes; their index is made here, before anyone waits for it. */
function openTics(live: LiveDataset, log: Log): TicDesk {
  const tics = new TicDesk({
    release: () => live.release?.id ?? null, document: (name) => live.document(name),
  });
  try {
    tics.pages();
  } catch (error) {
    log.error('product codes unreadable', { message: messageOf(error) });
  }
  return tics;
}

export class App {
  /** A first key that was made at random, to be shown once; null otherwise. */
  readonly firstKey: string | null;
  readonly live: LiveDataset;
  /** What the service answers. */
  readonly routes: readonly Route[];
  readonly #store: Store;
  readonly #usage: UsageBook;
  readonly #delivery: Delivery;
  readonly #merchants: MerchantFamily;
  readonly #provider: Provider | null;
  /** For those who watch what is under way, as are the bulk files, streams and exchanges. */
  readonly pool: EnginePool;
  readonly bulk: BulkFamily;
  readonly #jobs: JobDesk;
  readonly streams: StreamFamily;
  readonly router: Router;
  readonly #server: RawServer;
  readonly #config: Config;
  #stopping: Promise<void> | null = null;

  private constructor(
    options: AppOptions, store: Store, vault: Vault, delivery: Delivery,
    provider: Provider | null, firstKey: string | null, server: RawServer,
  ) {
    const { config, log, renderFailure = failureBytes } = options;
    this.#config = config;
    this.#store = store;
    this.#delivery = delivery;
    this.#provider = provider;
    this.#server = server;
    this.firstKey = firstKey;
    const keys = new KeyCache(store);
    const findKey = keys.find.bind(keys);
    const gate = createRateGate();
    const usage = new UsageBook(store, {
      failed: (error) => log.error('usage not stored', { message: messageOf(error) }),
    });
    this.#usage = usage;
    this.live = new LiveDataset({
      varDir: config.varDir, log, probe, open: options.open ?? openDataset,
    });
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
      findKey, gate, usage, releases: this.live, findMerchant: merchantOf,
    });
    this.streams = openStreamFamily({
      findKey, gate, usage, releases: this.live, log, baseUrl: config.baseUrl,
      schedule: this.bulk.desk.schedule,
      findMerchant: merchantOf,
      idleMs: config.streamIdleMs, resumeMs: config.streamResumeMs,
    });
    const tics = openTics(this.live, log);
    this.#merchants = openMerchantFamily({
      store, vault, log, findKey, gate, usage, baseUrl: config.baseUrl,
      locator: {
        loaded: () => this.live.release !== null,
        submit: (request) => this.pool.submit(request),
      },
      ...(options.timer === undefined ? {} : { timer: options.timer }),
    });
    const { jobs, routes: ofJobs } = openJobFamily({
      store, log, findKey, gate, usage, releases: this.live, baseUrl: config.baseUrl,
      findMerchant: merchantOf,
      keyOf: (id) => keys.findId(id), idempotency: this.#merchants.desk.idempotency,
      varDir: config.varDir, desk: this.bulk.desk, kinds: BULK_TERMS, filesDir: config.bulkDir,
      days: config.jobDays, bytesMax: config.jobBytesMax,
    });
    this.#jobs = jobs;
    const relay = {
      ...this.#merchants.desk, provider, timeoutMs: config.providerTimeoutMs,
    };
    this.routes = withOpenapi([
      ...lookupRoutes({
        findKey, gate, usage, pool: this.pool, renderFailure, baseUrl: config.baseUrl,
        repeats: {
          cache: new AnswerCache(config.answerCacheBytes),
          release: () => this.live.release?.id ?? '',
        },
      }),
      ...accountRoutes({
        findKey: (text) => keys.findAny(text),
        gate,
        counts: (id) => usage.counts(id),
        message: config.accountMessage,
      }),
      healthRoute({
        release: () => this.live.release,
        askStore: () => {
          store.get(VERSION_KEY);
        },
      }),
      metadataRoute(),
      ...ticRoutes({
        findKey, gate, clients: new ClientGate(), pages: () => tics.pages(), renderFailure,
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
        relayCart: (caller, merchant, request, look) =>
          relayCart(relay, caller, merchant, request, look),
      }),
    ], config.baseUrl);
    this.router = new Router(this.routes, log, refusalFields(findKey, gate));
    this.streams.attach(server, this.router.traffic);
    this.router.attach(server);
  }

  /** Opens everything; nothing listens yet. */
  static async start(options: AppOptions): Promise<App> {
    const { config, log } = options;
    const settings = readDeliverySettings(config);
    const provider = openProvider(config);
    const server = await createServer();
    const store = await Store.open(config.varDir);
    await claimStore(store);
    const vault = await openVault(config, store);
    const delivery = await Delivery.open({ store, vault, log, settings });
    const created = await bootstrapKey(store, config.bootstrapKey, config.bootstrapRate);
    const firstKey = config.bootstrapKey === null ? created?.text ?? null : null;
    return new App(options, store, vault, delivery, provider, firstKey, server);
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
    const until = Date.now() + DRAIN_MS_MAX;
    const delivered = this.#delivery.close(DRAIN_MS_MAX);
    const paused = this.#jobs.stop();
    while (this.router.traffic.open > 0 && Date.now() < until) {
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
    await this.#provider?.close();
    // A claim that stays, on a full disk, holds nobody up: its process has ended.
    await releaseServer(this.#store).catch(() => undefined);
    await this.#store.close();
  }
}
