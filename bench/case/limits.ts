/**
 * What windows of all nodes cost: processor time of a lookup with SITUS_LIMITS against one without,
 * in turns, with a Redis or Valkey on the same machine, whose own time is told beside.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDataset } from '../../src/dataset/open.js';
import { askEach, runLoad, type LoadResult } from '../load/load.js';
import { processorTime } from '../load/processor-time.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import type { BenchInput, Figure } from './case.js';
import { sampleQueries } from './queries.js';

const ROUNDS = 3;
const CONNECTIONS = [64];
const TARGET_RATIO = 1.1;
const PROGRAMS = ['redis-server', 'valkey-server'];
const START_MS = 20;

interface OwnRedis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

function listens(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    }).once('error', () => resolve(false));
  });
}

async function startRedis(): Promise<OwnRedis> {
  const program = PROGRAMS.find((name) => spawnSync(name, ['--version']).status === 0);
  if (program === undefined) throw new Error('neither redis-server nor valkey-server is installed');
  const dir = mkdtempSync(join(tmpdir(), 'situs-bench-redis-'));
  const socket = join(dir, 'redis.sock');
  const child: ChildProcess = spawn(program,
    ['--port', '0', '--unixsocket', socket, '--dir', dir, '--save', ''], { stdio: 'ignore' });
  while (!await listens(socket)) await delay(START_MS);
  return {
    url: `unix://${socket}`, pid: child.pid!,
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Microseconds of processor time of a request. */
function cost(results: readonly LoadResult[]): number {
  return median(results.map(({ serverMicroseconds }) => serverMicroseconds));
}

async function measure(
  input: BenchInput, name: string, paths: readonly string[], kept: boolean,
): Promise<readonly Figure[]> {
  const headers = { 'X-API-KEY': BENCH_KEY };
  const settings: Record<string, string> = kept ? {} : { SITUS_ANSWER_CACHE_MIB: '0' };
  const redis = await startRedis();
  const own = await startSitus(input.varDir, settings);
  const shared = await startSitus(input.varDir, { ...settings, SITUS_LIMITS: redis.url });
  const figures: Figure[] = [];
  try {
    for (const { port } of [own, shared]) await askEach({ port, paths, headers }, kept ? 2 : 1);
    for (const connections of CONNECTIONS) {
      const [alone, asked]: [LoadResult[], LoadResult[]] = [[], []];
      let redisMicroseconds = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [server, results] of [[own, alone], [shared, asked]] as const) {
          const { port, pid } = server;
          const before = processorTime(redis.pid);
          const result = await runLoad({
            port, pid, paths, headers, connections, seconds: input.seconds, warmupSeconds: 1,
          });
          results.push(result);
          if (server === shared) {
            redisMicroseconds += (processorTime(redis.pid) - before) / result.requests / ROUNDS;
          }
        }
      }
      const errors = [...alone, ...asked].reduce((sum, one) => sum + one.errors, 0);
      figures.push({
        name: `${name} (${connections})`, unit: '×', target: { atMost: TARGET_RATIO },
        value: median(asked.map((one, round) =>
          one.serverMicroseconds / alone[round]!.serverMicroseconds)),
        note: `${cost(asked).toFixed(1)} against ${cost(alone).toFixed(1)} µs a request, Redis `
          + `${redisMicroseconds.toFixed(1)}, p50 ${median(asked.map(({ p50 }) => p50)).toFixed(2)} `
          + `against ${median(alone.map(({ p50 }) => p50)).toFixed(2)} ms, ${errors} errors`,
      });
    }
  } finally {
    await own.stop();
    await shared.stop();
    await redis.stop();
  }
  return figures;
}

/** Processor time of lookups: of points by workers, and of ZIPs from what is kept. */
export async function limitsCase(input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const queries = (kind: 'zip' | 'point'): readonly string[] =>
    sampleQueries(kind, dataset, input.datasetDir, []).map((query) => `/request/v60?${query}`);
  const [zips, points] = [queries('zip'), queries('point')];
  dataset.close();
  return [
    ...await measure(input, 'limits of all nodes, point', points, false),
    ...await measure(input, 'limits of all nodes, kept', zips, true),
  ];
}
