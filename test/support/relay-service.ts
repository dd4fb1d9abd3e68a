/** The assembled service in front of a provider, with merchants of every kind. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { loadConfig } from '../../src/config.js';
import { ECHO_WORKER } from './http-stub-server.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  sendRaw,
  startMerchants,
  type AskOptions,
  type MerchantService,
  type RawAnswered,
} from './merchant-service.js';

export const CONNECTION_ID = '25eb9b97-5acb-492d-b720-c03e79cf715a';

export interface RelayService extends MerchantService {
  /** Provider merchant of account alpha with credentials. */
  readonly connected: string;
  /** The same without any. */
  readonly unconnected: string;
  readonly selfManaged: string;
  readonly deleted: string;
  /** Provider merchant of account beta with credentials. */
  readonly foreign: string;
}

interface RelayOptions {
  /** Null configures none. */
  readonly providerUrl: string | null;
  readonly apiKey?: string;
  readonly connectionId?: string;
  readonly timeoutMs?: number;
}

async function createMerchant(
  service: MerchantService,
  body: object,
  options: AskOptions = {},
): Promise<string> {
  const {
    status,
    body: { merchantId },
  } = await service.post('/merchant/create', { merchantName: 'Acme', ...body }, options);
  assert.equal(status, 201);
  return String(merchantId);
}

/** Starts it for one test. */
export async function startRelay(
  context: TestContext,
  options: RelayOptions,
): Promise<RelayService> {
  const { providerUrl, apiKey = 'simulated-key', connectionId = CONNECTION_ID } = options;
  const varDir = await newMerchantDir(null);
  const service = await startMerchants(varDir, {
    // Nothing is calculated here.
    worker: ECHO_WORKER,
    config: loadConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_VAR: varDir,
      SITUS_WORKERS: '1',
      SITUS_BASE_URL: 'https://rates.example',
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_TIMEOUT_MS: String(options.timeoutMs ?? 120_000),
      ...(providerUrl === null ? {} : { SITUS_PROVIDER_URL: providerUrl }),
    }),
  });
  context.after(async () => {
    await service.stop();
    removeDirs(varDir);
  });
  const connect = async (merchantId: string, key: string): Promise<string> => {
    const set = await service.post(
      '/merchant/credentials/set',
      { merchantId, apiKey, connectionId },
      { key },
    );
    assert.equal(set.status, 200, set.text);
    return merchantId;
  };
  const deleted = await createMerchant(service, {});
  await service.post('/merchant/delete', { merchantId: deleted });
  return {
    ...service,
    connected: await connect(await createMerchant(service, {}), KEYS.alpha),
    unconnected: await createMerchant(service, {}),
    selfManaged: await createMerchant(service, { merchantType: 'self-managed' }),
    deleted,
    foreign: await connect(await createMerchant(service, {}, { key: KEYS.beta }), KEYS.beta),
  };
}

/** An answer with its bytes. */
/** Sends bytes and gives bytes. */
export async function postRaw(
  service: MerchantService,
  path: string,
  body: string | Uint8Array,
  options: AskOptions = {},
): Promise<RawAnswered> {
  const { key = KEYS.alpha, idempotencyKey, headers = {}, signal } = options;
  return sendRaw(service.base + path, {
    method: 'POST',
    body,
    ...(signal === undefined ? {} : { signal }),
    headers: {
      ...(key === null ? {} : { 'X-API-KEY': key }),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...headers,
    },
  });
}

const ADDRESS = {
  line1: '323 Washington Ave N',
  city: 'Minneapolis',
  state: 'MN',
  zip: '55401-2427',
  countryCode: 'US',
} as const;

const LINE = { index: 0, itemId: 'item-1', price: 10.75, quantity: 1.5, tic: 0 } as const;

/** Bodies that every operation takes, by its path without "/merchant/". */
export const BODIES = {
  'cart/calculate': {
    items: [
      {
        cartId: 'cart-1',
        customerId: 'customer-453',
        currency: { currencyCode: 'USD' },
        origin: ADDRESS,
        destination: ADDRESS,
        lineItems: [LINE],
      },
    ],
  },
  'order/create-from-cart': { cartId: 'cart-1', orderId: 'order-2', completed: true },
  'order/create': {
    orderId: 'order-1',
    customerId: 'customer-453',
    transactionDate: '2024-08-01T14:00:00Z',
    completedDate: '2024-08-01T14:00:00Z',
    currency: { currencyCode: 'USD' },
    origin: ADDRESS,
    destination: ADDRESS,
    lineItems: [{ ...LINE, tax: { rate: 0.08125, amount: 1.31 } }],
  },
  'order/get': { orderId: 'order-1', expand: 'refunds' },
  'order/update': { orderId: 'order-1', completedDate: '2024-08-02T00:00:00Z' },
  'refund/create': { orderId: 'order-1', items: [{ itemId: 'item-1', quantity: 0.5 }] },
  'cert/create': {
    customerId: 'customer-453',
    customerName: 'Acme',
    customerBusinessType: 'RetailTrade',
    reason: 'Resale',
    reasonDescription: 'resale',
    address: ADDRESS,
    states: [{ abbreviation: 'MN' }],
  },
  'cert/get': { certificateId: 'c-1' },
  'cert/delete': { certificateId: 'c-1' },
  'cert/list': { customerId: 'customer-453', limit: 5, ascending: true },
} as const;
export type RelayName = keyof typeof BODIES;

/** The operations that have routes of their own. */
export const RELAY_NAMES = (Object.keys(BODIES) as RelayName[]).filter(
  (name) => name !== 'cart/calculate',
);
