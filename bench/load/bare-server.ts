/**
 * The limit beside us: a server that reads nothing of a request, or its body without a look at it,
 * and sends the same header fields and the same body every time.
 */
import type { Head } from '../../src/http/reply.js';
import { createServer } from '../../src/http/open-transport.js';
import { serveAsChild, startChild, type BareServer } from './child-server.js';

/** What it answers. */
export interface BareAnswer {
  readonly head: Head;
  readonly body: Uint8Array;
}

/** Starts it in a process of its own. */
export function startBareServer(answer: BareAnswer): Promise<BareServer> {
  return startChild(import.meta.url, answer);
}

async function serve({ head, body }: BareAnswer): Promise<number> {
  const server = await createServer();
  // In one call, as the service does: the native server pays for each field it is handed.
  server.get('/*', (response) => {
    response.writeHeader('Content-Type', head).end(body);
  });
  server.any('/*', (response) => {
    response.onAborted(() => undefined);
    response.onData((_, isLast) => {
      if (isLast) response.cork(() => response.writeHeader('Content-Type', head).end(body));
    });
  });
  const port = await server.listen('127.0.0.1', 0);
  if (port === null) throw new Error('no port');
  return port;
}

serveAsChild(import.meta.url, serve);
