/**
 * The limit beside us: a server that reads nothing of a request, or its body without a look at it,
 * and sends the same header fields and the same body every time.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Head } from '../../src/http/reply.js';
import { createServer } from '../../src/http/uws.js';

export interface BareServer {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** What it answers. */
export interface BareAnswer {
  readonly head: Head;
  readonly body: Uint8Array;
}

/** Starts it in a process of its own. */
export async function startBareServer(answer: BareAnswer): Promise<BareServer> {
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.once('message', (answer: BareAnswer) => {
    void serve(answer).then((port) => process.send?.(port));
  });
  process.once('disconnect', () => process.exit(0));
}
