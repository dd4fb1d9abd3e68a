/** Starts the server: alone, as one of several listeners, or as their supervisor. */
import { fileURLToPath } from 'node:url';
import { HeldSignals } from './base/held-signals.js';

// Before anything else is loaded, which takes a tenth of a second.
const signals = new HeldSignals();

async function main(): Promise<void> {
  const { loadConfig } = await import('./config.js');
  const { listenerOrder } = await import('./listener/supervised.js');
  const config = loadConfig();
  const order = listenerOrder(process.argv);
  if (order === null && (config.listeners > 1 || config.supervised)) {
    // A supervisor loads no part of a server.
    const { supervise } = await import('./listener/supervisor.js');
    await supervise({ config, program: fileURLToPath(import.meta.url), signals });
  } else {
    const { serve } = await import('./serve.js');
    await serve(config, order, signals);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`situs: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
