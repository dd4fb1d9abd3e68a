/** Simulated providers, and providers that answer exactly what a test says. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ClientOptions, ProviderClient } from '../../src/provider/client.js';
import type { ProviderCall, ProviderOutcome } from '../../src/provider/provider.js';
import { Simulator, type SimulatorOptions } from '../../src/provider/simulator/server.js';

/** Of a connection, and calls with it. */
export const KEY = 'a-secret-key';
export const GET: ProviderCall = {
  method: 'GET',
  path: '/tax/connections/c/orders/o',
  apiKey: KEY,
  body: null,
};
export const POST: ProviderCall = {
  method: 'POST',
  path: '/tax/connections/c/orders',
  apiKey: KEY,
  body: Buffer.from('{"a":1.0}'),
};

/** What became of a call, in short. */
export function kindOf(outcome: ProviderOutcome): string {
  return outcome.kind === 'answer' ? `answer ${outcome.status}` : outcome.kind;
}

/** A simulated provider until the end of the test. */
export async function startSimulator(
  context: TestContext,
  options: SimulatorOptions = {},
): Promise<Simulator> {
  const simulator = await Simulator.start(options);
  context.after(() => simulator.close());
  return simulator;
}

/** A client of a provider on this machine. */
export function clientOf(
  context: TestContext,
  url: string,
  options: Partial<ClientOptions> = {},
): ProviderClient {
  const client = new ProviderClient({
    url: new URL(url),
    timeoutMs: 120_000,
    allowPrivate: true,
    ...options,
  });
  context.after(() => client.close());
  return client;
}

interface RawProvider {
  readonly url: string;
  /** Every request's text, as far as it came. */
  readonly requests: string[];
  readonly sockets: Socket[];
}

/** A server that writes given bytes for each request, whatever was asked; then does as told. */
export async function startRawProvider(
  context: TestContext,
  respond: (socket: Socket, count: number) => void,
): Promise<RawProvider> {
  const requests: string[] = [];
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        requests.push(bytes.toString('latin1'));
        respond(socket, requests.length);
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets };
}

/** A certificate for 127.0.0.1 and provider.test that nobody signed; null without openssl. */
export function selfSigned(): { readonly key: string; readonly cert: string } | null {
  const dir = mkdtempSync(join(tmpdir(), 'situs-tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        '/CN=provider.test',
        '-addext',
        'subjectAltName=DNS:provider.test',
      ],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch {
    return null;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
