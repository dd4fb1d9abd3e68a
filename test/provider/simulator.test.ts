/** The simulated provider by itself: what it answers, and that its faults can be relied on. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { runCommand } from '../../src/cli/program.js';
import { UsageError } from '../../src/cli/command-line.js';
import {
  drawFault,
  FAULT_HEADER,
  type FaultName,
  FAULTS,
  parseFaults,
  seeded,
} from '../../src/provider/simulator/faults.js';
import {
  numberOfUnits,
  rateOf,
  shareOf,
  taxOf,
  unitsOf,
} from '../../src/provider/simulator/carts.js';
import {
  RECEIVED_MAX,
  SIMULATED_BODY_BYTES_MAX,
  SIMULATED_KEY,
  type Simulator,
} from '../../src/provider/simulator/server.js';
import { BODIES } from '../support/relay-service.js';
import { startSimulator } from '../support/simulated-provider.js';
import { CLI } from '../support/program.js';

const BASE = '/tax/connections/c-1';

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: object;
}

async function ask(
  simulator: Pick<Simulator, 'url'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const response = await fetch(simulator.url + path, {
    method,
    headers: { 'X-API-KEY': SIMULATED_KEY, ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Told['body'],
  };
}

test('carts are taxed and replaced by their id', async (t) => {
  const simulator = await startSimulator(t, { now: () => 0 });
  const cart = BODIES['cart/calculate'];
  const first = await ask(simulator, 'POST', `${BASE}/carts`, cart);
  assert.equal(first.status, 201);
  assert.equal(first.headers.get('location'), `${simulator.url}${BASE}/carts`);
  const {
    items: [item],
    ...rest
  } = first.body as {
    items: [{ cartId: string; lineItems: [Record<string, unknown>] }];
  };
  assert.deepEqual(rest, { connectionId: 'c-1', transactionDate: '1970-01-01T00:00:00.000Z' });
  assert.equal(item.cartId, 'cart-1');
  const rate = numberOfUnits(rateOf('55401'));
  assert.deepEqual(item.lineItems[0], {
    index: 0,
    itemId: 'item-1',
    price: 10.75,
    originalPrice: 10.75,
    quantity: 1.5,
    tic: 0,
    tax: { rate, amount: Math.round(10.75 * 1.5 * rate * 100) / 100 },
  });
  const again = await ask(simulator, 'POST', `${BASE}/carts`, {
    items: [
      {
        ...cart.items[0],
        discounts: { lineItemDiscounts: [{ itemId: 'item-1', type: 'percentage', value: 0.2 }] },
      },
    ],
  });
  assert.equal(again.status, 200);
  assert.match(JSON.stringify(again.body), /"price":8\.6,"originalPrice":10\.75/);
  const exempt = await ask(simulator, 'POST', `${BASE}/carts`, {
    items: [{ ...cart.items[0], cartId: 'e', exemption: { isExempt: true } }],
  });
  assert.match(JSON.stringify(exempt.body), /"tax":\{"rate":0,"amount":0\}/);
  const order = await ask(
    simulator,
    'POST',
    `${BASE}/carts/orders`,
    BODIES['order/create-from-cart'],
  );
  assert.equal(order.status, 201);
  assert.match(JSON.stringify(order.body), /"completedDate".*"price":8\.6/);
  const none = { cartId: 'nowhere', orderId: 'o' };
  assert.equal((await ask(simulator, 'POST', `${BASE}/carts/orders`, none)).status, 404);
  assert.equal((await ask(simulator, 'POST', `${BASE}/carts`, {})).status, 422);
});

test('connections are apart, and keys are asked for', async (t) => {
  const simulator = await startSimulator(t);
  assert.equal(
    (await ask(simulator, 'POST', `${BASE}/orders`, BODIES['order/create'])).status,
    201,
  );
  assert.equal((await ask(simulator, 'GET', `${BASE}/orders/order-1`)).status, 200);
  assert.equal((await ask(simulator, 'GET', '/tax/connections/c-2/orders/order-1')).status, 404);
  assert.equal(
    (
      await ask(simulator, 'GET', `${BASE}/orders/order-1`, undefined, {
        'X-API-KEY': 'other',
      })
    ).status,
    401,
  );
  for (const path of ['/', '/tax', '/tax/connections', `${BASE}/nothing`, `${BASE}/carts/x/y`]) {
    assert.equal((await ask(simulator, 'GET', path)).status, 404, path);
  }
  assert.equal((await ask(simulator, 'POST', `${BASE}/orders`, '{')).status, 400);
  assert.equal((await ask(simulator, 'POST', `${BASE}/orders`, '[]')).status, 400);
  assert.equal(
    (await ask(simulator, 'POST', `${BASE}/orders`, ' '.repeat(SIMULATED_BODY_BYTES_MAX + 1)))
      .status,
    413,
  );
});

test('an order must be completed to be refunded, and no more than its whole', async (t) => {
  const simulator = await startSimulator(t);
  const { completedDate: _date, ...open } = BODIES['order/create'];
  await ask(simulator, 'POST', `${BASE}/orders`, open);
  const path = `${BASE}/orders/refunds/order-1`;
  assert.equal((await ask(simulator, 'POST', path, {})).status, 400);
  await ask(simulator, 'PATCH', `${BASE}/orders/order-1`, { completedDate: '2024-08-01' });
  for (const [items, status] of [
    [[{ itemId: 'item-1', quantity: 1.6 }], 400],
    [[{ itemId: 'other', quantity: 1 }], 400],
    [[{ itemId: 'item-1', quantity: 0 }], 400],
    [
      [
        { itemId: 'item-1', quantity: 1 },
        { itemId: 'item-1', quantity: 1 },
      ],
      400,
    ],
    [[{ itemId: 'item-1', quantity: 1 }], 201],
    [[{ itemId: 'item-1', quantity: 0.5 }], 201],
    [[{ itemId: 'item-1', quantity: 0.1 }], 400],
  ] as const) {
    assert.equal(
      (await ask(simulator, 'POST', path, { items })).status,
      status,
      JSON.stringify(items),
    );
  }
  assert.equal((await ask(simulator, 'POST', `${BASE}/orders/refunds/none`, {})).status, 404);
});

test('faults by header', async (t) => {
  const simulator = await startSimulator(t, { slowMs: 1 });
  const asked = (fault: string): Promise<Told> =>
    ask(simulator, 'POST', `${BASE}/orders`, { orderId: fault }, { [FAULT_HEADER]: fault });
  assert.equal((await asked('slow')).status, 201);
  assert.equal((await asked('500')).status, 500);
  const limited = await asked('429');
  assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '7']);
  await assert.rejects(asked('reset'), /fetch failed/);
  await assert.rejects(asked('garbage'), SyntaxError);
  assert.equal((await asked('unknown')).status, 201);
  // reset and garbage strike after the work is done, the statuses before.
  for (const [id, status] of [
    ['slow', 200],
    ['reset', 200],
    ['garbage', 200],
    ['500', 404],
    ['429', 404],
  ]) {
    assert.equal((await ask(simulator, 'GET', `${BASE}/orders/${id}`)).status, status, String(id));
  }
});

test('faults by rate are the same for the same seed', async (t) => {
  const seen = async (seed: number): Promise<readonly number[]> => {
    const simulator = await startSimulator(t, { seed, faults: { 429: 0.3, 500: 0.2 } });
    const statuses: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      statuses.push((await ask(simulator, 'GET', `${BASE}/exemption-certificates`)).status);
    }
    return statuses;
  };
  const first = await seen(7);
  assert.deepEqual(await seen(7), first);
  assert.notDeepEqual(await seen(8), first);
  assert.deepEqual([...new Set(first)].sort(), [200, 429, 500]);
});

test('shares of faults are those asked for', () => {
  const rates = parseFaults('slow=0.1,reset=0.05,429=.2,500=0.1,garbage=0.05');
  const random = seeded(3);
  const drawn = new Map<FaultName | null, number>();
  for (let count = 0; count < 100_000; count += 1) {
    const fault = drawFault(rates, random);
    drawn.set(fault, (drawn.get(fault) ?? 0) + 1);
  }
  for (const name of FAULTS) {
    const share = (drawn.get(name) ?? 0) / 100_000;
    assert.ok(Math.abs(share - (rates[name] ?? 0)) < 0.01, `${name} ${share}`);
  }
  assert.equal(drawFault({}, random), null);
  for (const text of [
    'slow',
    'slow=2',
    'slow=x',
    'other=0.1',
    'slow=-1',
    'slow=0.6,reset=0.6',
    '=1',
  ]) {
    assert.throws(() => parseFaults(text), /share/, text);
  }
  assert.deepEqual(parseFaults(''), {});
});

test('amounts are exact', () => {
  assert.equal(unitsOf(10.1), 10_100_000_000n);
  assert.equal(numberOfUnits(-5n), -0.000000005);
  const cents = (price: number, quantity: number, rate: number): number =>
    numberOfUnits(taxOf(unitsOf(price), unitsOf(quantity), unitsOf(rate)));
  assert.equal(cents(49.99, 2, 0.0775), 7.75);
  assert.equal(cents(1, 1, 0.005), 0.01, 'half a cent goes up');
  assert.equal(cents(1, 1, 0.0049999), 0);
  assert.equal(numberOfUnits(shareOf(unitsOf(1.31), unitsOf(0.5), unitsOf(1.5))), 0.44);
  assert.equal(shareOf(5n, 1n, 0n), 0n);
});

test('no more requests are remembered than it says', async (t) => {
  const simulator = await startSimulator(t);
  for (let count = 0; count < RECEIVED_MAX + 5; count += 1)
    await ask(simulator, 'GET', `/${count}`);
  assert.equal(simulator.received.length, RECEIVED_MAX);
  assert.equal(simulator.received[0]?.url, '/5');
});

test('the command prints its address, answers, and ends on Ctrl-C', async () => {
  const child = spawn(
    process.execPath,
    [CLI, 'simulate', 'provider', '--port', '0', '--key', SIMULATED_KEY],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const url = /http:\S+/.exec(line)?.[0] ?? '';
  assert.equal((await ask({ url }, 'GET', `${BASE}/exemption-certificates`)).status, 200);
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('the help of the command names every fault', async () => {
  const child = spawn(process.execPath, [CLI, 'simulate', 'provider', '--help'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const help = (await child.stdout.setEncoding('utf8').toArray()).join('');
  for (const name of FAULTS) assert.match(help, new RegExp(`\\b${name}=0`), help);
});

test('the command refuses what it does not know', async () => {
  for (const args of [
    ['other'],
    ['provider', 'x'],
    ['provider', '--port', 'x'],
    ['provider', '--port', '70000'],
    ['provider', '--seed=-1'],
    ['provider', '--slow-ms', '1e3'],
    ['provider', '--faults', 'x=1'],
  ]) {
    await assert.rejects(runCommand(['simulate', ...args]), UsageError, args.join(' '));
  }
  await assert.rejects(runCommand(['simulate', 'provider', '--nothing']), /nothing/);
  for (const args of [[], ['other']]) {
    const child = spawn(process.execPath, [CLI, 'simulate', ...args], { stdio: 'ignore' });
    assert.deepEqual(await once(child, 'exit'), [2, null]);
  }
});
