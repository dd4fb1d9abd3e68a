/**
 * Rows a minute of bulk files over HTTP, compared with papaparse on the same file; and lookups
 * meanwhile.
 */
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Papa from 'papaparse';
import { openDataset } from '../../src/dataset/open.js';
import { addressLines, addressPaths } from './addresses.js';
import { type BenchInput, type Figure, median, seeded } from './case.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { beside, upload } from '../load/upload.js';
import { partsOf } from '../torture/row-pool.js';

const CSV_ROWS = 400_000;
const NDJSON_ROWS = 150_000;
const ROUNDS = 3;
const MINUTE_MS = 60_000;
const LOOKUPS_A_SECOND = 500;
/** No answer to a lookup is cached. */
export const WORKERS_ANSWER = { SITUS_ANSWER_CACHE_MIB: '0' };
const AGENT = new Agent({ keepAlive: true, maxSockets: 32 });

interface Files {
  readonly csv: string;
  readonly ndjson: string;
  remove(): void;
}

async function makeFiles({ datasetDir }: BenchInput): Promise<Files> {
  const dataset = openDataset(datasetDir);
  const lines = await addressLines(dataset, datasetDir);
  dataset.close();
  const random = seeded(3);
  const pick = (): string => lines[Math.floor(random() * lines.length)]!;
  const dir = mkdtempSync(join(tmpdir(), 'situs-bulk-'));
  const [csv, ndjson] = [join(dir, 'rows.csv'), join(dir, 'rows.ndjson')];
  writeFileSync(
    csv,
    'order,street,city,state,zip\n' +
      Array.from(
        { length: CSV_ROWS },
        (_, index) => `${index},${partsOf(pick()).join(',')}\n`,
      ).join(''),
  );
  writeFileSync(
    ndjson,
    Array.from(
      { length: NDJSON_ROWS },
      (_, id) => `${JSON.stringify({ id, address: pick() })}\n`,
    ).join(''),
  );
  return { csv, ndjson, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Uploads rows, and returns the milliseconds. */
function rowsOf(port: number, file: string, type: string): Promise<number> {
  return upload({ port, path: '/bulk/lookup', file, type });
}

/** Rows a minute that papaparse alone reads and writes, in one thread. */
function papaparseAlone(file: string): number {
  const text = readFileSync(file, 'utf8');
  const from = performance.now();
  const { data } = Papa.parse<readonly string[]>(text, { skipEmptyLines: true });
  Papa.unparse(data as string[][]);
  return ((data.length - 1) * MINUTE_MS) / (performance.now() - from);
}

export async function bulkCsvCase(input: BenchInput): Promise<readonly Figure[]> {
  const files = await makeFiles(input);
  const situs = await startSitus(input.varDir);
  const rates: number[] = [];
  const alone: number[] = [];
  try {
    await rowsOf(situs.port, files.csv, 'text/csv');
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(papaparseAlone(files.csv));
      rates.push((CSV_ROWS * MINUTE_MS) / (await rowsOf(situs.port, files.csv, 'text/csv')));
    }
  } finally {
    await situs.stop();
    files.remove();
  }
  return [
    {
      name: 'bulk csv',
      value: median(rates),
      unit: 'rows/min',
      target: { atLeast: 2_000_000 },
      note: `${CSV_ROWS} street addresses over HTTP`,
    },
    { name: 'papaparse alone', value: median(alone), unit: 'rows/min', note: 'one thread' },
    { name: 'bulk csv share', value: median(rates) / median(alone), unit: '' },
  ];
}

export async function bulkNdjsonCase(input: BenchInput): Promise<readonly Figure[]> {
  const files = await makeFiles(input);
  const situs = await startSitus(input.varDir);
  const rates: number[] = [];
  try {
    await rowsOf(situs.port, files.ndjson, 'application/x-ndjson');
    for (let round = 0; round < ROUNDS; round += 1) {
      const took = await rowsOf(situs.port, files.ndjson, 'application/x-ndjson');
      rates.push((NDJSON_ROWS * MINUTE_MS) / took);
    }
  } finally {
    await situs.stop();
    files.remove();
  }
  return [
    {
      name: 'bulk ndjson',
      value: median(rates),
      unit: 'rows/min',
      target: { atLeast: 600_000 },
      note: 'the whole v60 body in each line',
    },
  ];
}

/**
 * The 99th percentile, in milliseconds, of lookups sent at a steady rate whether or not earlier
 * ones were answered.
 */
export async function steady(
  port: number,
  seconds: number,
  paths: readonly string[],
): Promise<number> {
  const latencies: number[] = [];
  const pending: Promise<void>[] = [];
  const from = performance.now();
  for (let sent = 0; sent < seconds * LOOKUPS_A_SECOND; sent += 1) {
    const due = from + (sent * 1000) / LOOKUPS_A_SECOND;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    pending.push(
      new Promise((resolve, reject) => {
        const at = performance.now();
        request(
          {
            port,
            host: '127.0.0.1',
            path: paths[sent % paths.length],
            agent: AGENT,
            headers: { 'X-API-KEY': BENCH_KEY },
          },
          (response) => {
            response.resume().on('end', () => {
              latencies.push(performance.now() - at);
              resolve();
            });
          },
        )
          .on('error', reject)
          .end();
      }),
    );
  }
  await Promise.all(pending);
  latencies.sort((one, other) => one - other);
  return latencies[Math.floor(latencies.length * 0.99)] ?? 0;
}

export async function bulkBesideCase(input: BenchInput): Promise<readonly Figure[]> {
  const files = await makeFiles(input);
  const paths = await addressPaths(input.datasetDir);
  const situs = await startSitus(input.varDir, WORKERS_ANSWER);
  const seconds = Math.max(4, input.seconds);
  try {
    await rowsOf(situs.port, files.csv, 'text/csv');
    await steady(situs.port, 2, paths);
    const idle = await steady(situs.port, seconds, paths);
    const { measured } = await beside(
      { port: situs.port, path: '/bulk/lookup', file: files.csv, type: 'text/csv' },
      () => steady(situs.port, seconds, paths),
    );
    return [
      { name: 'lookup p99 idle', value: idle, unit: 'ms', note: `${LOOKUPS_A_SECOND}/s` },
      {
        name: 'lookup p99 beside bulk',
        value: measured,
        unit: 'ms',
        target: { atMost: Math.max(2 * idle, 10) },
      },
    ];
  } finally {
    await situs.stop();
    files.remove();
  }
}
