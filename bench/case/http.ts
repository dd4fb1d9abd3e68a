/** Requests a second over HTTP, against a bare server that sends the same body, in turns. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDataset } from '../../src/dataset/open.js';
import { releasesDir } from '../../src/dataset/release.js';
import { startBareServer } from '../load/bare-server.js';
import { runLoad, type LoadResult } from '../load/load.js';
import { addressLines } from './addresses.js';
import type { BenchInput, Figure } from './case.js';
import { sampleQueries, type QueryKind } from './queries.js';

/** Share of the bare server's requests a second to reach. */
const TARGET_SHARE: Readonly<Record<QueryKind, number>> = { zip: 0.85, point: 0.8, address: 0.65 };

const KEY = 'bench-key-0123456789';
const ROUNDS = 5;
const CONNECTIONS = 64;

interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

async function firstPort(child: ChildProcess): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  for await (const line of lines) {
    const found = /:(\d+)$/.exec(line);
    if (found !== null) return Number(found[1]);
  }
  throw new Error('the server did not start');
}

/** Starts the compiled server on a store of its own over the dataset in `varDir`. */
async function startSitus(varDir: string): Promise<Server> {
  const own = mkdtempSync(join(tmpdir(), 'situs-bench-'));
  mkdirSync(releasesDir(own), { recursive: true });
  for (const name of readdirSync(releasesDir(varDir))) {
    if (name === 'CURRENT') {
      writeFileSync(join(releasesDir(own), name), readFileSync(join(releasesDir(varDir), name)));
    } else symlinkSync(join(releasesDir(varDir), name), join(releasesDir(own), name));
  }
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'], SITUS_VAR: own, PORT: '0', SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: KEY, SITUS_BOOTSTRAP_RATE: '100000000',
    },
  });
  const port = await firstPort(child);
  return {
    port,
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(own, { recursive: true, force: true });
    },
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Figures of one kind of lookup. */
export async function httpCase(kind: QueryKind, input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const lines = kind === 'address' ? await addressLines(dataset, input.datasetDir) : [];
  const paths = sampleQueries(kind, dataset, input.datasetDir, lines)
    .map((query) => `/request/v60?${query}`);
  dataset.close();
  const situs = await startSitus(input.varDir);
  const headers = { 'X-API-KEY': KEY };
  const sample = await fetch(`http://127.0.0.1:${situs.port}${paths[0]!}`, { headers });
  const body = new Uint8Array(await sample.arrayBuffer());
  const bare = await startBareServer(body);
  const shares: number[] = [];
  const ours: LoadResult[] = [];
  const limits: LoadResult[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const common = {
        paths, headers, connections: CONNECTIONS, seconds: input.seconds, warmupSeconds: 2,
      };
      const limit = await runLoad({ ...common, port: bare.port });
      const own = await runLoad({ ...common, port: situs.port });
      limits.push(limit);
      ours.push(own);
      shares.push(own.rps / limit.rps);
    }
  } finally {
    bare.stop();
    await situs.stop();
  }
  return [
    {
      name: `http ${kind} share of bare`, value: median(shares), unit: '',
      target: { atLeast: TARGET_SHARE[kind] },
      note: `${CONNECTIONS} connections, ${body.length} byte body, ` +
        `${ours.reduce((sum, one) => sum + one.errors, 0)} errors`,
    },
    { name: `http ${kind}`, value: median(ours.map(({ rps }) => rps)), unit: 'requests/s' },
    { name: `http ${kind} bare`, value: median(limits.map(({ rps }) => rps)), unit: 'requests/s' },
    { name: `http ${kind} p50`, value: median(ours.map(({ p50 }) => p50)), unit: 'ms' },
    { name: `http ${kind} p99`, value: median(ours.map(({ p99 }) => p99)), unit: 'ms' },
  ];
}
