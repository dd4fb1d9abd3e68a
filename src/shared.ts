/** Makes what every part of the service uses: keys, gates, usage, clock, readiness. */
import type { KeptServices } from './api/lookup/kept.js';
import { Readiness } from './api/system/health.js';
import { packageVersion } from './base/process.js';
import type { FleetFiles } from './bulk/fleet/open-files.js';
import { GuessGuard, GuessWatch } from './http/client-limit.js';
import { Gate } from './http/gate.js';
import { type AppOptions, logging, type Opened } from './opened.js';
import type { EnginePool } from './pool.js';
import { hasRoom } from './store/folder.js';
import { ServiceClock } from './store/service-clock.js';
import { UsageBook } from './store/usage.js';
import { KeyCache, merchantFinder } from './store/watched.js';

/** State of the service that changes while it runs. */
export interface ServiceState {
  /** Whether it was told to stop. */
  draining: boolean;
}

/** What every part of the service is made with. */
export interface Shared extends AppOptions, Opened {
  /** Finds active keys, which may ask for rates, and all keys, which may see their account. */
  readonly keys: KeyCache;
  readonly gate: Gate;
  readonly anyKeyGate: Gate;
  readonly usage: UsageBook;
  readonly clock: ServiceClock;
  readonly age: () => number;
  readonly state: ServiceState;
  readonly guesses: GuessWatch;
  readonly findMerchant: ReturnType<typeof merchantFinder>;
  readonly files?: FleetFiles | null;
}

/** Makes the gates, the counts of usage and the clock. */
export function openShared(options: AppOptions, opened: Opened): Shared {
  const {
    config: { baseUrl },
    log,
  } = options;
  const {
    store,
    member,
    limits: { rates },
  } = opened;
  const keys = new KeyCache(store);
  const guesses = new GuessGuard(undefined, options.supervised?.clients ?? null);
  const gating = { rates, baseUrl, guesses, isBehind: (): boolean => store.isBehind };
  const isShared = (): boolean => member.others.length > 0;
  const clock = new ServiceClock(store, {
    failed: logging(log, 'clock not stored'),
    shared: isShared(),
  });
  return {
    ...options,
    ...opened,
    keys,
    clock,
    state: { draining: false },
    guesses: new GuessWatch(guesses, log),
    gate: new Gate({ ...gating, find: (text) => keys.find(text) }),
    anyKeyGate: new Gate({ ...gating, find: (text) => keys.findAny(text) }),
    usage: new UsageBook(store, {
      shared: isShared,
      failed: (error) => {
        logging(log, 'usage not stored')(error);
        void clock.save();
      },
    }),
    age: () => clock.now(),
    findMerchant: merchantFinder(store),
  };
}

/** Gives access to kept releases by name, and the data for receipts. */
export function keptOf({ config, live, log }: Shared): KeptServices {
  const { baseUrl, precisionMin, refuseUnruled } = config;
  return {
    ask: (name) => live.ask(name),
    log,
    engine: `situs ${packageVersion()}`,
    settings: { baseUrl, precisionMin, refuseUnruled },
  };
}

/** A database that is out of reach makes the service unready when its known state is this old. */
const STORE_AGE_MS_MAX = 30_000;

/**
 * Decides whether the service is ready. If the last write to the store failed, asking tries again.
 */
export function readinessOf(
  { config, state, live, follower, clock, providerWatch, store, log }: Shared,
  pool: EnginePool,
): Readiness {
  return new Readiness(
    {
      draining: () => state.draining,
      hasDataset: () => live.release !== null,
      followsFleet: () => follower?.status.follows ?? true,
      serving: () => pool.state.serving > 0,
      storeTakes: () => {
        if (!clock.stored) void clock.save();
        // Until then the known state is still served.
        if ((store.age() ?? 0) > STORE_AGE_MS_MAX) return false;
        return clock.stored && hasRoom(config.varDir);
      },
      providerReached: () => providerWatch?.reached ?? true,
    },
    log,
  );
}
