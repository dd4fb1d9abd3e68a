/** The limit beside us: a server that does nothing but send the same body. */
import { pathToFileURL } from 'node:url';
import { createServer } from '../../src/http/uws.js';

/** Starts a server that answers every request with `body`; returns its port. */
export async function startBareServer(body: Uint8Array, port = 0): Promise<number> {
  const server = await createServer();
  server.any('/*', (response) => {
    response.writeHeader('Content-Type', 'application/json').end(body);
  });
  const listening = await server.listen('127.0.0.1', port);
  if (listening === null) throw new Error(`port ${port} is taken`);
  return listening;
}

/** As a process: BYTES of body, the port is printed as one line. */
async function main(): Promise<void> {
  const bytes = Number(process.argv[2] ?? 1900);
  const port = await startBareServer(Buffer.alloc(bytes, '{"filler":"0123456789"}'));
  process.stdout.write(`${port}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
