/** The merchant operations over a store of a test's own, without the rest of the service. */
import type { TestContext } from 'node:test';
import { type MerchantParts, openMerchants } from '../../src/api/merchant/routes.js';
import { loadConfig } from '../../src/config.js';
import { Gate } from '../../src/http/gate.js';
import { createServer } from '../../src/http/open-transport.js';
import { createRateGate } from '../../src/http/rate-limit.js';
import { type Route, Router } from '../../src/http/router.js';
import { SILENT } from '../../src/log.js';
import { KeyCache } from '../../src/store/watched.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { openVault } from '../../src/store/vault.js';
import { ELMTON, removeDirs, UNKNOWN_ID } from './merchant-service.js';

interface MerchantRoutesOptions {
  /** Bytes that the store may grow to; without, as many as ever. */
  readonly bytesMax?: number;
  /** Clocks, in milliseconds; the machine's unless given. */
  readonly now?: () => number;
  readonly age?: () => number;
  /** Routes beside those of merchants. */
  readonly also?: (merchants: MerchantParts) => readonly Route[];
}

interface MerchantRoutes {
  readonly store: Store;
  readonly merchants: MerchantParts;
  readonly base: string;
}

/** Serves merchants from the store in a folder; both are removed at the end of the test. */
export async function serveMerchants(
  context: TestContext,
  varDir: string,
  { bytesMax, now = Date.now, age = Date.now, also = () => [] }: MerchantRoutesOptions = {},
): Promise<MerchantRoutes> {
  const store = await Store.open(varDir, bytesMax === undefined ? {} : { bytesMax });
  const vault = await openVault(loadConfig({ SITUS_VAR: varDir }), store);
  const keys = new KeyCache(store);
  const gate = new Gate({
    find: (text) => keys.find(text),
    rates: createRateGate(),
    baseUrl: '',
  });
  const usage = new UsageBook(store);
  const locator = { loaded: () => false, submit: () => undefined };
  const merchants = openMerchants({
    store,
    vault,
    log: SILENT,
    gate,
    usage,
    locator,
    bodyWorkers: locator,
    now,
    age,
    sendsMails: true,
  });
  const server = await createServer();
  new Router([...merchants.routes, ...also(merchants)], SILENT, gate.fieldsOf).attach(server);
  const base = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  context.after(async () => {
    server.close();
    await merchants.close();
    await usage.close();
    await store.close();
    removeDirs(varDir);
  });
  return { store, merchants, base };
}

export interface MerchantEndpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What the plan must include. */
  readonly needs: 'merchants' | 'provider';
  readonly writes: boolean;
  /** Whom it is about; nobody where it makes or lists. */
  readonly about: 'merchant' | 'location' | null;
  readonly body: (merchantId: string, locationId: string) => object;
  /** What a merchant that is not the caller's is answered with. */
  readonly foreign: 403 | 404 | null;
}

function endpoint(
  path: string,
  given: Partial<MerchantEndpoint>,
  more: (merchantId: string, locationId: string) => object = () => ({}),
): MerchantEndpoint {
  return {
    method: 'POST',
    path: `/merchant/${path}`,
    needs: 'merchants',
    writes: true,
    about: 'merchant',
    foreign: 403,
    body: (merchantId, locationId) => ({ merchantId, ...more(merchantId, locationId) }),
    ...given,
  };
}

export const ENDPOINTS: readonly MerchantEndpoint[] = [
  endpoint('create', {
    about: null,
    foreign: null,
    body: () => ({ merchantName: 'Acme', merchantType: 'self-managed' }),
  }),
  endpoint('update', {}, () => ({ update: { merchantName: 'Taken over' } })),
  endpoint('delete', {}),
  endpoint('get', { writes: false, foreign: 404 }),
  endpoint('list', {
    method: 'GET',
    writes: false,
    about: null,
    foreign: null,
    body: () => ({}),
  }),
  endpoint('credentials/set', { needs: 'provider' }, (merchantId) => ({
    apiKey: 'sk-any',
    connectionId: `connection-${merchantId}`,
  })),
  endpoint('credentials/get', { writes: false }),
  endpoint('credentials/delete', { needs: 'provider' }),
  endpoint('nexus/create', {}, () => ({ locations: [ELMTON] })),
  endpoint('nexus/list', { writes: false }),
  endpoint('nexus/update', { about: 'location' }, (_, locationId) => ({
    locationId,
    location: ELMTON,
  })),
  endpoint('nexus/delete', { about: 'location' }, (_, locationId) => ({ locationId })),
];

/** A body about nobody. */
export function bodyAboutNobody({ body }: MerchantEndpoint): object {
  return body(UNKNOWN_ID, UNKNOWN_ID);
}
