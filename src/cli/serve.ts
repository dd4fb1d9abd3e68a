/** `situs serve`: the server in this process. */
import { refuseExtra } from './usage.js';

export const USAGE = 'situs serve    answers on HOST:PORT (see the table of settings)\n';

/** Runs `situs serve`. */
export async function serveCommand(args: readonly string[]): Promise<number> {
  refuseExtra(args, 0);
  await import('../main.js');
  return 0;
}
