/**
 * The service on another Node.js than that of the tests: SITUS_TEST_NODE names its binary, or several
 * between commas. It builds a dataset, answers a lookup, a cart and a stream over a WebSocket as
 * here, byte for byte, and stops.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { StreamClient, wasRefused } from '../../bench/load/stream-client.js';
import { CLI } from '../support/built-dataset.js';
import { sentCalculation } from '../support/sent-carts.js';
import { withoutCartIds } from '../support/same-items.js';

const KEY = 'a-key-for-another-node';
const HERE = '5 Border Ave, Elmton, QA 91011';
const CART = sentCalculation({
  origin: { address: HERE },
  destination: { address: HERE },
});
const NODES = (process.env['SITUS_TEST_NODE'] ?? '').split(',').filter((path) => path !== '');

interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it has logged so far. */
  logged(): string;
}

/** Nothing of this run but what the service needs: not the options of this Node.js either. */
function environment(varDir: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, SITUS_VAR: varDir, PORT: '0', SITUS_BOOTSTRAP_KEY: KEY };
}

async function serve(context: TestContext, node: string, varDir: string): Promise<Running> {
  const child = spawn(node, [CLI, 'serve'], {
    env: environment(varDir),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  context.after(() => child.kill('SIGKILL'));
  let logged = '';
  child.stderr.on('data', (piece: Buffer) => {
    logged += piece.toString();
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /^Situs answers on (http:\S+)$/.exec(line);
    if (found !== null) return { url: found[1]!, child, logged: () => logged };
  }
  throw new Error(`the server ended: ${logged}`);
}

/** The second answer of a stream over a WebSocket: the first is the header, which differs. */
async function streamed(url: string): Promise<string> {
  const client = await StreamClient.open({
    port: Number(new URL(url).port),
    key: KEY,
    transport: 'socket',
  });
  assert.ok(!wasRefused(client), 'the stream is refused');
  await client.next();
  client.send(JSON.stringify({ id: 1, address: HERE }));
  const answer = await client.next();
  client.finish();
  await client.ended;
  return answer ?? '';
}

interface Answers {
  readonly lookup: string;
  readonly cart: string;
  readonly stream: string;
}

/** Builds, starts, asks and stops; what was answered. */
async function whole(context: TestContext, node: string): Promise<Answers> {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-node-'));
  context.after(() => rmSync(varDir, { recursive: true, force: true }));
  execFileSync(node, [CLI, 'dataset', 'build', '--recipe', 'fixture', '--activate'], {
    env: environment(varDir),
    stdio: 'pipe',
  });
  const { url, child, logged } = await serve(context, node, varDir);
  const headers = { 'X-API-KEY': KEY, 'Content-Type': 'application/json' };
  const lookup = await fetch(`${url}/request/v60?postalcode=91010`, { headers });
  assert.equal(lookup.status, 200);
  // The native server names itself; where it is not, the log has said so.
  const isNative = lookup.headers.has('uwebsockets');
  assert.equal(logged().includes('the native HTTP server cannot load'), !isNative, logged());
  const cart = await fetch(`${url}/calculate/cart`, {
    method: 'POST',
    headers,
    body: JSON.stringify(CART),
  });
  const paid = withoutCartIds(await cart.text());
  assert.equal(cart.status, 200, paid);
  const answers = {
    lookup: await lookup.text(),
    cart: paid,
    stream: await streamed(url),
  };
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 0, logged());
  context.diagnostic(
    `${execFileSync(node, ['--version']).toString().trim()}: the ${
      isNative ? 'native' : 'node'
    } HTTP server answers`,
  );
  return answers;
}

test('another Node.js answers the same', async (context) => {
  if (NODES.length === 0) return context.skip('SITUS_TEST_NODE names no other Node.js');
  const here = await whole(context, process.execPath);
  assert.match(here.stream, /"seq":1\b/);
  for (const node of NODES) assert.deepEqual(await whole(context, node), here, node);
});
