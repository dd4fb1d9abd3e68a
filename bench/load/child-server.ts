/**
 * Runs a server in a process of its own: the answers it is to give are sent there, and its port
 * comes back.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface BareServer {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** Starts the module at `url`, which must call `serveAsChild`. */
export async function startChild(url: string, answer: object): Promise<BareServer> {
  const child = fork(fileURLToPath(url), { serialization: 'advanced', execArgv: [] });
  child.send(answer);
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    pid: child.pid!,
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}

/** Serves if the module at `url` is the main one of this process; `serve` returns the port. */
export function serveAsChild<T>(url: string, serve: (answer: T) => Promise<number>): void {
  if (url !== pathToFileURL(process.argv[1] ?? '').href) return;
  process.once('message', (answer: T) => {
    void serve(answer).then((port) => process.send?.(port));
  });
  process.once('disconnect', () => process.exit(0));
}
