/** A server that is killed in the middle of an upload: what of its rows is counted nevertheless. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Store } from '../../src/store/store.js';
import { listUsage } from '../../src/store/usage.js';
import { monthAt } from '../../src/store/usage-month.js';
import { startChild } from '../support/bulk-child.js';
import { NDJSON, openBulk } from '../support/bulk-client.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';

const HERE = '120 Main St, Elmton, QA 91010';
const LOST_MS_MAX = 1_000;
/** Long enough for rows that are older than what may be lost. */
const RUN_MS = 2_000;
const UNANSWERED_MAX = 1_024;

const CART = JSON.stringify({
  customerId: 'c', currency: { currencyCode: 'USD' }, origin: { address: HERE },
  destination: { address: HERE }, lineItems: [{ itemId: 'a', price: 1, quantity: 1 }],
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
  /** Rows that the client had, so long before the kill that they may not be lost. */
  readonly before: number;
  readonly sent: number;
}

/** Uploads rows for a while as fast as they are answered, and kills the server. */
async function killDuring(path: string, row: string): Promise<Ran> {
  const child = await startChild(built.varDir, { SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1' });
  const { request, answer } = openBulk({ port: child.port, type: NDJSON, path });
  answer.catch(() => undefined);
  const came: { readonly at: number; readonly rows: number }[] = [];
  let sent = 0;
  // The first line is the header.
  let rows = -1;
  const send = (): void => {
    const count = UNANSWERED_MAX - (sent - Math.max(0, rows));
    if (count <= 0) return;
    sent += count;
    request.write(row.repeat(count));
  };
  const ran = new Promise<void>((resolve) => {
    request.on('response', (response) => response.on('data', (part: Buffer) => {
      for (const byte of part) if (byte === 10) rows += 1;
      const now = performance.now();
      came.push({ at: now, rows });
      if (now - came[0]!.at >= RUN_MS) resolve();
      else send();
    }));
  });
  request.on('error', () => undefined);
  send();
  await ran;
  const at = performance.now();
  await child.kill();
  await answer.catch(() => undefined);
  return { before: came.filter((each) => each.at <= at - LOST_MS_MAX).at(-1)?.rows ?? 0, sent };
}

async function counted(): Promise<{ readonly core: number; readonly geo: number }> {
  const store = await Store.open(built.varDir);
  const [record] = listUsage(store, monthAt(Date.now()).name);
  await store.close();
  return { core: record?.core ?? 0, geo: record?.geo ?? 0 };
}

test('a killed server has counted the rows that were answered a second before', async (context) => {
  let from = { core: 0, geo: 0 };
  for (const [path, row] of UPLOADS) {
    const { before: answered, sent } = await killDuring(path, row);
    const now = await counted();
    const kept = now.core - from.core;
    context.diagnostic(`${path}: ${answered} of ${sent} rows were due, ${kept} are counted`);
    assert.ok(answered > 0 && kept >= answered && kept <= sent, `${answered} ≤ ${kept} ≤ ${sent}`);
    assert.equal(now.geo - from.geo, kept, 'each of them is geocoded');
    from = now;
  }
});
