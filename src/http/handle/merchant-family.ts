/** Everything that merchants have of their own: records, credentials, nexus. */
import { randomUUID } from 'node:crypto';
import { messageOf, type Log } from '../../log.js';
import { IdempotencyBook } from '../../store/idempotency.js';
import type { KeyRecord } from '../../store/format.js';
import type { Store } from '../../store/store.js';
import type { Vault } from '../../store/vault.js';
import type { MerchantUsage } from '../merchant-gate.js';
import type { RateGate } from '../rate-limit.js';
import type { Route } from '../router.js';
import { credentialsRoutes } from './merchant-credentials.js';
import { merchantRoutes } from './merchant.js';
import { nexusRoutes, type NexusDesk } from './nexus.js';
import {
  startTimer, type GeocodingUsage, type Locator, type StartTimer,
} from './nexus-locator.js';

export interface MerchantFamilyOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly log: Log;
  readonly findKey: (text: string) => KeyRecord | null;
  readonly gate: RateGate;
  readonly usage: MerchantUsage & GeocodingUsage;
  readonly locator: Locator;
  readonly baseUrl: string;
  /** Replaced in tests, as is the one below. */
  readonly now?: () => number;
  readonly timer?: StartTimer;
}

export interface MerchantFamily {
  readonly routes: readonly Route[];
  /** What every merchant route is made of, for the routes of other families behind the gate. */
  readonly desk: NexusDesk;
  close(): Promise<void>;
}

/** Makes the routes of merchants; close it before the store. */
export function openMerchantFamily(options: MerchantFamilyOptions): MerchantFamily {
  const { store, vault, log, findKey, gate, usage, locator, baseUrl } = options;
  const { now = Date.now, timer = startTimer } = options;
  const idempotency = new IdempotencyBook(store, {
    vault,
    now,
    failed: (error) => log.error('kept answers not swept', { message: messageOf(error) }),
  });
  const desk: NexusDesk = {
    store, vault, log, findKey, gate, usage, geocoding: usage, idempotency, locator, baseUrl,
    now, timer, newId: randomUUID,
  };
  return {
    desk,
    routes: [...merchantRoutes(desk), ...credentialsRoutes(desk), ...nexusRoutes(desk)],
    close: () => idempotency.close(),
  };
}
