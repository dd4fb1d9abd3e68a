/** The compiled server in a process of its own, on a folder that others may serve too. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface ServerProcess {
  readonly base: string;
  readonly process: ChildProcess;
  /** Everything it wrote to standard output before it answered. */
  readonly said: readonly string[];
  /** Ends it as a loss of power would; resolves when nothing of it runs. */
  kill(): Promise<void>;
  /** Ends it as a service manager does; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a server on a free port, or PORT of the environment; it ends with the test. */
export async function startServer(
  context: TestContext, varDir: string, environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', SITUS_VAR: varDir,
      SITUS_WORKERS: '1', SITUS_BULK_WORKERS: '1', SITUS_LOG: 'error', ...environment,
    },
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = await ended;
    return code;
  };
  context.after(() => end('SIGKILL'));
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /^Situs answers on (https?:\/\/\S+)$/.exec(line);
    if (found === null) {
      said.push(line);
      continue;
    }
    child.stdout.resume();
    return {
      base: found[1]!, process: child, said,
      kill: async () => {
        await end('SIGKILL');
      },
      stop: () => end('SIGTERM'),
    };
  }
  throw new Error('the server did not start');
}
