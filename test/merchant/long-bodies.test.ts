/** Long bodies and long answers hold up nobody, and what is documented still fits. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { after, before, test } from 'node:test';
import { NEXUS_BYTES_MAX } from '../../src/api/merchant/nexus-handler.js';
import { bodyBytesMax } from '../../src/base/body-size.js';
import { MERCHANT_CREATE } from '../../src/api/merchant/merchant-shape.js';
import { PARSED_BYTES_MAX, PARSED_VALUES_MAX } from '../../src/http/json-body.js';
import {
  ELMTON,
  inventedCountry,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { BODIES, CONNECTION_ID, postRaw } from '../support/relay-service.js';
import { startRawProvider } from '../support/simulated-provider.js';

const MIB = 1_048_576;
/** How long it takes on this machine, now, to parse what must not be parsed on the main thread. */
function parseMs(text: Buffer): number {
  const from = performance.now();
  JSON.parse(text.toString());
  return performance.now() - from;
}

let varDir: string;
let service: MerchantService;
let own: string;

before(async () => {
  varDir = await newMerchantDir(inventedCountry());
  service = await startMerchants(varDir);
  const made = await service.post('/merchant/create', {
    merchantName: 'Acme',
    merchantType: 'self-managed',
  });
  own = String(made.body['merchantId']);
});

after(async () => {
  await service.stop();
  removeDirs(varDir);
});

const ROUNDS_MAX = 20;

/**
 * Does the work until the event loop, which the service shares, stood still for less time than it
 * takes to parse `body`: a loaded machine holds it up now and then, parsing would each time.
 */
async function assertNoStall(body: Buffer, work: () => Promise<void>): Promise<void> {
  const told: string[] = [];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await work();
    await new Promise((resolve) => setTimeout(resolve, 20));
    delay.disable();
    const [stall, parsing] = [delay.max / 1e6, parseMs(body)];
    if (stall < parsing) return;
    told.push(`${stall} ms, and ${parsing} to parse`);
  }
  assert.fail(told.join('\n'));
}

test('megabytes of a cart without a merchant are refused and hold up nobody', async () => {
  const body = Buffer.from(`{"items":[${'{},'.repeat(2.6 * MIB)}{}]}`);
  await assertNoStall(body, async () => {
    const refused = await service.post('/merchant/cart/calculate', body);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /merchantId must be a UUID/);
  });
  const broken = await service.post('/merchant/cart/calculate', body.subarray(0, -1));
  assert.equal(broken.status, 400);
  assert.match(broken.text, /not JSON/);
});

test('nexus locations with every member at its longest are taken in the longest spelling', async () => {
  const escaped = (text: string): string =>
    [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const member = (name: string, text: string): string => `"${name}":"${escaped(text)}"`;
  const location = `{${[
    ...Object.entries(ELMTON).map(([name, text]) => member(name, text)),
    `"name":"${'\\ud83d\\ude00'.repeat(255)}"`,
    `"line2":"${'\\ud83d\\ude00'.repeat(128)}"`,
  ].join(' , ')}}`;
  const body = `{"merchantId":"${own}","locations":[${Array.from({ length: 25 }, () => location).join(',')}]}`;
  assert.ok(body.length > PARSED_BYTES_MAX && body.length < NEXUS_BYTES_MAX);
  const made = await service.post('/merchant/nexus/create', body);
  assert.equal(made.status, 200, made.text);
  assert.equal((made.body['locations'] as readonly object[]).length, 25);
  assert.equal((made.body['locations'] as readonly { name: string }[])[0]?.name, '😀'.repeat(255));
  const more = body.replace(/\]\}$/, `,${location}]}`);
  const tooMany = await service.post('/merchant/nexus/create', more);
  assert.equal(tooMany.status, 422);
  assert.match(tooMany.text, /at most 25 items/);
  const broken = await service.post('/merchant/nexus/create', body.slice(0, -1));
  assert.equal(broken.status, 400);
  const longest = await service.post('/merchant/nexus/create', body.padEnd(NEXUS_BYTES_MAX + 1));
  assert.equal(longest.status, 413);
});

test('every other merchant operation takes what its shape needs', async () => {
  const emoji = '\\ud83d\\ude00'.repeat(255);
  const longest = `{${['merchantName', 'contactFirst', 'contactLast', 'referenceId']
    .map((name) => `"${name}":"${emoji}"`)
    .join(' , ')}}`;
  const bytesMax = bodyBytesMax(MERCHANT_CREATE, PARSED_BYTES_MAX);
  assert.ok(longest.length < bytesMax && bytesMax < PARSED_BYTES_MAX, String(bytesMax));
  assert.equal((await service.post('/merchant/create', longest.padEnd(bytesMax))).status, 201);
  const over = await service.post('/merchant/create', longest.padEnd(bytesMax + 1));
  assert.equal(over.status, 413);
  assert.match(over.text, new RegExp(`may have ${bytesMax} bytes`));
});

test('a body of more values than are read on the main thread is refused or goes to a worker', async () => {
  const values = (count: number): string => `"items":[${'0,'.repeat(count)}0]`;
  const create = (count: number): Promise<{ readonly status: number; readonly text: string }> =>
    service.post('/merchant/create', `{"merchantName":"Acme",${values(count)}}`);
  assert.match((await create(PARSED_VALUES_MAX - 5)).text, /unexpected property/);
  const over = await create(PARSED_VALUES_MAX);
  assert.equal(over.status, 400);
  assert.match(over.text, /more than 1,000 values/);
  // Read by a worker, whose answer is the same for any number of values.
  const nexus = `{"merchantId":"${own}","locations":[${'{},'.repeat(PARSED_VALUES_MAX)}{}]}`;
  assert.ok(nexus.length < PARSED_BYTES_MAX);
  const many = await service.post('/merchant/nexus/create', nexus);
  assert.equal(many.status, 422);
  assert.match(many.text, /at most 25 items/);
});

test('a long order and a provider answer of 16 MiB are relayed and hold up nobody', async (t) => {
  const answer = Buffer.from(`[${'{},'.repeat(5.3 * MIB)}{}]`);
  const answered = new WeakSet<Socket>();
  // The body of a request comes in pieces; each connection has one request.
  const provider = await startRawProvider(t, (socket) => {
    if (answered.has(socket)) return;
    answered.add(socket);
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n' +
        `Content-Length: ${answer.length}\r\n\r\n`,
    );
    socket.end(answer);
  });
  const dir = await newMerchantDir(inventedCountry());
  const relaying = await startMerchants(
    dir,
    {},
    {
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_URL: provider.url,
    },
  );
  t.after(async () => {
    await relaying.stop();
    removeDirs(dir);
  });
  const made = await relaying.post('/merchant/create', { merchantName: 'Acme' });
  const merchantId = String(made.body['merchantId']);
  await relaying.post('/merchant/credentials/set', {
    merchantId,
    apiKey: 'k',
    connectionId: CONNECTION_ID,
  });
  const [line] = BODIES['order/create'].lineItems;
  const order = {
    merchantId,
    ...BODIES['order/create'],
    lineItems: Array.from({ length: 500 }, (_line, index) => ({
      ...line,
      index,
      itemId: 'x'.repeat(50),
    })),
  };
  assert.ok(JSON.stringify(order).length > PARSED_BYTES_MAX);
  await assertNoStall(answer, async () => {
    const relayed = await postRaw(relaying, '/merchant/order/create', JSON.stringify(order));
    assert.equal(relayed.status, 200, relayed.text.slice(0, 300));
    assert.ok(relayed.bytes.equals(answer));
  });
  assert.ok(!provider.requests.join('').includes(merchantId));
  const wrong = await relaying.post('/merchant/order/create', { ...order, customerId: 1 });
  assert.equal(wrong.status, 422);
  const other = await relaying.post('/merchant/order/create', { ...order, merchantId: own });
  assert.equal(other.status, 403);
  const none = await relaying.post('/merchant/order/create', { ...order, merchantId: undefined });
  assert.equal(none.status, 400);
});
