/** A server that refuses product codes without a rule does so in streams and jobs too. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import type { App } from '../../src/app.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { KEYS, NDJSON, readLines, startBulkApp } from '../support/bulk-client.js';
import { DOOR, JobClient } from '../support/job-service.js';
import { ending, header } from '../support/stream-service.js';

/** Clothing has a rule, of which carts are not told what it means for local taxes; apparel has none. */
const LOOKED_UP = ['20010', '20000'] as const;
/** General goods, and apparel. */
const BOUGHT = ['00000', '20000'] as const;
const WORD = /No rule is held for product code 20000/;

let built: Built;
let refusing: { readonly app: App; readonly port: number };

before(async () => {
  built = buildRecipe('fixture');
  refusing = await startBulkApp(built.varDir, { SITUS_UNRULED: 'refuse' });
});

after(async () => {
  await refusing.app.stop();
  built.remove();
});

function lookup(taxabilityCode: string): object {
  return { address: DOOR, taxabilityCode };
}

function cart(taxabilityCode: string): object {
  return {
    customerId: 'c',
    currency: { currencyCode: 'USD' },
    origin: { address: DOOR },
    destination: { address: DOOR },
    lineItems: [{ itemId: 'i', price: 10, quantity: 1, taxabilityCode: Number(taxabilityCode) }],
  };
}

interface Row {
  readonly error?: { readonly code: number; readonly message: string };
}

function assertRefused(rows: readonly Row[]): void {
  assert.deepEqual(
    rows.map(({ error }) => error?.code ?? 100),
    [100, 110, 100, 110],
  );
  for (const { error } of rows) if (error !== undefined) assert.match(error.message, WORD);
}

for (const transport of ['socket', 'post'] as const) {
  test(`messages of a stream (${transport}): lookups and carts`, async () => {
    const client = await StreamClient.open({ port: refusing.port, key: KEYS.bulk, transport });
    assert.ok(!wasRefused(client));
    await header(client);
    const carts = BOUGHT.map((code) => ({ items: [cart(code)] }));
    for (const message of [...LOOKED_UP.map(lookup), ...carts]) {
      client.send(JSON.stringify(message));
    }
    client.finish();
    const { lines, trailer } = await ending(client);
    assert.equal(trailer.complete, true);
    assertRefused(lines.slice(0, -1).map((line) => JSON.parse(line) as Row));
  });
}

test('rows of jobs: lookups and carts, each beside rows that are answered', async () => {
  const jobs = new JobClient(refusing.port);
  const rows: Row[] = [];
  for (const [kind, codes, rowOf] of [
    ['lookup', LOOKED_UP, lookup],
    ['cart', BOUGHT, cart],
  ] as const) {
    const body = codes.map((code) => `${JSON.stringify(rowOf(code))}\n`).join('');
    const made = await jobs.create(body, NDJSON, `?kind=${kind}`);
    const job = await jobs.until(made.id, 'done', 'failed');
    assert.deepEqual([job.state, job.codes], ['done', { 100: 1, 110: 1 }], kind);
    rows.push(...readLines((await jobs.result(made.id)).body).rows);
  }
  assertRefused(rows);
});
