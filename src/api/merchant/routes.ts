/** Everything that merchants have of their own: records, credentials, nexus. */
import { randomUUID } from 'node:crypto';
import { messageOf, type Log } from '../../log.js';
import { IdempotencyBook, SWEEP_MS } from '../../store/idempotency.js';
import { sweepRetired } from '../../store/retired.js';
import type { Store } from '../../store/store.js';
import type { Vault } from '../../store/vault.js';
import type { Gate } from '../../http/gate.js';
import type { BodyWorkers } from './large-body.js';
import type { MerchantUsage } from '../../http/merchant-route.js';
import type { Route } from '../../http/router.js';
import { credentialsRoutes } from './credentials-handler.js';
import { merchantRoutes } from './handler.js';
import { nexusRoutes, type NexusServices } from './nexus-handler.js';
import {
  startTimer, type GeocodingUsage, type Locator, type StartTimer,
} from './nexus-locator.js';

export interface MerchantOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly log: Log;
  readonly gate: Gate;
  readonly usage: MerchantUsage & GeocodingUsage;
  readonly locator: Locator;
  readonly bodyWorkers: BodyWorkers;
  readonly baseUrl: string;
  /** Whether a mail server is set. */
  readonly sendsMails: boolean;
  /** Id of this server among those of the store; left out where it is the only one. */
  readonly node?: string;
  /** What kept answers and deleted records are aged by. */
  readonly age: () => number;
  /** Replaced in tests, as is the one below. */
  readonly now?: () => number;
  readonly timer?: StartTimer;
}

export interface MerchantParts {
  readonly routes: readonly Route[];
  /** What every merchant route is made of, for other routes behind the gate. */
  readonly services: NexusServices;
  /** Removes what was deleted long ago where room is scarce, as is done by itself; how many. */
  sweep(bytesKept?: number): Promise<number>;
  close(): Promise<void>;
}

/** Makes the routes of merchants; close it before the store. */
export function openMerchants(options: MerchantOptions): MerchantParts {
  const { store, vault, log, gate, usage, locator, baseUrl } = options;
  const { now = Date.now, timer = startTimer } = options;
  const idempotency = new IdempotencyBook(store, {
    vault,
    node: options.node ?? '',
    now: options.age,
    failed: (error) => log.error('kept answers not swept', { message: messageOf(error) }),
  });
  const sweep = (bytesKept?: number): Promise<number> =>
    sweepRetired(store, options.age(), bytesKept);
  const sweeping = setInterval(() => {
    sweep().catch((error: unknown) => {
      log.error('deleted merchants not swept', { message: messageOf(error) });
    });
  }, SWEEP_MS).unref();
  const services: NexusServices = {
    store, vault, log, gate, usage, geocoding: usage, idempotency, locator, baseUrl,
    now, age: options.age, timer, newId: randomUUID, bodyWorkers: options.bodyWorkers,
    sendsMails: options.sendsMails,
  };
  return {
    services,
    sweep,
    routes: [...merchantRoutes(services), ...credentialsRoutes(services), ...nexusRoutes(services)],
    close: async () => {
      clearInterval(sweeping);
      await idempotency.close();
    },
  };
}
