/** Starts the server: alone, as one of several listeners, or as their supervisor. */
import { fileURLToPath } from 'node:url';
import { loadConfig } from './config.js';
import { listenerOrder } from './listener/supervised.js';
import { createLog, messageOf } from './log.js';

async function main(): Promise<void> {
  const config = loadConfig();
  const order = listenerOrder(process.argv);
  if (order === null && (config.listeners > 1 || config.supervised)) {
    // A supervisor loads no part of a server.
    const { supervise } = await import('./listener/supervisor.js');
    const program = fileURLToPath(import.meta.url);
    await supervise({ config, log: createLog(config.logLevel), program });
  } else {
    const { serve } = await import('./serve.js');
    await serve(config, order);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`situs: ${messageOf(error)}\n`);
  process.exit(1);
});
