/** The compiled server in a process of its own, on a folder that others may serve too. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { LATER_OPTIMIZED } from './built-dataset.js';
import { KEYS } from './bulk-client.js';
import { MAIN } from './program.js';

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
  context: TestContext,
  varDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_VAR: varDir,
      SITUS_WORKERS: '1',
      SITUS_BULK_WORKERS: '1',
      SITUS_LOG: 'error',
      ...environment,
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
      base: found[1]!,
      process: child,
      said,
      kill: async () => {
        await end('SIGKILL');
      },
      stop: () => end('SIGTERM'),
    };
  }
  throw new Error('the server did not start');
}

export interface ChildService {
  readonly port: number;
  /** Bytes of memory that are the process's own; null where that cannot be told. */
  ownBytes(): number | null;
  stop(): Promise<void>;
  /** Ends it without warning. */
  kill(): Promise<void>;
}

async function portOf(child: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /:(\d+)$/.exec(line);
    if (found !== null) return Number(found[1]);
  }
  throw new Error('the service did not start');
}

/** Starts the service over a folder with a dataset and no store. */
export async function startChild(
  varDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ChildService> {
  const child = spawn(process.execPath, [...LATER_OPTIMIZED, MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      SITUS_VAR: varDir,
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: KEYS.bulk,
      SITUS_BOOTSTRAP_RATE: '1000000',
      ...settings,
    },
  });
  const port = await portOf(child);
  const status = `/proc/${child.pid}/status`;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    port,
    ownBytes: () => {
      if (!existsSync(status)) return null;
      const found = /RssAnon:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'));
      return found === null ? null : Number(found[1]) * 1024;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
