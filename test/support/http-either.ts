/** A server of either kind with three small routes, and connections to it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { headOf } from '../../src/http/reply.js';
import { createServer } from '../../src/http/open-transport.js';
import { Router, type Route } from '../../src/http/router.js';
import type { RawServer, TransportName } from '../../src/http/transport.js';
import { SILENT } from '../../src/log.js';
import { RawClient } from './http-client.js';

export const HOST = 'Host: a\r\n';
const PLAIN = headOf('text/plain');

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/small',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => answer.send({ status: 200, head: PLAIN, body: 'small' }),
  },
  {
    method: 'POST',
    path: '/echo',
    bodyBytesMax: 1_000_000,
    deadlineMs: 30_000,
    handle: ({ body }, answer) => answer.send({ status: 200, head: PLAIN, body }),
  },
  {
    method: 'GET',
    path: '/never',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: () => undefined,
  },
];

interface Served {
  readonly server: RawServer;
  readonly router: Router;
  readonly port: number;
  open(): Promise<RawClient>;
}

/** A server of one kind; null, with the test skipped, where it does not load. */
export async function serve(
  context: TestContext,
  transport: TransportName,
): Promise<Served | null> {
  let server: RawServer;
  try {
    server = await createServer({ transport });
  } catch (error) {
    context.skip(String(error));
    return null;
  }
  assert.equal(server.transport, transport);
  const router = new Router(ROUTES, SILENT);
  router.attach(server);
  const port = await server.listen('127.0.0.1', 0);
  assert.ok(port !== null);
  context.after(() => server.close());
  return {
    server,
    router,
    port,
    open: async () => {
      const client = await RawClient.open(port);
      context.after(() => client.close());
      return client;
    },
  };
}

/** Status and body of what a text is answered with; null where the connection is cut. */
export async function answerTo(
  { open }: Served,
  text: string,
): Promise<readonly [number | undefined, string | undefined]> {
  const client = await open();
  client.write(text);
  const answer = await client.answer();
  client.close();
  return [answer?.status, answer?.body];
}
