/** The compiled service in a process of its own, on a store of its own over a folder's dataset. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { releasesDir } from '../../src/dataset/release.js';

export const BENCH_KEY = 'bench-key-0123456789';

export interface SitusServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

async function firstPort(child: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /:(\d+)$/.exec(line);
    if (found !== null) return Number(found[1]);
  }
  throw new Error('the server did not start');
}

/** Which HTTP server measures and attacks are for: as SITUS_TRANSPORT says of this process. */
export function chosenTransport(): Readonly<Record<string, string>> {
  const { SITUS_TRANSPORT } = process.env;
  return SITUS_TRANSPORT === undefined ? {} : { SITUS_TRANSPORT };
}

/** Starts it, with further settings; the datasets are only read. `quiet` drops what it logs. */
export async function startSitus(
  varDir: string, environment: Readonly<Record<string, string>> = {}, quiet = false,
): Promise<SitusServer> {
  const own = mkdtempSync(join(tmpdir(), 'situs-bench-'));
  symlinkSync(releasesDir(varDir), releasesDir(own));
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
    env: {
      PATH: process.env['PATH'], SITUS_VAR: own, PORT: '0', SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: BENCH_KEY, SITUS_BOOTSTRAP_RATE: '100000000',
      ...chosenTransport(), ...environment,
    },
  });
  const port = await firstPort(child);
  return {
    port,
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(own, { recursive: true, force: true });
    },
  };
}
