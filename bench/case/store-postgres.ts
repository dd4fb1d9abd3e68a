/**
 * Compares the server's processor time for a lookup with its store in PostgreSQL and in a folder,
 * in turns. In both cases all that a lookup needs of the store is in memory, and usage is added in
 * batches. SITUS_STORE names the database; a schema is made and dropped in it.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { loadConfig } from '../../src/config.js';
import { openDataset } from '../../src/dataset/open.js';
import { databasePlace } from '../../src/store/postgres/place.js';
import { askEach, runLoad } from '../load/load.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { type BenchInput, type Figure, median } from './case.js';
import { sampleQueries, type QueryKind } from './queries.js';

const ROUNDS = 5;
/** The cheapest lookups, of which the store takes the largest part. */
const KINDS: readonly QueryKind[] = ['zip'];
/** How many times the cost may be with the store in PostgreSQL. */
const RATIO_MAX = 1.1;

async function measured(
  kind: QueryKind,
  input: BenchInput,
  servers: readonly { port: number; pid: number }[],
): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const paths = sampleQueries(kind, dataset, input.datasetDir, []).map(
    (query) => `/request/v60?${query}`,
  );
  dataset.close();
  const headers = { 'X-API-KEY': BENCH_KEY };
  const times: [number[], number[]] = [[], []];
  for (const { port } of servers) await askEach({ port, paths, headers }, 2);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, { port, pid }] of servers.entries()) {
      const { serverMicroseconds } = await runLoad({
        paths,
        headers,
        connections: 64,
        seconds: input.seconds,
        warmupSeconds: 1,
        port,
        pid,
      });
      times[at === 0 ? 0 : 1].push(serverMicroseconds);
    }
  }
  const [own, shared] = [median(times[0]), median(times[1])];
  const ratios = times[0].map((time, round) => times[1][round]! / time);
  return [
    {
      name: `lookup ${kind} on PostgreSQL`,
      value: median(ratios),
      unit: '×',
      target: { atMost: RATIO_MAX },
      note: 'processor time against the store in a folder',
    },
    { name: `lookup ${kind}, in PostgreSQL`, value: shared, unit: 'µs' },
    { name: `lookup ${kind}, in a folder`, value: own, unit: 'µs' },
  ];
}

/** Figures for lookups; none where SITUS_STORE names no database. */
export async function storePostgresCase(input: BenchInput): Promise<readonly Figure[]> {
  const { storeUrl } = loadConfig();
  if (storeUrl === null) {
    process.stderr.write('store-postgres is left out: SITUS_STORE names no database\n');
    return [];
  }
  const schema = `situs_bench_${randomBytes(4).toString('hex')}`;
  const url = new URL(databasePlace(storeUrl).url);
  const connectionString = url.href;
  url.searchParams.set('schema', schema);
  const own = await startSitus(input.varDir);
  const shared = await startSitus(input.varDir, { SITUS_STORE: url.href });
  const figures: Figure[] = [];
  try {
    for (const kind of KINDS) figures.push(...(await measured(kind, input, [own, shared])));
  } finally {
    await own.stop();
    await shared.stop();
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await client.end();
  }
  return figures;
}
