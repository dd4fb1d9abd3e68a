/** `situs serve`: the server in this process. */
import { UsageError } from './usage.js';

const USAGE = 'situs serve    answers on HOST:PORT (see the table of settings)\n';

/** Runs `situs serve`. */
export async function serveCommand(args: readonly string[]): Promise<number> {
  if (args[0] === '--help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (args.length > 0) throw new UsageError(`serve takes no arguments\n\n${USAGE}`);
  await import('../main.js');
  return 0;
}
