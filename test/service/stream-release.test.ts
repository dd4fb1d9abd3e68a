/** Releases that are activated while streams and uploads are under way. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import type { App } from '../../src/app.js';
import { StreamClient, wasRefused, type StreamAsk } from '../../bench/load/stream-client.js';
import {
  KEYS,
  NDJSON,
  openBulk,
  readLines,
  sendBulk,
  startBulkApp,
} from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';
import { activate, newVarDir } from '../support/http-var-dir.js';
import { rateOf, writeRates, ZIP } from '../support/tiny-release.js';
import { ending } from '../support/stream-service.js';

const RATES = [40, 45, 50];
const UNANSWERED_MAX = 100;
/** Answers of a release before the next is activated. */
const STRETCH = 150;

interface Served {
  readonly app: App;
  readonly port: number;
  /** Names of the releases, the first of which is active. */
  readonly names: readonly string[];
  /** The release of an answer, by its rate. */
  releaseOf(answer: string): string;
  activate(index: number): void;
}

async function serve(context: TestContext): Promise<Served> {
  const varDir = newVarDir(context);
  const byRate = await writeRates(varDir, RATES);
  const names = [...byRate.values()];
  activate(varDir, names[0]!);
  const { app, port } = await startBulkApp(varDir, { SITUS_BULK_WORKERS: '2' });
  context.after(() => app.stop());
  return {
    app,
    port,
    names,
    releaseOf: (answer) => byRate.get(rateOf(answer)) ?? '',
    activate: (index) => activate(varDir, names[index]!),
  };
}

interface Line {
  readonly header?: { readonly dataset: string; readonly resume: string };
  readonly dataset?: { readonly id: string; readonly seq: number };
  readonly trailer?: { readonly rows: number; readonly complete: boolean };
  readonly seq?: number;
  readonly id?: number;
}

async function open(
  { port }: Served,
  transport: StreamAsk['transport'],
  query = '',
): Promise<{ readonly client: StreamClient; readonly header: NonNullable<Line['header']> }> {
  const client = await StreamClient.open({ port, key: KEYS.bulk, transport, query });
  assert.ok(!wasRefused(client));
  const { header } = JSON.parse((await client.next()) ?? '{}') as Line;
  assert.ok(header !== undefined);
  return { client, header };
}

function message(id: number): string {
  return JSON.stringify({ id, postalcode: ZIP });
}

for (const transport of ['socket', 'post'] as const) {
  test(`a release is activated between the messages of a stream (${transport})`, async (context) => {
    const served = await serve(context);
    const { client, header } = await open(served, transport);
    assert.equal(header.dataset, served.names[0]);
    const told: { readonly id: string; readonly seq: number }[] = [];
    let now = header.dataset;
    let sent = 0;
    let answered = 0;
    let ofRelease = 0;
    for (let release = 0; release < served.names.length; ) {
      for (; sent - answered < UNANSWERED_MAX; sent += 1) client.send(message(sent + 1));
      const text = await client.next();
      assert.ok(text !== null);
      const { dataset, seq, id } = JSON.parse(text) as Line;
      if (dataset !== undefined) {
        told.push(dataset);
        now = dataset.id;
        ofRelease = 0;
        continue;
      }
      answered += 1;
      assert.deepEqual([seq, id], [answered, answered], 'each once and in order');
      assert.equal(served.releaseOf(text), now, 'the release that was told last');
      if (told.at(-1)?.id === now && ofRelease === 0) assert.equal(told.at(-1)?.seq, seq);
      ofRelease += 1;
      if (answered % 64 === 0) client.send(`{"ack":${answered}}`);
      if (now !== served.names[release] || ofRelease !== STRETCH) continue;
      release += 1;
      if (release < served.names.length) served.activate(release);
    }
    client.finish();
    const { lines, trailer } = await ending(client);
    assert.equal(answered + lines.length - 1, sent);
    assert.deepEqual([trailer.rows, trailer.complete], [sent, true]);
    assert.deepEqual(
      told.map(({ id }) => id),
      served.names.slice(1),
    );
    assert.equal(served.app.live.openCount, 2, 'nothing holds the first one any more');
  });
}

test('answers that come again after a change say which release they are from', async (context) => {
  const served = await serve(context);
  const [before = '', now = ''] = served.names;
  const first = await open(served, 'socket');
  for (const id of [1, 2, 3]) first.client.send(message(id));
  const answers = [await first.client.next(), await first.client.next(), await first.client.next()];
  first.client.cut();
  served.activate(1);
  await eventually(() => served.app.live.release?.id === now);
  const { client, header } = await open(served, 'post', `?resume=${first.header.resume}&from=1`);
  assert.equal(header.dataset, now);
  client.send(message(4));
  client.finish();
  const { lines, trailer } = await ending(client);
  const change = (id: string, seq: number): string => JSON.stringify({ dataset: { id, seq } });
  assert.deepEqual(lines.slice(0, 4), [change(before, 2), answers[1], answers[2], change(now, 4)]);
  assert.equal(served.releaseOf(lines[4] ?? ''), now);
  assert.equal(trailer.rows, 4);
});

test('an upload ends with the release that it began with, two changes later', async (context) => {
  const served = await serve(context);
  const { port, app, names } = served;
  const { request, answer } = openBulk({ port, type: NDJSON });
  request.write(`${message(1)}\n`);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  assert.equal(response.headers['x-situs-dataset'], names[0]);
  let rows = 1;
  for (const index of [1, 2]) {
    served.activate(index);
    await eventually(async () => {
      const single = await sendBulk({
        port,
        path: `/request/v60?postalcode=${ZIP}`,
        method: 'GET',
      });
      return served.releaseOf(single.body.toString()) === names[index];
    });
    for (let count = 0; count < 600; count += 1) request.write(`${message((rows += 1))}\n`);
  }
  assert.equal(app.live.openCount, 3, 'the first one is open for the upload');
  request.end();
  const { header, rows: lines, trailer } = readLines((await answer).body);
  assert.equal(header['dataset'], names[0]);
  assert.deepEqual(
    lines.map(({ id }) => id),
    lines.map((_, index) => index + 1),
  );
  for (const line of lines) assert.equal(served.releaseOf(JSON.stringify(line)), names[0]);
  assert.deepEqual([trailer.rows, trailer.complete], [rows, true]);
  await eventually(() => app.live.openCount === 2);
});
