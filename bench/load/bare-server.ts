/** The limit beside us: a server that does nothing but send the same body. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createServer } from '../../src/http/uws.js';

export interface BareServer {
  readonly port: number;
  stop(): void;
}

/** Starts, in a process of its own, a server that answers every request with `body`. */
export async function startBareServer(
  body: Uint8Array, contentType = 'application/json',
): Promise<BareServer> {
  const child = fork(fileURLToPath(import.meta.url), { serialization: 'advanced', execArgv: [] });
  child.send({ body, contentType });
  const [port] = await once(child, 'message') as [number];
  return {
    port,
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}

async function serve(body: Uint8Array, contentType: string): Promise<number> {
  const server = await createServer();
  server.any('/*', (response) => {
    response.writeHeader('Content-Type', contentType).end(body);
  });
  const port = await server.listen('127.0.0.1', 0);
  if (port === null) throw new Error('no port');
  return port;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.once('message', ({ body, contentType }: { body: Uint8Array; contentType: string }) => {
    void serve(body, contentType).then((port) => process.send?.(port));
  });
  process.once('disconnect', () => process.exit(0));
}
