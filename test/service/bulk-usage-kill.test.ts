/** A server that is killed in the middle of an upload: what of its rows is counted nevertheless. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Store } from '../../src/store/store.js';
import { listUsage } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-meter.js';
import { startChild } from '../support/server-process.js';
import { NDJSON, openBulk } from '../support/bulk-client.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { eventually } from '../support/http-eventually.js';

const HERE = '120 Main St, Elmton, QA 91010';
const UNANSWERED_MAX = 1_024;

const CART = JSON.stringify({
  customerId: 'c',
  currency: { currencyCode: 'USD' },
  origin: { address: HERE },
  destination: { address: HERE },
  lineItems: [{ itemId: 'a', price: 1, quantity: 1 }],
});
const UPLOADS = [
  ['/bulk/lookup', `${JSON.stringify({ address: HERE })}\n`],
  ['/bulk/cart', `${CART}\n`],
] as const;

let built: Built;

before(() => {
  built = buildRecipe('fixture');
});

after(() => built.remove());

interface Ran {
  /** Rows that the client had, and that the store then told of. */
  readonly due: number;
  readonly sent: number;
}

/** Uploads rows as fast as they are answered, and kills the server when some of them are counted. */
async function killDuring(path: string, row: string, from: number): Promise<Ran> {
  const child = await startChild(built.varDir, { SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1' });
  const { request, answer } = openBulk({ port: child.port, type: NDJSON, path });
  answer.catch(() => undefined);
  let sent = 0;
  // The first line is the header.
  let rows = -1;
  const send = (): void => {
    const count = UNANSWERED_MAX - (sent - Math.max(0, rows));
    if (count <= 0) return;
    sent += count;
    request.write(row.repeat(count));
  };
  request.on('response', (response) =>
    response.on('data', (part: Buffer) => {
      for (const byte of part) if (byte === 10) rows += 1;
      send();
    }),
  );
  request.on('error', () => undefined);
  send();
  await eventually(() => rows > 0);
  const due = rows;
  await eventually(async () => (await counted()).core - from >= due);
  await child.kill();
  await answer.catch(() => undefined);
  return { due, sent };
}

async function counted(): Promise<{ readonly core: number; readonly geo: number }> {
  const store = await Store.open(built.varDir);
  const [record] = listUsage(store, monthAt(Date.now()).name);
  await store.close();
  return { core: record?.core ?? 0, geo: record?.geo ?? 0 };
}

test('a killed server has counted rows that were answered while it read on', async (context) => {
  let from = { core: 0, geo: 0 };
  for (const [path, row] of UPLOADS) {
    const { due, sent } = await killDuring(path, row, from.core);
    const now = await counted();
    const kept = now.core - from.core;
    context.diagnostic(`${path}: ${due} of ${sent} rows were due, ${kept} are counted`);
    assert.ok(kept >= due && kept <= sent, `${due} ≤ ${kept} ≤ ${sent}`);
    assert.equal(now.geo - from.geo, kept, 'each of them is geocoded');
    from = now;
  }
});
