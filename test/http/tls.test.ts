/** HTTPS by certificate and key in files, and their renewal while it answers. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import type { App } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { createServer } from '../../src/http/open-transport.js';
import { createLog } from '../../src/log.js';
import { startEcho } from '../support/echo-service.js';
import { freePort } from '../support/free-port.js';
import { newVarDir } from '../support/http-var-dir.js';
import { selfSigned } from '../support/simulated-provider.js';
import { skipForWantOf } from '../support/wanting.js';

interface Files {
  readonly cert: string;
  readonly key: string;
  write(): boolean;
}

/** A certificate and its key in a folder, made anew by `write`. */
function files(dir: string): Files {
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  return {
    cert,
    key,
    write: () => {
      const made = selfSigned();
      if (made === null) return false;
      writeFileSync(cert, made.cert);
      writeFileSync(key, made.key);
      return true;
    },
  };
}

async function open(port: number): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

/** Status line of one request on an open connection. */
async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET /system/live HTTP/1.1\r\nHost: a\r\n\r\n');
  const [piece] = (await once(socket, 'data')) as [Buffer];
  return piece.toString('latin1').split('\r\n')[0] ?? '';
}

async function start(
  context: TestContext,
  { cert, key }: Files,
): Promise<{ readonly app: App; readonly port: number; readonly told: readonly string[] }> {
  const told: string[] = [];
  const { app, port } = await startEcho(
    context,
    { PORT: String(await freePort()), SITUS_TLS_CERT: cert, SITUS_TLS_KEY: key },
    { log: createLog('warn', (line) => told.push(line)) },
  );
  return { app, port, told };
}

test('a new certificate serves new connections, open ones go on with theirs', async (context) => {
  const made = files(newVarDir(context));
  if (!made.write()) return skipForWantOf(context, 'openssl is not installed');
  const { app, port, told } = await start(context, made);
  const first = await open(port);
  assert.equal(await ask(first), 'HTTP/1.1 200 OK');
  const before = first.getPeerCertificate().fingerprint256;
  made.write();
  await app.reload();
  const second = await open(port);
  assert.notEqual(second.getPeerCertificate().fingerprint256, before);
  assert.equal(await ask(second), 'HTTP/1.1 200 OK');
  assert.equal(await ask(first), 'HTTP/1.1 200 OK');
  writeFileSync(made.cert, 'torn');
  await app.reload();
  const third = await open(port);
  assert.equal(
    third.getPeerCertificate().fingerprint256,
    second.getPeerCertificate().fingerprint256,
    'what cannot be read changes nothing',
  );
  assert.ok(
    told.some((line) => line.includes('certificate not renewed')),
    told.join(''),
  );
  for (const socket of [first, second, third]) socket.destroy();
});

test('certificate and key are named together, and have to be there', async (context) => {
  assert.throws(
    () => loadConfig({ SITUS_TLS_CERT: '/a' }),
    /SITUS_TLS_CERT and SITUS_TLS_KEY need/,
  );
  const nowhere = { cert: '/nowhere/cert.pem', key: '/nowhere/key.pem', write: () => false };
  await assert.rejects(
    start(context, nowhere),
    /SITUS_TLS_CERT names no file: \/nowhere\/cert\.pem/,
  );
  assert.equal(
    loadConfig({ SITUS_TLS_CERT: '/a', SITUS_TLS_KEY: '/b' }).baseUrl,
    'https://127.0.0.1:3000',
  );
});

test('a certificate that is renewed before it listens serves from the first connection on', async (context) => {
  const made = files(newVarDir(context));
  if (!made.write()) return skipForWantOf(context, 'openssl is not installed');
  const server = await createServer({ tls: made });
  context.after(() => server.close());
  server.get('/system/live', (raw) => raw.end());
  made.write();
  await server.renew();
  const port = await server.listen('127.0.0.1', 0);
  const socket = await open(port ?? 0);
  const { fingerprint256 } = new X509Certificate(readFileSync(made.cert));
  assert.equal(socket.getPeerCertificate().fingerprint256, fingerprint256);
  assert.equal(await ask(socket), 'HTTP/1.1 200 OK');
  socket.destroy();
});
