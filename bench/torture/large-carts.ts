/** Carts of the largest allowed size, for every kind of merchant and for none, and long answers. */
import { BODIES, CONNECTION_ID } from '../../test/support/relay-service.js';
import { sentCalculation, sentCart, sentLine } from '../../test/support/sent-carts.js';
import { SIMULATED_KEY } from '../../src/provider/simulator/server.js';
import type { SentBody } from './hostile-requests.js';

const JSON_TYPE = 'application/json';
const CARTS = 100;
const LINES = 250;
const HERE = '5 Border Ave, Elmton, QA 91011';
const SPLIT = { line1: '5 Border Ave', city: 'Elmton', state: 'QA', zip: '91011' };

/** Ids of the merchants of one account. */
export interface Merchants {
  /** The id of the self-managed one. */
  readonly own: string;
  /** The id of the one of the provider type, with credentials. */
  readonly connected: string;
}

async function post(port: number, key: string, path: string, body: object): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': JSON_TYPE, 'X-API-KEY': key },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status} ${text}`);
  return text;
}

/** Makes the merchants. */
export async function newMerchants(port: number, key: string): Promise<Merchants> {
  const create = async (merchantType: string): Promise<string> => {
    const body = { merchantName: 'Acme', merchantType };
    const made: { readonly merchantId: string } = JSON.parse(
      await post(port, key, '/merchant/create', body),
    );
    return made.merchantId;
  };
  const own = await create('self-managed');
  const connected = await create('provider');
  await post(port, key, '/merchant/credentials/set', {
    merchantId: connected,
    apiKey: SIMULATED_KEY,
    connectionId: CONNECTION_ID,
  });
  return { own, connected };
}

function lines(): readonly object[] {
  return Array.from({ length: LINES }, (_, index) =>
    sentLine({ index, itemId: `sku-${index}-${'x'.repeat(30)}` }),
  );
}

/** A line of a cart without a merchant. */
function soldLine(at: number): object {
  return { itemId: `sku-${at}-${'x'.repeat(30)}`, price: 49.99, quantity: 2 };
}

function sent(path: string, body: object): SentBody {
  return { path, type: JSON_TYPE, body: Buffer.from(JSON.stringify(body)) };
}

/** Bodies that are accepted, by a description. */
export function largeBodies({
  own,
  connected,
}: Merchants): Readonly<Record<string, readonly SentBody[]>> {
  const path = '/merchant/cart/calculate';
  const carts = Array.from({ length: CARTS }, () =>
    sentCart({ origin: SPLIT, destination: SPLIT, lineItems: lines() }),
  );
  const [relayed] = BODIES['cart/calculate'].items;
  const items = Array.from({ length: CARTS }, (_, at) => ({
    ...relayed,
    cartId: `cart-${at}`,
    lineItems: lines(),
  }));
  const place = { address: HERE };
  const lineItems = Array.from({ length: LINES }, (_, at) => soldLine(at));
  const one = sentCalculation({ origin: place, destination: place, lineItems });
  return {
    'carts of a self-managed merchant': [sent(path, { merchantId: own, items: carts })],
    'carts of a merchant of the provider': [sent(path, { merchantId: connected, items })],
    'carts of no merchant': [sent(path, { items: carts }), sent('/calculate/cart', one)],
    'answers of the provider of 16 MiB': [
      sent('/merchant/order/get', { merchantId: connected, ...BODIES['order/get'] }),
    ],
  };
}
