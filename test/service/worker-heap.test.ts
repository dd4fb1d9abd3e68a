/** A worker that passes the limit of its heap ends alone: others are answered, the next one comes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { App } from '../../src/app.js';
import { createLog } from '../../src/log.js';
import { createKey } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { RESPONSE_CODES } from '../../src/wire/response-code.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { NDJSON, readLines, sendBulk } from '../support/bulk-client.js';
import { startApp } from '../support/own-app.js';

const INTERNAL = RESPONSE_CODES.internal.code;
const KEY = 'a-key-for-bulk-tests';
const WORKER = new URL('../support/greedy-worker.js', import.meta.url);
const LOOKUP = '/request/v60?address=120+Main+St,+Elmton,+QA+91010';
const ROW = '{"address":"120 Main St, Elmton, QA 91010"}\n';

let built: Built;
let app: App;
let port: number;
const lines: string[] = [];

before(async () => {
  built = buildRecipe('fixture');
  const store = await Store.open(built.varDir);
  await createKey(store, { text: KEY, plan: 'enterprise', rate: 1_000_000 });
  await store.close();
  app = await startApp(
    built.varDir,
    { SITUS_ANSWER_CACHE_MIB: '0' },
    { log: createLog('warn', (line) => lines.push(line)), worker: WORKER },
  );
  port = await app.listen();
});

after(async () => {
  await app.stop();
  built.remove();
});

interface Answer {
  readonly status: number;
  readonly code: number;
}

async function lookup(path: string): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { 'X-API-KEY': KEY },
    signal: AbortSignal.timeout(300_000),
  });
  const body = (await response.json()) as { metadata: { response: { code: number } } };
  return { status: response.status, code: body.metadata.response.code };
}

function heapEnds(): number {
  return lines.filter((line) => /memory/i.test(line)).length;
}

test('a lookup that takes all memory is answered, as are those under way with it', async () => {
  assert.deepEqual(await lookup(LOOKUP), { status: 200, code: 100 });
  for (let round = 1; round <= 2; round += 1) {
    const answers = await Promise.all([
      lookup('/request/v60?address=allocate+St'),
      ...Array.from({ length: 6 }, (_, at) => lookup(`${LOOKUP}&n=${round}${at}`)),
    ]);
    assert.deepEqual(answers[0], { status: 500, code: INTERNAL }, JSON.stringify(answers[0]));
    for (const answer of answers.slice(1)) {
      const { status, code } = answer;
      assert.ok(
        (status === 200 && code === 100) || (status === 500 && code === INTERNAL),
        JSON.stringify(answer),
      );
    }
    assert.deepEqual(await lookup(LOOKUP), { status: 200, code: 100 }, 'another worker answers');
    assert.ok(heapEnds() >= round, lines.join(''));
  }
});

test('a bulk file with such a row ends with its trailer, and the next one is answered', async () => {
  const before = heapEnds();
  const body = `${ROW.repeat(600)}{"address":"allocate St"}\n${ROW.repeat(600)}`;
  const options = { port, type: NDJSON };
  const { rows, trailer } = readLines((await sendBulk(options, body)).body);
  assert.equal(trailer.complete, false);
  assert.equal(trailer.rows, rows.length);
  assert.ok(rows.length < 1_201);
  assert.equal(trailer.stopped?.code, INTERNAL, JSON.stringify(trailer.stopped));
  assert.ok(heapEnds() > before, lines.join(''));
  const next = readLines((await sendBulk(options, ROW.repeat(600))).body);
  assert.deepEqual([next.trailer.complete, next.rows.length], [true, 600]);
  assert.deepEqual(await lookup(LOOKUP), { status: 200, code: 100 });
});
