/** The requests in the page's table of response codes, over HTTP and with real keys. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { App } from '../../src/app.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { PLANS } from '../../src/store/plan.js';
import { RESPONSE_CODES, SUCCESS } from '../../src/wire/response-code.js';
import { v60Schema } from '../../src/describe/lookups.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { CommandProcess } from '../support/command-process.js';
import { type CodeRow, codeRows } from '../support/documented-tables.js';
import { eventually } from '../support/http-eventually.js';
import { faults, strictly } from '../support/schema-check.js';
import { startApp } from '../support/own-app.js';

const ROWS = codeRows(readFileSync(join(packageRoot(), 'docs', 'api.md'), 'utf8'));
const CODES = Array.from({ length: 14 }, (_, index) => 100 + index);

const NO_DATASET = 'no dataset is active';
const NO_GRANT = /^on a plan without [a-z_]+$/;
/** Requests before the one that is meant. */
const EARLIER: Readonly<Record<string, number>> = { 'the 11th in a minute': 10 };

interface Running {
  readonly app: App;
  readonly varDir: string;
  readonly base: string;
}

const EMPTY_VAR = mkdtempSync(join(tmpdir(), 'situs-empty-'));
const commands = new CommandProcess();
let built: Built;
let full: Running;
let empty: Running;
let valid: ValidateFunction;

async function start(varDir: string): Promise<Running> {
  const app = await startApp(varDir, { SITUS_BOOTSTRAP_KEY: 'a-key-for-the-codes-test' });
  return { app, varDir, base: `http://127.0.0.1:${await app.listen()}` };
}

before(async () => {
  valid = strictly(v60Schema(''));
  built = buildRecipe('default');
  full = await start(built.varDir);
  empty = await start(EMPTY_VAR);
});

after(async () => {
  await commands.end();
  await full.app.stop();
  await empty.app.stop();
  built.remove();
  rmSync(EMPTY_VAR, { recursive: true, force: true });
});

/** Header fields with a fresh key of a plan, once the service knows it. */
async function withKey({ varDir, base }: Running, plan: string): Promise<Record<string, string>> {
  assert.ok((PLANS as readonly string[]).includes(plan), plan);
  const words = ['key', 'create', '--plan', plan, '--json'];
  const { out } = await commands.run(words, { SITUS_VAR: varDir });
  const { key: text } = JSON.parse(out) as { readonly key: string };
  const headers = { 'X-API-KEY': text };
  // Metrics take nothing from the rate.
  await eventually(async () => {
    const metrics = await fetch(`${base}/account/v60/metrics`, { headers });
    return (await metrics.text()).includes('"is_active":true');
  });
  return headers;
}

async function run({ plan, when, path }: CodeRow): Promise<Response> {
  const running = when === NO_DATASET ? empty : full;
  const headers = plan === null ? {} : await withKey(running, plan);
  const earlier = EARLIER[when];
  assert.ok(
    when === '' ||
      plan === null ||
      when === NO_DATASET ||
      NO_GRANT.test(when) ||
      earlier !== undefined,
    `what is "${when}"?`,
  );
  for (let sent = 0; sent < (earlier ?? 0); sent += 1) {
    assert.equal((await fetch(running.base + path, { headers })).status, 200);
  }
  return fetch(running.base + path, { headers });
}

test('the page has every code, as the program has it', () => {
  assert.deepEqual(
    ROWS.map(({ code }) => code),
    CODES,
  );
  const known = [SUCCESS, ...Object.values(RESPONSE_CODES)];
  for (const { code, name, http } of ROWS) {
    const same = known.filter((each) => each.code === code);
    assert.deepEqual(new Set(same.map((each) => each.name)), new Set([name]));
    assert.deepEqual(
      same.map((each) => each.http),
      http,
    );
  }
});

for (const row of ROWS) {
  test(`code ${row.code}: GET ${row.path}`, async () => {
    const response = await run(row);
    assert.ok(row.http.includes(response.status), String(response.status));
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.ok(response.headers.has('x-ratelimit-limit'));
    assert.ok(response.headers.has('x-ratelimit-remaining'));
    assert.equal(response.headers.get('retry-after'), null);
    const body = (await response.json()) as {
      readonly rCode?: number;
      readonly metadata?: { readonly response: { readonly code: number; readonly name: string } };
    };
    assert.equal(faults(valid, body), '');
    const { code = body.rCode, name = SUCCESS.name } = body.metadata?.response ?? {};
    assert.deepEqual([code, name], [row.code, row.name]);
  });
}
