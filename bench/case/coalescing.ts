/**
 * What gathering requests saves: compares lanes with one task of Piscina's for each request, and
 * with tasks of Piscina's for all requests of a turn. Without HTTP, with one worker, and with the
 * same queries.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { openDataset } from '../../src/dataset/open.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { GRANT_ALL } from '../../src/pool/types.js';
import { createLog } from '../../src/log.js';
import { EnginePool, type PinnedRelease } from '../../src/pool.js';
import type { EngineTask } from '../../src/pool/types.js';
import { type BenchInput, type Figure, median } from './case.js';
import { sampleQueries } from './queries.js';

/** How many requests are under way at once. */
const TOGETHER = 64;
/** The ways are measured in turn, so that other load of the machine affects all of them. */
const ROUNDS = 3;
const WARM_MS = 1000;
const DRAIN_MS = 5;
/** Twice as many tasks as a lane has slots. */
const TASKS_PER_WORKER = 8;
const VERSION = 60;
const WORKER = new URL('../load/task-worker.js', import.meta.url);

/** A way to have a worker answer a query; `done` is called with the status of the answer. */
interface Way {
  submit(query: string, done: (status: number) => void): void;
  close(): Promise<void>;
}

interface Asked {
  readonly query: string;
  readonly done: (status: number) => void;
}

function byLanes(release: PinnedRelease): Way {
  const pool = new EnginePool({
    releases: { pin: () => release, unpin: () => undefined },
    log: createLog('error'),
    threads: 1,
  });
  return {
    submit: (payload, done) =>
      pool.submit({
        kind: 'lookup',
        version: VERSION,
        grants: GRANT_ALL,
        payload,
        answered: ({ status }) => done(status),
        failed: () => done(0),
      }),
    close: () => pool.close(),
  };
}

/**
 * Sends tasks of Piscina's with up to `requestsPerTask` requests each; fewer are sent when the turn
 * ends.
 */
function byTasks(release: PinnedRelease, requestsPerTask: number): Way {
  const piscina = new Piscina<EngineTask, Uint8Array>({
    filename: fileURLToPath(WORKER),
    name: 'answer',
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Infinity,
    concurrentTasksPerWorker: TASKS_PER_WORKER,
    recordTiming: false,
  });
  let waiting: Asked[] = [];
  const send = async (): Promise<void> => {
    const asked = waiting;
    waiting = [];
    const frame = new RequestFrame();
    const fields = { kind: 'lookup', version: VERSION, grants: GRANT_ALL } as const;
    for (const { query } of asked) frame.add(fields, query);
    const task = { dataset: release, now: Date.now(), own: false, frame: frame.bytes() };
    const answers = await piscina.run(task);
    readAnswers(answers, asked.length, (index, { status }) => asked[index]!.done(status));
  };
  const sendLogged = (): void => {
    if (waiting.length > 0) send().catch((error: unknown) => process.stderr.write(`${error}\n`));
  };
  return {
    submit: (query, done) => {
      if (waiting.push({ query, done }) >= requestsPerTask) sendLogged();
      else if (waiting.length === 1) setImmediate(sendLogged);
    },
    close: () => piscina.destroy(),
  };
}

interface Measured {
  /** Requests a second. */
  readonly rate: number;
  /**
   * Microseconds of processor time for each request, of both threads; other load changes this
   * least.
   */
  readonly cost: number;
}

/** Measures with TOGETHER requests under way, each followed by the next when it is answered. */
async function measure(
  way: Way,
  queries: readonly string[],
  milliseconds: number,
): Promise<Measured> {
  let [answered, at, underWay, running] = [0, 0, 0, true];
  const next = (): void => {
    const query = queries[at]!;
    at = (at + 1) % queries.length;
    underWay += 1;
    way.submit(query, (status) => {
      if (status !== 200) throw new Error(`${query} was answered ${status}`);
      answered += 1;
      underWay -= 1;
      if (running) next();
    });
  };
  for (let index = 0; index < TOGETHER; index += 1) next();
  await delay(WARM_MS);
  const [before, from, spent] = [answered, performance.now(), process.cpuUsage()];
  await delay(milliseconds);
  const count = answered - before;
  const rate = (count / (performance.now() - from)) * 1000;
  const { user, system } = process.cpuUsage(spent);
  running = false;
  while (underWay > 0) await delay(DRAIN_MS);
  return { rate, cost: (user + system) / count };
}

/** Measures the three ways in turn, and compares them. */
export async function coalescingCase(input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const queries = sampleQueries('zip', dataset, input.datasetDir, []);
  dataset.close();
  const release = { id: 'bench', dir: input.datasetDir };
  const ways = [
    byLanes,
    (to: PinnedRelease) => byTasks(to, 1),
    (to: PinnedRelease) => byTasks(to, TOGETHER),
  ];
  const found: Measured[][] = ways.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, start] of ways.entries()) {
      const way = start(release);
      found[index]!.push(await measure(way, queries, (input.seconds * 1000) / ROUNDS));
      await way.close();
    }
  }
  const [lanes, each, turn] = found.map((rounds) => ({
    rate: median(rounds.map(({ rate }) => rate)),
    cost: median(rounds.map(({ cost }) => cost)),
  })) as [Measured, Measured, Measured];
  const rateOf = (name: string, { rate, cost }: Measured): Figure => ({
    name,
    value: rate,
    unit: 'requests/s',
    note: `${cost.toFixed(1)} µs of processor time each`,
  });
  const ratioOf = (name: string, one: Measured, other: Measured): Figure => ({
    name,
    value: one.rate / other.rate,
    unit: 'times',
    note: `${(other.cost / one.cost).toFixed(2)} times by processor time`,
  });
  return [
    rateOf('pool by lanes', lanes),
    rateOf('pool, a task a request', each),
    rateOf('pool, a task a turn', turn),
    ratioOf('lanes against a task each', lanes, each),
    ratioOf('lanes against a task a turn', lanes, turn),
    ratioOf('a task a turn against each', turn, each),
  ];
}
