/** The examples of docs/events.md, run on a real delivery. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  DEAD_ACCOUNT_MAX,
  DEAD_MAX,
  WAITING_ACCOUNT_MAX,
  WAITING_MAX,
} from '../../src/store/outbox.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { openOutbox, SECRET, toEndpoint } from '../support/event-outbox.js';
import { startReceiver } from '../support/event-receivers.js';

const TEXT = readFileSync(join(packageRoot(), 'docs', 'events.md'), 'utf8');
/** Beside the tests, so that packages are found. */
const HERE = dirname(fileURLToPath(import.meta.url));

function blocks(language: string): readonly string[] {
  return [...TEXT.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code]) => code ?? '',
  );
}

interface Examples {
  openEvent(secret: string, body: string, headers: object): unknown;
  isSigned(secret: string, body: string, signature: string): boolean;
}

function isExamples(value: object): value is Examples {
  return 'openEvent' in value && 'isSigned' in value;
}

test('a receiver built from the examples verifies what it gets', async (context) => {
  const dir = mkdtempSync(join(HERE, 'documented-'));
  context.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'examples.mjs');
  const code = blocks('js');
  assert.equal(code.length, 2);
  writeFileSync(file, code.join('\n'));
  const examples: object = await import(pathToFileURL(file).href);
  assert.ok(isExamples(examples));

  const receiver = await startReceiver(context);
  const outbox = await openOutbox(context, toEndpoint(receiver.url));
  await outbox.addEvent('conn-1');
  await outbox.pass(0);
  const { body, headers } = receiver.got[0]!;
  const signature = String(headers['x-signature']);
  assert.equal(examples.isSigned(SECRET, body, signature), true);
  assert.equal(examples.isSigned(SECRET, `${body} `, signature), false);
  assert.equal(examples.isSigned(SECRET, body, 'short'), false);
  assert.deepEqual(examples.openEvent(SECRET, body, headers), JSON.parse(body));
  assert.throws(() => examples.openEvent(SECRET, `${body} `, headers));
  const shown = JSON.parse(blocks('json')[0] ?? '') as object;
  assert.deepEqual(Object.keys(shown), Object.keys(JSON.parse(body) as object));

  const dgst = spawnSync('openssl', ['dgst', '-sha256', '-hmac', SECRET], { input: body });
  if (dgst.error === undefined) assert.ok(dgst.stdout.toString().includes(signature));
});

test('the limits told of are those of the program', () => {
  for (const limit of [WAITING_MAX, WAITING_ACCOUNT_MAX, DEAD_MAX, DEAD_ACCOUNT_MAX]) {
    assert.ok(TEXT.includes(limit.toLocaleString('en')), String(limit));
  }
});
