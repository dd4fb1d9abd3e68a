/**
 * What windows shared by all nodes cost: compares the processor time of a lookup with SITUS_LIMITS
 * and without, in turns, with a Redis or Valkey on the same machine, whose own time is reported
 * too.
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
import { randomKey } from '../../src/store/keys.js';
import { addressLines } from './addresses.js';
import { type BenchInput, type Figure, lowest } from './case.js';
import { sampleQueries, type QueryKind } from './queries.js';

/** Many short rounds, since the load of other programs changes. */
const ROUNDS = 15;
const WARMUP_SECONDS = 0.3;
/** How many keys there are, with a rate that they stay far below. */
const MANY = 100;
const RATE_OF_MANY = 100_000;
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
  const child: ChildProcess = spawn(
    program,
    ['--port', '0', '--unixsocket', socket, '--dir', dir, '--save', ''],
    { stdio: 'ignore' },
  );
  while (!(await listens(socket))) await delay(START_MS);
  return {
    url: `unix://${socket}`,
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface Kind {
  readonly name: string;
  readonly paths: readonly string[];
  /** Whether answers are cached when they recur, or a worker makes each. */
  readonly kept: boolean;
  /** Keys that are used in turn; absent where one key is used for all requests. */
  readonly keys?: readonly string[];
}

const ORDER = ['own', 'shared'] as const;
type LoadsOf = Readonly<Record<'own' | 'shared', LoadResult[]>>;

function figureOf(name: string, { own, shared }: LoadsOf, redisMicroseconds: number): Figure {
  const cost = (results: readonly LoadResult[]): number =>
    lowest(results.map(({ serverMicroseconds }) => serverMicroseconds));
  const p50 = (results: readonly LoadResult[]): string =>
    lowest(results.map((result) => result.p50)).toFixed(2);
  const errors = [...own, ...shared].reduce((sum, one) => sum + one.errors, 0);
  return {
    name,
    unit: '×',
    target: { atMost: TARGET_RATIO },
    value: cost(shared) / cost(own),
    note:
      `${cost(shared).toFixed(1)} against ${cost(own).toFixed(1)} µs a request, Redis ` +
      `${redisMicroseconds.toFixed(2)}, p50 ${p50(shared)} against ${p50(own)} ms, ` +
      `${errors} errors`,
  };
}

async function measure(
  input: BenchInput,
  { name, paths, kept, keys }: Kind,
): Promise<readonly Figure[]> {
  const settings: Record<string, string> = kept ? {} : { SITUS_ANSWER_CACHE_MIB: '0' };
  const made = keys === undefined ? null : { texts: keys, rate: RATE_OF_MANY };
  const presented = keys === undefined ? { headers: { 'X-API-KEY': BENCH_KEY } } : { keys };
  const redis = await startRedis();
  const servers = {
    own: await startSitus(input.varDir, settings, false, made),
    shared: await startSitus(input.varDir, { ...settings, SITUS_LIMITS: redis.url }, false, made),
  };
  const figures: Figure[] = [];
  try {
    for (const { port } of Object.values(servers)) {
      await askEach({ port, paths, ...presented }, kept ? 2 : 1);
    }
    for (const connections of CONNECTIONS) {
      const loads: LoadsOf = { own: [], shared: [] };
      const redisOf: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        // Each of the two goes first in turn.
        for (const which of round % 2 === 0 ? ORDER : ORDER.toReversed()) {
          const { port, pid } = servers[which];
          const before = processorTime(redis.pid);
          const result = await runLoad({
            port,
            pid,
            paths,
            ...presented,
            connections,
            seconds: input.seconds,
            warmupSeconds: WARMUP_SECONDS,
          });
          loads[which].push(result);
          if (which === 'own') continue;
          // Redis works during the warm-up too.
          const share = input.seconds / (input.seconds + WARMUP_SECONDS);
          redisOf.push(((processorTime(redis.pid) - before) * share) / result.requests);
        }
      }
      figures.push(figureOf(`${name} (${connections})`, loads, lowest(redisOf)));
    }
  } finally {
    await servers.own.stop();
    await servers.shared.stop();
    await redis.stop();
  }
  return figures;
}

/**
 * Processor time of lookups: of points and addresses by workers, and of ZIPs from cached answers,
 * with one key and with many.
 */
export async function limitsCase(input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const lines = await addressLines(dataset, input.datasetDir);
  const queries = (kind: QueryKind): readonly string[] =>
    sampleQueries(kind, dataset, input.datasetDir, lines).map((query) => `/request/v60?${query}`);
  const [zips, points, addresses] = [queries('zip'), queries('point'), queries('address')];
  dataset.close();
  const keys = Array.from({ length: MANY }, () => randomKey());
  const what = 'limits of all nodes';
  const kinds: readonly Kind[] = [
    { name: `${what}, point`, paths: points, kept: false },
    { name: `${what}, address`, paths: addresses, kept: false },
    { name: `${what}, kept`, paths: zips, kept: true },
    { name: `${what}, kept, ${MANY} keys`, paths: zips, kept: true, keys },
  ];
  const figures: Figure[] = [];
  for (const kind of kinds) figures.push(...(await measure(input, kind)));
  return figures;
}
