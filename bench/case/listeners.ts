/**
 * Lookups a second by ZIP with 1, 2 and 4 listeners, and without a supervisor, in turns. The
 * generator and all listeners share the processors of one machine: if these are no more than a
 * front end and the generator need, the figures show the cost of listeners, not their benefit.
 */
import { availableParallelism } from 'node:os';
import { runLoad } from '../load/load.js';
import { BENCH_KEY, startSitus, type SitusServer } from '../load/situs-server.js';
import { type BenchInput, type Figure, median } from './case.js';
import { zipPaths } from './queries.js';

const COUNTS = [1, 2, 4] as const;
const CONNECTIONS = 64;
const ROUNDS = 3;

function settings(count: number): Readonly<Record<string, string>> {
  return { SITUS_LISTENERS: String(count), SITUS_SUPERVISED: '1' };
}

/** Figures of listeners, as ratios to a server without a supervisor. */
export async function listenersCase(input: BenchInput): Promise<readonly Figure[]> {
  const paths = zipPaths(input.datasetDir);
  const options = {
    paths,
    headers: { 'X-API-KEY': BENCH_KEY },
    connections: CONNECTIONS,
    seconds: input.seconds,
    warmupSeconds: 1,
  };
  const rates = new Map<number, number[]>();
  let errors = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const count of [0, ...COUNTS]) {
      const situs: SitusServer = await startSitus(input.varDir, count === 0 ? {} : settings(count));
      try {
        const result = await runLoad({ ...options, port: situs.port });
        rates.set(count, [...(rates.get(count) ?? []), result.rps]);
        errors += result.errors;
      } finally {
        await situs.stop();
      }
    }
  }
  const alone = median(rates.get(0) ?? []);
  const note = `${availableParallelism()} processors for generator and servers, ${errors} errors`;
  return [
    { name: 'no supervisor', value: alone, unit: 'requests/s', note },
    ...COUNTS.map((count) => ({
      name: `${count} listener${count === 1 ? '' : 's'} share`,
      unit: '',
      value: median(rates.get(count) ?? []) / alone,
      note: `${Math.round(median(rates.get(count) ?? [])).toLocaleString('en')} requests/s`,
    })),
  ];
}
