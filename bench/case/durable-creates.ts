/**
 * Merchants made in a second over HTTP by 64 clients at once, each answered after its record is on
 * the disk; compared with the same writes one by one, each with a flush of its own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { Pool } from 'undici';
import { storeDir } from '../../src/store/store.js';
import { type BenchInput, type Figure, median } from './case.js';

const KEY = 'bench-key-0123456789';
const CLIENTS = 64;
const ROUNDS = 3;
/** How many times as fast group commit must be as one flush for each write. */
const RATIO_MIN = 4;

async function startServer(varDir: string): Promise<{ child: ChildProcess; origin: string }> {
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      SITUS_VAR: varDir,
      HOST: '127.0.0.1',
      PORT: '0',
      SITUS_LOG: 'error',
      SITUS_BOOTSTRAP_KEY: KEY,
      SITUS_BOOTSTRAP_RATE: '100000000',
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /(http:\/\/\S+:\d+)$/.exec(line)?.[1];
    if (origin !== undefined) return { child, origin };
  }
  throw new Error('the server did not start');
}

async function create(pool: Pool): Promise<void> {
  const body = JSON.stringify({
    merchantName: `merchant ${randomUUID()}`,
    merchantType: 'self-managed',
    contactEmail: 'owner@shop.example',
  });
  const answer = await pool.request({
    method: 'POST',
    path: '/merchant/create',
    body,
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
  });
  const text = await answer.body.text();
  if (answer.statusCode === 201) return;
  throw new Error(`a create was answered ${answer.statusCode}: ${text}`);
}

/** Merchants made in a second by so many clients, each with one request under way. */
async function createsPerSecond(origin: string, clients: number, seconds: number): Promise<number> {
  const pool = new Pool(origin, { connections: clients });
  const from = performance.now();
  const until = from + seconds * 1_000;
  let done = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      await create(pool);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const taken = (performance.now() - from) / 1_000;
  await pool.close();
  return done / taken;
}

/** Flushes a second of the disk itself, each after a few hundred bytes. */
function flushesPerSecond(dir: string, seconds: number): number {
  const file = openSync(join(dir, 'flush'), 'w');
  const bytes = Buffer.alloc(500);
  const from = performance.now();
  let done = 0;
  while (performance.now() - from < seconds * 1_000) {
    writeSync(file, bytes);
    fdatasyncSync(file);
    done += 1;
  }
  closeSync(file);
  return done / ((performance.now() - from) / 1_000);
}

/** The number of the store's last commit. */
async function commits(varDir: string): Promise<number> {
  const root = open({ path: storeDir(varDir), readOnly: true });
  const { lastTxnId = 0 }: { lastTxnId?: number } = root.getStats();
  await root.close();
  return lastTxnId;
}

/** Figures for durable writes. */
export async function durableCreatesCase(input: BenchInput): Promise<readonly Figure[]> {
  const own = mkdtempSync(join(tmpdir(), 'situs-bench-'));
  symlinkSync(join(input.varDir, 'datasets'), join(own, 'datasets'));
  const { child, origin } = await startServer(own);
  const [many, one, raw, shared]: [number[], number[], number[], number[]] = [[], [], [], []];
  try {
    await createsPerSecond(origin, CLIENTS, 1);
    for (let round = 0; round < ROUNDS; round += 1) {
      one.push(await createsPerSecond(origin, 1, input.seconds));
      const before = await commits(own);
      const rate = await createsPerSecond(origin, CLIENTS, input.seconds);
      many.push(rate);
      shared.push((rate * input.seconds) / ((await commits(own)) - before));
      raw.push(flushesPerSecond(own, input.seconds / 2));
    }
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    rmSync(own, { recursive: true, force: true });
  }
  return [
    {
      name: 'durable creates ratio',
      value: median(many.map((rate, at) => rate / one[at]!)),
      unit: '×',
      target: { atLeast: RATIO_MIN },
      note: `${CLIENTS} clients against one flush per write`,
    },
    {
      name: 'durable creates a flush',
      value: median(shared),
      unit: 'writes',
      target: { atLeast: RATIO_MIN },
      note: 'how many share one commit, usage counts included',
    },
    { name: `durable creates, ${CLIENTS} clients`, value: median(many), unit: 'writes/s' },
    { name: 'durable creates, 1 client', value: median(one), unit: 'writes/s' },
    { name: 'flushes of the disk', value: median(raw), unit: 'flushes/s' },
  ];
}
