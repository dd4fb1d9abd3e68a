/**
 * The limit to compare streams with: a WebSocket server that answers every message with the same
 * bytes.
 */
import { createServer } from '../../src/http/open-transport.js';
import type { RawSocket } from '../../src/http/transport.js';
import { serveAsChild, startChild, type BareServer } from './child-server.js';

const MESSAGE_BYTES_MAX = 4_194_304;
const BUFFERED_BYTES_MAX = 268_435_456;

/** Starts the server in a process of its own. */
export function startBareSocketServer(answer: Uint8Array): Promise<BareServer> {
  return startChild(import.meta.url, answer);
}

async function serve(answer: Uint8Array): Promise<number> {
  const server = await createServer();
  server.sockets(
    '/stream',
    { messageBytesMax: MESSAGE_BYTES_MAX, bufferedBytesMax: BUFFERED_BYTES_MAX },
    (_raw, _request, accept) => {
      let socket: RawSocket | null = null;
      accept({
        open: (opened) => {
          socket = opened;
        },
        message: () => {
          socket?.send(answer);
        },
        drained: () => undefined,
        alive: () => undefined,
        closed: () => {
          socket = null;
        },
      });
    },
  );
  const port = await server.listen('127.0.0.1', 0);
  if (port === null) throw new Error('no port');
  return port;
}

serveAsChild(import.meta.url, serve);
