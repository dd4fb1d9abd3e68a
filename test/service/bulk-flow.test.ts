/** Bulk files whose sides have different speeds: memory, order, and what is given back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { releasesDir } from '../../src/dataset/release.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { type ChildService, startChild } from '../support/server-process.js';
import {
  CSV,
  NDJSON,
  openBulk,
  readLines,
  sendBulk,
  startBulkApp,
} from '../support/bulk-client.js';
import { eventually } from '../support/http-eventually.js';

const DOOR = '120 Main St, Elmton, QA 91010';
const ROWS = 100_000;
const ROWS_PER_PIECE = 1_000;
/** Long rows: it is bytes that would be held, and rows that take time. */
const NOTE_BYTES = 300;

/** What the process may take for itself beside what it takes idle, workers included. */
const CEILING_BYTES = 160 * 1_048_576;

let built: Built;
let child: ChildService;
const dirs: string[] = [];

/** A folder of variables of its own over the same dataset. */
function ownVar(): string {
  const dir = mkdtempSync(join(tmpdir(), 'situs-flow-'));
  dirs.push(dir);
  cpSync(releasesDir(built.varDir), releasesDir(dir), { recursive: true });
  return dir;
}

before(async () => {
  built = buildRecipe('fixture');
  child = await startChild(ownVar(), { SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1' });
});

after(async () => {
  await child.stop();
  built.remove();
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

const PIECE = Buffer.from(`7,"${DOOR}",${'x'.repeat(NOTE_BYTES)}\n`.repeat(ROWS_PER_PIECE));

/** Ends of lines, sought and not looked for byte by byte: there are 40 MB of them. */
function linesOf(part: Buffer): number {
  let count = 0;
  for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) count += 1;
  return count;
}

test('a reader that rests stops the upload, and memory stays bounded for 34 MB of rows', async (context) => {
  const { port } = child;
  await sendBulk({ port, type: CSV }, Buffer.concat([Buffer.from('id,address,note\n'), PIECE]));
  const idle = child.ownBytes();
  const { request, answer } = openBulk({ port, type: CSV });
  answer.catch(() => undefined);
  let sent = 0;
  let peak = 0;
  request.write('id,address,note\n');
  const [response] = await new Promise<[IncomingMessage]>((resolve) => {
    request.on('response', (found: IncomingMessage) => {
      found.pause();
      resolve([found]);
    });
    request.write(PIECE);
    sent += 1;
  });
  let rows = 0;
  // Every second piece the reader takes only what is needed for the upload to go on.
  const watch = (): void => {
    peak = Math.max(peak, child.ownBytes() ?? 0);
  };
  let stalled = false;
  while (sent < ROWS / ROWS_PER_PIECE) {
    watch();
    sent += 1;
    if (request.write(PIECE)) continue;
    const drained = once(request, 'drain').then(() => true);
    let quiet = 0;
    // Until the service stops reading, pieces go on; then the reader takes some more.
    for (let free = false; !free; ) {
      free = await Promise.race([
        drained,
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 3)),
      ]);
      quiet += 1;
      if (free || quiet < 5) continue;
      stalled = true;
      for (let taken = 0; taken < 64; taken += 1) {
        const part = response.read() as Buffer | null;
        if (part === null) break;
        rows += linesOf(part);
      }
      watch();
    }
  }
  assert.ok(stalled, 'the upload was never stopped');
  request.end();
  response.on('data', (part: Buffer) => {
    rows += linesOf(part);
  });
  response.resume();
  await once(response, 'end');
  watch();
  assert.equal(rows, ROWS + 1);
  context.diagnostic(`${Math.round((peak - (idle ?? 0)) / 1e6)} MB above idle`);
  if (idle !== null)
    assert.ok(peak - idle < CEILING_BYTES, `${Math.round((peak - idle) / 1e6)} MB more`);
});

test('a writer that waits for each answer gets it at once', async () => {
  const { request, answer } = openBulk({ port: child.port, type: NDJSON });
  const row = (id: number): string => `${JSON.stringify({ id, address: DOOR })}\n`;
  let text = '';
  request.on('response', (response: IncomingMessage) => {
    response.on('data', (part: Buffer) => {
      text += part.toString('latin1');
    });
  });
  request.write(row(0));
  for (let id = 0; id < 20; id += 1) {
    await eventually(() => text.includes(`"id":${id},`));
    if (id < 19) request.write(row(id + 1));
  }
  request.end();
  assert.equal(readLines((await answer).body).trailer.rows, 20);
});

test('pieces of a row, however they are cut, make the row', async () => {
  const { request, answer } = openBulk({ port: child.port, type: NDJSON });
  const text = `${JSON.stringify({ id: 'ü', address: DOOR })}\n`.repeat(3);
  for (const byte of Buffer.from(text)) {
    await new Promise<void>((resolve) => request.write(Buffer.of(byte), () => resolve()));
  }
  request.end();
  const { rows } = readLines((await answer).body);
  assert.deepEqual(
    rows.map(({ id, error }) => [id, error]),
    Array(3).fill(['ü', undefined]),
  );
});

test('clients that go away leave their places', async () => {
  const { port } = child;
  for (let round = 0; round < 3; round += 1) {
    const open = Array.from({ length: 8 }, () => openBulk({ port, type: CSV }));
    for (const { request, answer } of open) {
      answer.catch(() => undefined);
      request.on('error', () => undefined);
      request.write(`id,address,note\n${PIECE.toString()}`);
    }
    await Promise.all(open.map(({ request }) => once(request, 'response')));
    for (const { request } of open) request.destroy();
    await eventually(
      async () => (await sendBulk({ port, type: CSV }, 'zip\n91020')).status === 200,
    );
  }
});

test('one worker and four give the same bytes', async () => {
  const body = Buffer.from(
    'id,address\n' +
      Array.from(
        { length: 5_000 },
        (_, id) =>
          `${id},"${id % 7 === 0 ? 'nowhere' : `${100 + (id % 40)} Main St, Elmton, QA 91010`}"\n`,
      ).join(''),
  );
  const outputs: Buffer[] = [];
  for (const workers of ['1', '4']) {
    const { app, port } = await startBulkApp(ownVar(), { SITUS_BULK_WORKERS: workers });
    const plain = await sendBulk({ port, type: CSV }, body);
    const lines = await sendBulk({ port, type: CSV, headers: { Accept: NDJSON } }, body);
    outputs.push(
      Buffer.concat([
        plain.body,
        ...readLines(lines.body).rows.map((row) => Buffer.from(JSON.stringify(row))),
      ]),
    );
    await app.stop();
  }
  assert.ok(outputs[0]!.equals(outputs[1]!));
});

test('a service that stops ends its streams with their trailers', async () => {
  const { app, port } = await startBulkApp(ownVar());
  const { request, answer } = openBulk({ port, type: NDJSON });
  request.on('error', () => undefined);
  request.write(`${JSON.stringify({ address: DOOR })}\n`);
  await once(request, 'response');
  const stopping = app.stop();
  const { trailer } = readLines((await answer).body);
  assert.equal(trailer.complete, false);
  assert.match(trailer.stopped?.message ?? '', /stopping/);
  await stopping;
});

test('a client that sends nothing any more is told so', async () => {
  const { app, port } = await startBulkApp(ownVar(), { SITUS_BULK_IDLE_SECONDS: '1' });
  const silent = openBulk({ port, type: CSV });
  silent.request.on('error', () => undefined);
  silent.request.flushHeaders();
  const started = openBulk({ port, type: NDJSON });
  started.request.on('error', () => undefined);
  started.request.write(`${JSON.stringify({ address: DOOR })}\n`);
  assert.equal((await silent.answer).status, 408);
  const { trailer } = readLines((await started.answer).body);
  assert.match(trailer.stopped?.message ?? '', /Nothing was sent for 1 seconds/);
  await app.stop();
});
