/** What every part of the service is made with: keys, gates, usage, clock, readiness. */
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

/** What is told of the service while it runs. */
export interface ServiceState {
  /** It was told to stop. */
  draining: boolean;
}

/** What every part is made with: what is open, and what is asked of it by all of them. */
export interface Shared extends AppOptions, Opened {
  /** Those that may ask for rates, and those that may look at their account: disabled ones too. */
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

/** Makes the gates, the book of usage and the clock over what is open. */
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

/** Kept releases, for those who ask for one by its name, and receipts. */
export function keptOf({ config, live, log }: Shared): KeptServices {
  const { baseUrl, precisionMin, refuseUnruled } = config;
  return {
    ask: (name) => live.ask(name),
    log,
    engine: `situs ${packageVersion()}`,
    settings: { baseUrl, precisionMin, refuseUnruled },
  };
}

/** From this age on what is known of a database that cannot be reached is too old. */
const STORE_AGE_MS_MAX = 30_000;

/** What keeps the service from being ready; a store that took nothing is tried again when asked. */
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
        // What is known goes on being served for a while.
        if ((store.age() ?? 0) > STORE_AGE_MS_MAX) return false;
        return clock.stored && hasRoom(config.varDir);
      },
      providerReached: () => providerWatch?.reached ?? true,
    },
    log,
  );
}
