/** Opens what the routes need: store, dataset, threads, and the services that are watched. */
import { availableParallelism } from 'node:os';
import type { RenderFailure } from './api/lookup/head.js';
import type { StartTimer } from './api/merchant/nexus-locator.js';
import { placeOf } from './bulk/job/ownership.js';
import { jobsDirOf } from './bulk/job/space.js';
import type { Config } from './config.js';
import type { Dataset } from './dataset/dataset.js';
import { openLive } from './dataset/open-live.js';
import type { LiveDataset } from './dataset/live.js';
import { readPublicKeys } from './dataset/signature.js';
import type { Follower } from './distribution/follower.js';
import { openFollower } from './distribution/puller.js';
import { Delivery, readDeliverySettings } from './event/delivery.js';
import { createServer } from './http/open-transport.js';
import type { RawServer } from './http/transport.js';
import { type Limits, openLimits } from './limit/open-rates.js';
import type { Supervised } from './listener/supervised.js';
import { type Log, messageOf } from './log.js';
import { EnginePool, type EngineSettings, type ReleaseSource } from './pool.js';
import { openProvider, type ProviderWatch, watchProvider } from './provider/open-provider.js';
import type { Provider } from './provider/provider.js';
import { readWatchSettings, type WatchSettings } from './service-watch.js';
import { removeLeftStores } from './store/backup.js';
import { bootstrapKey } from './store/keys.js';
import { claimStore, releaseServer } from './store/nodes.js';
import { Membership } from './store/membership.js';
import { countOutboxAccounts } from './store/outbox-count.js';
import { countShares } from './store/share-count.js';
import { Store } from './store/store.js';
import { openVault, type Vault } from './store/vault.js';

export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  /** Null for a server that is alone on its port. */
  readonly supervised?: Supervised | null;
  /** Replaced in tests, like the four below. */
  readonly worker?: URL;
  readonly open?: (dir: string) => Dataset;
  readonly renderFailure?: RenderFailure;
  readonly openedLimits?: Limits;
  /** Starts the timer that limits geocoding. */
  readonly timer?: StartTimer;
}

/** What is open before the routes are made. */
export interface Opened {
  readonly store: Store;
  /** This server's membership among the servers of the store. */
  readonly member: Membership;
  /** The name of the folder with this server's jobs. */
  readonly place: string;
  readonly vault: Vault;
  readonly delivery: Delivery;
  readonly provider: Provider | null;
  /** Null unless the service is only ready with the provider. */
  readonly providerWatch: ProviderWatch | null;
  readonly server: RawServer;
  readonly live: LiveDataset;
  /** Null where the server belongs to no fleet. */
  readonly follower: Follower | null;
  readonly pool: EnginePool;
  readonly limits: Limits;
}

/** Makes a function that logs an error. */
export function logging(log: Log, event: string): (error: unknown) => void {
  return (error) => log.error(event, { message: messageOf(error) });
}

/** The settings that workers need. */
export function settingsOf({
  baseUrl,
  precisionMin,
  refuseUnruled,
  logLevel,
}: Config): EngineSettings {
  return { baseUrl, precisionMin, refuseUnruled, logLevel };
}

/** On small machines there is one thread for the front end; the others answer requests. */
function openPool({ config, log, worker }: AppOptions, releases: ReleaseSource): EnginePool {
  return new EnginePool({
    releases,
    log,
    settings: settingsOf(config),
    threads: config.workers > 0 ? config.workers : Math.max(1, availableParallelism() - 1),
    ...(worker === undefined ? {} : { worker }),
  });
}

/** Opens the store with its counters, and joins the servers that have it open. */
async function openStore({
  config,
  log,
}: AppOptions): Promise<Pick<Opened, 'store' | 'vault' | 'place' | 'member'>> {
  removeLeftStores(config.varDir);
  const store = await Store.open(config.varDir, {
    url: config.storeUrl,
    failed: logging(log, 'store'),
  });
  await claimStore(store);
  await countShares(store);
  await countOutboxAccounts(store);
  const vault = await openVault(config, store);
  const place = placeOf(jobsDirOf(config.varDir));
  const member = await Membership.join(store, {
    place,
    failed: logging(log, 'no sign of life stored'),
  });
  return { store, vault, place, member };
}

/**
 * Leaves the store and closes it. If a process exits during a write of LMDB, it waits for the
 * writing thread, which waits for a call into the process: for ever.
 */
export async function leaveStore({
  member,
  store,
}: Pick<Opened, 'member' | 'store'>): Promise<void> {
  await member.leave();
  // On a full disk the claim stays, which hinders nobody, as its process has ended.
  await releaseServer(store).catch(() => undefined);
  await store.close();
}

/** What a service starts with. */
export interface Beginning {
  readonly opened: Opened;
  /** A first key that was made at random, to be shown once; null otherwise. */
  readonly firstKey: string | null;
  readonly watching: WatchSettings;
}

/**
 * Opens everything except the port.
 * @throws Error that names a setting with an invalid value, or says what cannot be opened
 */
export async function openAll(options: AppOptions): Promise<Beginning> {
  const { config, log } = options;
  const settings = readDeliverySettings(config);
  const watching = await readWatchSettings(config, log);
  const signedBy = readPublicKeys(config.requireSignature, 'SITUS_REQUIRE_SIGNATURE');
  const provider = await openProvider(config);
  const server = await createServer({
    transport: config.transport,
    tls: config.tls,
    log,
    fault: (error) => log.error('handler failed', { message: messageOf(error) }),
  });
  const { store, vault, place, member } = await openStore(options);
  // Another process checks the release, and threads load, while the rest is opened.
  const opening = openLive(config.varDir, log, signedBy, {
    open: options.open,
    beside: member.others.length > 0,
  });
  opening.catch(() => undefined);
  let live: LiveDataset | null = null;
  const pool = openPool(options, {
    pin: () => live?.pin() ?? null,
    unpin: (release) => live?.unpin(release),
  });
  try {
    const delivery = await Delivery.open({
      store,
      vault,
      log,
      settings,
      lease: (name) => member.lease(name),
    });
    const created = await bootstrapKey(store, config.bootstrapKey, config.bootstrapRate);
    const firstKey = config.bootstrapKey === null ? (created?.text ?? null) : null;
    live = await opening;
    const providerWatch = watchProvider(config, log);
    const limits =
      options.openedLimits ?? (await openLimits(config.limits, log, options.supervised ?? null));
    const follower = await openFollower({ config, live, log, signedBy });
    const opened = {
      store,
      member,
      place,
      vault,
      delivery,
      provider,
      providerWatch,
      server,
      live,
      follower,
      pool,
      limits,
    };
    return { opened, firstKey, watching };
  } catch (error) {
    await pool.close();
    await leaveStore({ member, store });
    throw error;
  }
}
