/**
 * What a request runs adds no member to an object after a spread: in Node.js 20 each takes a
 * microsecond, as long as a lookup's whole engine.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { BENCH_KEY, startSitus } from '../../bench/load/situs-server.js';
import { lateMembers, madeObjects } from '../support/late-members.js';
import { buildRecipe } from '../support/built-dataset.js';
import { ask, ELMTON } from '../support/merchant-service.js';

const REQUESTS = 300;
const AT_ONCE = 20;

test('members after a spread are found in compiled code', () => {
  const found = (code: string): number => lateMembers(code).length;
  assert.equal(found('f({ ...a, b })'), 1);
  assert.equal(found('x = { ...a, ...b };'), 1);
  assert.equal(found('x = { b, ...a, /* b */ }; // no member\n'), 0);
  assert.equal(found('const { b, ...rest } = a; f([...a, b]); f(...a, b);'), 0);
  const template = ['`$', '{{ ...a, b }}`'].join('');
  assert.equal(found(`x = ${template} + "{ ...a, b }"; // { ...a, b }`), 1);
  assert.equal(found('x = /[{/]/.test(s) ? { ...a, b: { ...c } } : 1 / 2 / 3;'), 1);
});

/** Starts the service, sends it some requests of each kind, and tells which objects it made. */
async function objectsOf(
  context: TestContext,
  varDir: string,
  requests: number,
): Promise<ReadonlyMap<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'situs-objects-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const situs = await startSitus(varDir, {
    NODE_V8_COVERAGE: join(folder, 'made'),
    SITUS_ANSWER_CACHE_MIB: '0',
    SITUS_REQUEST_LOG: join(folder, 'requests.log'),
  });
  context.after(() => situs.stop());
  const base = `http://127.0.0.1:${situs.port}`;
  const options = { key: BENCH_KEY };
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    body: unknown = null,
  ): Promise<void> => {
    const { status, text } = await ask(base, method, path, body, options);
    assert.equal(status, 200, text);
  };
  const merchant = { merchantName: 'A', merchantType: 'self-managed' };
  const made = await ask(base, 'POST', '/merchant/create', merchant, options);
  const { merchantId } = made.body;
  const cart = {
    customerId: 'c',
    currency: {},
    origin: ELMTON,
    destination: ELMTON,
    lineItems: [{ index: 0, itemId: 'i', price: 10.75, quantity: 2 }],
  };
  const address = encodeURIComponent(
    `${ELMTON.line1}, ${ELMTON.city}, ${ELMTON.state} ${ELMTON.zip}`,
  );
  for (let sent = 0; sent < requests; sent += AT_ONCE) {
    const one = (): Promise<void>[] => [
      send('GET', `/request/v60?address=${address}`),
      send('GET', `/request/v60?postalcode=${ELMTON.zip}`),
      send('GET', `/request/v50?address=${address}`),
      send('POST', '/merchant/cart/calculate', { merchantId, items: [cart] }),
    ];
    await Promise.all(Array.from({ length: AT_ONCE }, one).flat());
  }
  await situs.stop();
  return madeObjects(join(folder, 'made'));
}

test('no lookup and no cart adds members after a spread', async (context) => {
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const before = await objectsOf(context, built.varDir, 0);
  const after = await objectsOf(context, built.varDir, REQUESTS);
  const often = [...after].filter(
    ([text, count]) => count - (before.get(text) ?? 0) >= REQUESTS / 2,
  );
  assert.ok(after.size > 20, 'the service makes some of them');
  assert.deepEqual(often, []);
});
