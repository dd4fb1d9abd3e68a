/**
 * Compares a job over two nodes with one bulk worker each, and the same job on one node with two,
 * in turns. Everything runs on the processors of one machine, including driver and broker, so this
 * shows what the way over the broker costs; on separate machines, each node would have its own
 * processors.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FilesBroker } from '../../src/bulk/fleet/files-broker.js';
import { openDataset } from '../../src/dataset/open.js';
import { filesAddress } from '../../src/distribution/address.js';
import { processorTime } from '../load/processor-time.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { addressLines } from './addresses.js';
import { partsOf } from '../torture/row-pool.js';
import { seeded, type BenchInput, type Figure } from './case.js';
import { freePort } from '../../test/support/free-port.js';

const ROWS = 120_000;
const ROUNDS = 7;
const LOOK_MS = 25;

interface Side {
  readonly port: number;
  readonly pids: readonly number[];
}

interface Took {
  readonly ms: number;
  readonly processorMs: number;
}

async function table({ datasetDir }: BenchInput): Promise<string> {
  const dataset = openDataset(datasetDir);
  const lines = await addressLines(dataset, datasetDir);
  dataset.close();
  const random = seeded(5);
  return (
    'order,street,city,state,zip\n' +
    Array.from(
      { length: ROWS },
      (_, index) => `${index},${partsOf(lines[Math.floor(random() * lines.length)]!).join(',')}\n`,
    ).join('')
  );
}

async function ask(port: number, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'X-API-KEY': BENCH_KEY, ...init.headers };
  return fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
}

/**
 * Runs a job. Returns the time from its start, after the upload, to its end, and the SHA-256 of its
 * result.
 */
async function jobOn(
  { port, pids }: Side,
  body: string,
): Promise<Took & { readonly sha256: string }> {
  const before = pids.reduce((sum, pid) => sum + processorTime(pid), 0);
  const from = performance.now();
  const made = await ask(port, '/bulk/jobs?kind=lookup', {
    method: 'POST',
    headers: { 'Content-Type': 'text/csv' },
    body,
  });
  const path = made.headers.get('location') ?? '';
  if (made.status !== 202) throw new Error(await made.text());
  for (;;) {
    const job = (await (await ask(port, path)).json()) as {
      readonly state: string;
      readonly result: { readonly sha256: string } | null;
    };
    if (job.state === 'done' && job.result !== null) {
      const ms = performance.now() - from;
      const after = pids.reduce((sum, pid) => sum + processorTime(pid), 0);
      await ask(port, path, { method: 'DELETE' });
      return { ms, processorMs: (after - before) / 1_000, sha256: job.result.sha256 };
    }
    if (job.state === 'failed') throw new Error('the job failed');
    await delay(LOOK_MS);
  }
}

/** The first quartile, since other load of the machine only adds time. */
function low(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 4)] ?? 0;
}

async function measured(one: Side, two: Side, body: string): Promise<readonly Figure[]> {
  const took: Readonly<Record<'one' | 'two', Took[]>> = { one: [], two: [] };
  const sums = new Set<string>();
  // The first round of each fills caches and compiles code.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, side] of [
      ['one', one],
      ['two', two],
    ] as const) {
      const { sha256, ...rest } = await jobOn(side, body);
      sums.add(sha256);
      if (round > 0) took[name].push(rest);
    }
  }
  if (sums.size !== 1) throw new Error('the results differ');
  const ratio = (read: (each: Took) => number): number =>
    low(took.one.map(read)) / low(took.two.map(read));
  const note = `${ROWS} rows, ${ROUNDS} rounds in turns, the same bytes`;
  return [
    {
      name: 'fleet job share',
      value: ratio(({ ms }) => ms),
      unit: 'of one node',
      note,
      target: { atLeast: 1 },
    },
    {
      name: 'fleet job processor',
      value: ratio(({ processorMs }) => processorMs),
      unit: 'of one node',
      note: "the same of processor time, the broker's too",
    },
    {
      name: 'one node',
      value: (ROWS * 60_000) / low(took.one.map(({ ms }) => ms)),
      unit: 'rows/min',
    },
  ];
}

/** Figures for a job over two nodes, as shares of one node's speed. */
export async function fleetJobCase(input: BenchInput): Promise<readonly Figure[]> {
  const body = await table(input);
  const dir = mkdtempSync(join(tmpdir(), 'situs-bench-nats-'));
  const port = await freePort();
  const nats = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dir], {
    stdio: 'ignore',
  });
  const fleet = `nats://127.0.0.1:${port}/bench`;
  const plain = await startSitus(input.varDir, { SITUS_BULK_WORKERS: '2' });
  const nodes = [];
  try {
    for (let node = 0; node < 2; node += 1) {
      nodes.push(await startSitus(input.varDir, { SITUS_BULK_WORKERS: '1', SITUS_FLEET: fleet }));
    }
    const broker = await FilesBroker.open(filesAddress(fleet, 'fleet'), 'bench');
    while ((await broker.nodes('')).length < nodes.length) await delay(LOOK_MS);
    await broker.close();
    return await measured(
      { port: plain.port, pids: [plain.pid] },
      {
        port: nodes[0]!.port,
        pids: [...nodes.map(({ pid }) => pid), nats.pid!],
      },
      body,
    );
  } finally {
    await Promise.all([plain, ...nodes].map((server) => server.stop()));
    nats.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
}
