/** The limit beside streams: a WebSocket server that answers every message with the same bytes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createServer, type RawSocket } from '../../src/http/uws.js';
import type { BareServer } from './bare-server.js';

const MESSAGE_BYTES_MAX = 4_194_304;
const BUFFERED_BYTES_MAX = 268_435_456;

/** Starts it in a process of its own. */
export async function startBareSocketServer(answer: Uint8Array): Promise<BareServer> {
  const child = fork(fileURLToPath(import.meta.url), { serialization: 'advanced', execArgv: [] });
  child.send(answer);
  const [port] = await once(child, 'message') as [number];
  return {
    port,
    pid: child.pid!,
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}

async function serve(answer: Uint8Array): Promise<number> {
  const server = await createServer();
  server.sockets(
    '/stream', { messageBytesMax: MESSAGE_BYTES_MAX, bufferedBytesMax: BUFFERED_BYTES_MAX },
    () => {
      let socket: RawSocket | null = null;
      return {
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
      };
    },
  );
  const port = await server.listen('127.0.0.1', 0);
  if (port === null) throw new Error('no port');
  return port;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.once('message', (answer: Uint8Array) => {
    void serve(answer).then((port) => process.send?.(port));
  });
  process.once('disconnect', () => process.exit(0));
}
