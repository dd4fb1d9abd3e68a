/** The parts of the service: gate, workers, bulk, streams, jobs, and the routes that use them. */
import { availableParallelism } from 'node:os';
import { type AppOptions, type Opened, settingsOf } from './opened.js';
import type { Config } from './config.js';
import { accountRoutes } from './api/account/handler.js';
import { cartRoutes } from './api/cart/handler.js';
import { ticRoutes } from './api/catalogue/handler.js';
import { openTics } from './api/catalogue/pages.js';
import { AnswerCache } from './api/lookup/answer-cache.js';
import { lookupRoutes } from './api/lookup/handler.js';
import { relayCart, relayRoutes } from './api/merchant/relay-handler.js';
import { type MerchantParts, openMerchants } from './api/merchant/routes.js';
import {
  healthRoute,
  liveRoute,
  metadataRoute,
  type Readiness,
  readyRoute,
} from './api/system/health.js';
import { FleetFiles } from './bulk/fleet/open-files.js';
import type { JobRegistry } from './bulk/job/registry.js';
import { openJobs, type JobParts } from './bulk/job/handler.js';
import { BULK_ROUTES } from './bulk/run/kind.js';
import { openUploads, spoolDirOf, type BulkParts } from './bulk/run/open-bulk.js';
import { openStreams, type StreamParts } from './bulk/stream/open-streams.js';
import { schemaRoutes, withOpenapi } from './describe/document.js';
import { ClientGate, type GuessWatch } from './http/client-limit.js';
import type { Gate } from './http/gate.js';
import type { Route } from './http/router.js';
import type { EnginePool } from './pool.js';
import { keptOf, openShared, readinessOf, type ServiceState, type Shared } from './shared.js';
import { VERSION_KEY } from './store/format.js';
import { lives } from './store/nodes.js';
import type { ServiceClock } from './store/service-clock.js';
import type { UsageBook } from './store/usage.js';
import { failureBytes } from './wire/failure-body.js';

/** Parts that live as long as the service and are closed with it. */
export interface Parts {
  readonly gate: Gate;
  readonly pool: EnginePool;
  readonly bulk: BulkParts;
  readonly streams: StreamParts;
  readonly jobs: JobRegistry;
  /** Null where files are not shared over a fleet. */
  readonly files: FleetFiles | null;
  readonly merchants: MerchantParts;
  readonly usage: UsageBook;
  readonly clock: ServiceClock;
  readonly routes: readonly Route[];
  readonly state: ServiceState;
  readonly readiness: Readiness;
  /** Lookup answers that are kept. */
  readonly cache: AnswerCache;
  readonly guesses: GuessWatch;
}

/** How many worker threads files have. */
function bulkThreads({ bulkWorkers }: Config): number {
  return bulkWorkers > 0 ? bulkWorkers : availableParallelism();
}

/** @throws Error that names the setting where its address cannot be used. */
function openFiles({ config, log, live }: Shared, { uploads }: BulkParts): FleetFiles | null {
  const { fleet: url, varDir } = config;
  return url === ''
    ? null
    : new FleetFiles({
        url,
        varDir,
        log,
        live,
        schedule: uploads.schedule,
        threads: bulkThreads(config),
        settings: config,
      });
}

/** Opens bulk files, with workers of their own. */
function openBulk(shared: Shared): BulkParts {
  const { config, log, worker, gate, usage, live, findMerchant, store, member } = shared;
  return openUploads({
    kept: keptOf(shared),
    gate,
    usage,
    releases: live,
    findMerchant,
    log,
    threads: bulkThreads(config),
    settings: settingsOf(config),
    limits: {
      rowsMax: config.bulkRowsMax,
      bytesMax: config.bulkBytesMax,
      idleMs: config.bulkIdleMs,
    },
    spoolDir: spoolDirOf(config.varDir, member.id, (id) => lives(store, id)),
    spoolBytesMax: config.bulkSpoolBytesMax,
    ...(worker === undefined ? {} : { worker }),
  });
}

function openMerchantParts(
  { store, vault, log, gate, usage, age, config, live, timer, member }: Shared,
  pool: EnginePool,
  bulk: BulkParts,
): MerchantParts {
  return openMerchants({
    store,
    vault,
    log,
    gate,
    usage,
    age,
    bodyWorkers: bulk.pool,
    node: member.id,
    sendsMails: config.smtpUrl !== null,
    locator: {
      loaded: () => live.release !== null,
      submit: (request) => pool.submit(request),
    },
    ...(timer === undefined ? {} : { timer }),
  });
}

function openJobParts(
  shared: Shared,
  { uploads }: BulkParts,
  merchants: MerchantParts,
  files: FleetFiles | null,
): JobParts {
  const { store, log, gate, usage, age, live, config, findMerchant, keys, member, place } = shared;
  return openJobs({
    ...(files === null ? {} : { fleet: (job, release) => files.workers(job, release) }),
    files: config.storeUrl === null ? null : (files?.jobFiles ?? null),
    member,
    place,
    store,
    log,
    gate,
    usage,
    age,
    findMerchant,
    releases: live,
    baseUrl: config.baseUrl,
    settings: keptOf(shared).settings,
    keyOf: (id) => keys.findId(id),
    idempotency: merchants.services.idempotency,
    varDir: config.varDir,
    uploads,
    kinds: BULK_ROUTES,
    filesDir: config.bulkDir,
    days: config.jobDays,
    limits: config.jobLimits,
  });
}

/** A store whose known state is older than this counts as out of reach in `GET /system/health`. */
const STORE_LOST_MS = 8_000;
function systemRoutes(
  { live, follower, store, member, limits, files }: Shared,
  readiness: Readiness,
): readonly Route[] {
  const health = healthRoute({
    release: () => live.release,
    refusal: () => live.refusal,
    fleet: () => follower?.status ?? null,
    limits: () => limits.shared,
    files: () => files?.status ?? null,
    askStore: () => {
      store.get(VERSION_KEY);
      if ((store.age() ?? 0) > STORE_LOST_MS) throw new Error('the database is out of reach');
    },
    readiness,
    servers: () => member.others.length + 1,
  });
  return [health, liveRoute(), readyRoute(readiness), metadataRoute()];
}

/** The routes that need neither a merchant nor a file. */
function plainRoutes(
  shared: Shared,
  pool: EnginePool,
  cache: AnswerCache,
  readiness: Readiness,
): readonly Route[] {
  const { config, gate, anyKeyGate, usage, live, log } = shared;
  const { renderFailure = failureBytes } = shared;
  const { baseUrl } = config;
  const tics = openTics(live, log);
  return [
    ...lookupRoutes({
      gate,
      usage,
      pool,
      renderFailure,
      baseUrl,
      kept: keptOf(shared),
      repeats: {
        cache,
        release: () => live.release?.id ?? '',
      },
    }),
    ...accountRoutes({
      gate: anyKeyGate,
      counts: (id) => usage.counts(id),
      message: config.accountMessage,
    }),
    ...systemRoutes(shared, readiness),
    ...ticRoutes({
      gate,
      clients: new ClientGate(undefined, shared.supervised?.clients ?? null),
      pages: () => tics.pages(),
      renderFailure,
      baseUrl,
    }),
    ...schemaRoutes(baseUrl),
  ];
}

/** Makes the parts of the service and its routes; no job runs yet, and nothing listens. */
export function openParts(options: AppOptions, opened: Opened): Parts {
  const shared = openShared(options, opened);
  const { config, gate, usage, clock, live, log, findMerchant, provider, pool } = shared;
  const cache = new AnswerCache(config.answerCacheBytes);
  const readiness = readinessOf(shared, pool);
  const bulk = openBulk(shared);
  const files = openFiles(shared, bulk);
  const streams = openStreams({
    kept: keptOf(shared),
    gate,
    usage,
    releases: live,
    log,
    findMerchant,
    schedule: bulk.uploads.schedule,
    idleMs: config.streamIdleMs,
    resumeMs: config.streamResumeMs,
  });
  const merchants = openMerchantParts(shared, pool, bulk);
  const { jobs, routes: jobRoutes } = openJobParts(shared, bulk, merchants, files);
  const relay = { ...merchants.services, provider, timeoutMs: config.providerTimeoutMs };
  const routes = withOpenapi(
    [
      ...plainRoutes({ ...shared, files }, pool, cache, readiness),
      ...merchants.routes,
      ...relayRoutes(relay),
      ...bulk.routes,
      ...jobRoutes,
      ...streams.routes,
      ...cartRoutes({
        ...relay,
        lookups: usage,
        pool,
        bulkPool: bulk.pool,
        findMerchant,
        kept: keptOf(shared),
        relayCart: (...asked) => relayCart(relay, ...asked),
      }),
    ],
    config.baseUrl,
  );
  const { state, guesses } = shared;
  return {
    gate,
    pool,
    bulk,
    streams,
    jobs,
    files,
    merchants,
    usage,
    clock,
    routes,
    state,
    readiness,
    cache,
    guesses,
  };
}
