/**
 * The limit to compare with: a server that does not look at a request or its body, and always sends
 * the same header fields and the same body.
 */
import type { Head } from '../../src/http/reply.js';
import { createServer } from '../../src/http/open-transport.js';
import { serveAsChild, startChild, type BareServer } from './child-server.js';

/** The answer that the server repeats. */
export interface BareAnswer {
  readonly head: Head;
  readonly body: Uint8Array;
}

/** Starts the server in a process of its own. */
export function startBareServer(answer: BareAnswer): Promise<BareServer> {
  return startChild(import.meta.url, answer);
}

async function serve({ head, body }: BareAnswer): Promise<number> {
  const server = await createServer();
  // All fields in one call, as in the service, since each call to the native server costs time.
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
