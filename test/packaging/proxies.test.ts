/** nginx and Caddy in front of the service, with the settings that are kept for them. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { BENCH_KEY, startSitus, type SitusServer } from '../../bench/load/situs-server.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { freePort } from '../support/free-port.js';
import { eventually } from '../support/http-eventually.js';
import { selfSigned } from '../support/simulated-provider.js';
import { skipForWantOf } from '../support/wanting.js';

const LOOKUP = '/request/v60?postalcode=91020';
/** A file longer than what a proxy keeps in memory of a body. */
const ROWS = 20_000;

let built: Built;
let situs: SitusServer;
let dir: string;
let port: number;

before(async () => {
  built = buildRecipe('fixture');
  situs = await startSitus(built.varDir, { SITUS_PROXIES: '127.0.0.1' });
  dir = mkdtempSync(join(tmpdir(), 'situs-proxy-'));
  port = await freePort();
});

after(async () => {
  await situs.stop();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Asks the proxy; the parts of a body are sent in chunks, as their lengths are not told. */
async function ask(
  path: string,
  options: RequestOptions = {},
  parts: readonly string[] = [],
): Promise<Answer> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    rejectUnauthorized: false,
    agent: false,
    ...options,
    headers: { 'X-API-KEY': BENCH_KEY, Host: 'tax.example', ...options.headers },
    servername: 'tax.example',
  });
  for (const part of parts) sent.write(part);
  sent.end();
  const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: Buffer.concat(pieces).toString('utf8'),
  };
}

/** The settings that are kept, with ports and certificate of this test. */
function settings(name: string, upstream: number): string | null {
  const made = selfSigned();
  if (made === null) return null;
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.key);
  const file = join(dir, name);
  const text = readFileSync(join(packageRoot(), 'packaging', 'proxy', name), 'utf8');
  writeFileSync(
    file,
    text
      .replace('worker_processes auto', 'worker_processes 1')
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${upstream}`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('tax.example {', `{\n\tadmin off\n}\ntax.example:${port} {\n\tbind 127.0.0.1\n`)
      .replace(/\/etc\/ssl\/tax\.example\/fullchain\.pem/g, cert)
      .replace(/\/etc\/ssl\/tax\.example\/key\.pem/g, key),
  );
  return file;
}

/** Starts the proxy for a test; false where it is not installed, which skips the test. */
async function proxied(
  context: TestContext,
  program: string,
  file: string,
  args: (path: string) => readonly string[],
  upstream = situs.port,
): Promise<boolean> {
  if (spawnSync(program, ['version']).error !== undefined) {
    skipForWantOf(context, `${program} is not installed`);
    return false;
  }
  const path = settings(file, upstream);
  if (path === null) {
    skipForWantOf(context, 'openssl is not installed');
    return false;
  }
  const child: ChildProcess = spawn(program, args(path), {
    stdio: 'ignore',
    env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
  });
  context.after(async () => {
    // nginx ends its workers at SIGTERM; killed at once, it leaves them, and they keep the port.
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await eventually(async () => {
    assert.equal(child.exitCode, null, `${program} has ended`);
    return (await ask('/system/live').catch(() => null))?.status === 200;
  });
  return true;
}

async function asksAll(): Promise<void> {
  const direct = await fetch(`http://127.0.0.1:${situs.port}${LOOKUP}`, {
    headers: { 'X-API-KEY': BENCH_KEY },
  });
  assert.equal((await ask(LOOKUP)).body, await direct.text());
  assert.equal((await ask('/request/v60?postalcode=00000')).status, 422);
}

/** Each address has its own limit, whatever a client writes of others. */
async function knowsClients([one, other]: readonly [string, string]): Promise<void> {
  const left = async (localAddress: string, forwarded?: string): Promise<unknown> =>
    (
      await ask('/data/tic', {
        localAddress,
        headers: forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded },
      })
    ).headers['x-ratelimit-remaining'];
  const first = Number(await left(one));
  assert.equal(Number(await left(one, '198.51.100.7')), first - 1, 'no made-up address');
  assert.equal(Number(await left(other)), first, 'another client has a limit of its own');
}

async function takesFiles(): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, at) => `${at},91020,${'x'.repeat(400)}\n`);
  const { status, body } = await ask(
    '/bulk/lookup',
    {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv', Accept: 'text/csv' },
    },
    ['id,postalcode,note\n', ...rows],
  );
  assert.equal(status, 200, body.slice(0, 200));
  assert.equal(body.split('\n').filter((line) => /^\d+,91020,/.test(line)).length, ROWS);
}

/** A WebSocket is answered message by message, each before the next is sent. */
async function streams(): Promise<void> {
  const ways = {
    rejectUnauthorized: false,
    servername: 'tax.example',
    headers: { 'X-API-KEY': BENCH_KEY, Host: 'tax.example' },
  };
  const socket = new WebSocket(`wss://127.0.0.1:${port}/stream`, ways);
  const next = async (): Promise<Record<string, unknown>> => {
    const [text] = (await once(socket, 'message')) as [Buffer];
    return JSON.parse(text.toString('utf8')) as Record<string, unknown>;
  };
  assert.ok('header' in (await next()));
  for (const id of [1, 2]) {
    const answer = next();
    socket.send(JSON.stringify({ id, postalcode: '91020' }));
    assert.deepEqual([(await answer)['id']], [id]);
  }
  const trailer = next();
  socket.send('{"end":true}');
  assert.ok('trailer' in (await trailer));
  socket.terminate();
}

const PROXIES = [
  {
    program: 'nginx',
    file: 'nginx.conf',
    clients: ['127.0.0.2', '127.0.0.3'],
    args: (path: string) => ['-p', dir, '-c', path, '-g', `daemon off; pid ${dir}/nginx.pid;`],
  },
  {
    program: 'caddy',
    file: 'Caddyfile',
    clients: ['127.0.0.4', '127.0.0.5'],
    args: (path: string) => ['run', '--adapter', 'caddyfile', '--config', path],
  },
] as const;

for (const { program, file, clients, args } of PROXIES) {
  test(`${program} passes lookups, files, streams and clients' addresses on`, async (context) => {
    if (!(await proxied(context, program, file, args))) return;
    await asksAll();
    await knowsClients(clients);
    await takesFiles();
    await streams();
  });
}

/** What stands in the place of the service and keeps how each request came. */
async function upstream(
  context: TestContext,
): Promise<{ readonly port: number; readonly seen: { connection: string; socket: number }[] }> {
  const seen: { connection: string; socket: number }[] = [];
  const server = createServer(({ headers, socket }, answer) => {
    seen.push({ connection: headers.connection ?? '', socket: socket.remotePort ?? 0 });
    answer.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

for (const { program, file, args } of PROXIES) {
  test(`${program} tells the service that it goes on with a connection, and does`, async (context) => {
    const { port: stub, seen } = await upstream(context);
    if (!(await proxied(context, program, file, args, stub))) return;
    seen.length = 0;
    for (let count = 0; count < 5; count += 1) await ask(LOOKUP);
    assert.deepEqual(
      seen.map(({ connection }) => connection),
      Array(5).fill('keep-alive'),
    );
    assert.equal(new Set(seen.map(({ socket }) => socket)).size, 1, 'one connection for all');
  });
}
