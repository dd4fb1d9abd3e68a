/** Requests a second over HTTP, compared with a bare server that sends the same body, in turns. */
import { openDataset } from '../../src/dataset/open.js';
import { headOf } from '../../src/http/reply.js';
import { startBareServer, type BareAnswer } from '../load/bare-server.js';
import { askEach, runLoad, type LoadOptions, type LoadResult } from '../load/load.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { addressLines } from './addresses.js';
import { type BenchInput, type Figure, median } from './case.js';
import { EVERY, sampleQueries, type QueryKind } from './queries.js';

/** The least share of the bare server's rate. */
const TARGET_SHARE: Readonly<Record<QueryKind, number>> = { zip: 0.85, point: 0.8, address: 0.65 };

const ROUNDS = 5;
/** A typical number of connections, and four times as many. */
const CONNECTIONS = [64, 256];
/** Header fields that every server adds by itself. */
const SERVER_FIELDS = ['content-length', 'date', 'uwebsockets', 'connection', 'keep-alive'];

interface Target {
  readonly port: number;
  readonly pid: number;
}

/** The answer to a request, for the bare server to repeat. */
export async function sampleAnswer(
  url: string,
  headers: Record<string, string>,
): Promise<BareAnswer> {
  return bareAnswer(await fetch(url, { headers }));
}

/** A response in the form that the bare server repeats. */
export async function bareAnswer(response: Response): Promise<BareAnswer> {
  const { 'content-type': type = '', ...fields } = Object.fromEntries(
    [...response.headers].filter(([name]) => !SERVER_FIELDS.includes(name)),
  );
  return { head: headOf(type, fields), body: new Uint8Array(await response.arrayBuffer()) };
}

/**
 * How lookups recur. `again`: a sample of queries is repeated, and the service caches answers as by
 * default. `every`: the same with all queries. `new`: as if no query ever came twice: nothing is
 * cached, and a worker answers each.
 */
type Traffic = 'again' | 'every' | 'new';

interface HttpKind {
  readonly kind: QueryKind;
  readonly traffic: Traffic;
}

function nameOf({ kind, traffic }: HttpKind): string {
  return traffic === 'again' ? `http ${kind}` : `http ${kind} ${traffic}`;
}

interface Series {
  readonly ours: readonly LoadResult[];
  readonly limits: readonly LoadResult[];
}

async function alternate(
  situs: Target,
  bare: Target,
  options: Omit<LoadOptions, 'port'>,
): Promise<Series> {
  const ours: LoadResult[] = [];
  const limits: LoadResult[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [target, results] of [
      [bare, limits],
      [situs, ours],
    ] as const) {
      const { port, pid } = target;
      results.push(await runLoad({ ...options, port, pid }));
    }
  }
  return { ours, limits };
}

function figures(
  asked: HttpKind,
  connections: number,
  bytes: number,
  { ours, limits }: Series,
): readonly Figure[] {
  const what = nameOf(asked);
  const name = connections === CONNECTIONS[0] ? what : `${what} (${connections})`;
  const of = (results: readonly LoadResult[], member: 'rps' | 'p50' | 'p99'): number =>
    median(results.map((result) => result[member]));
  const errors = ours.reduce((sum, one) => sum + one.errors, 0);
  const times = (results: readonly LoadResult[]): string =>
    `generator ${median(results.map((one) => one.ownMicroseconds)).toFixed(1)} µs a request`;
  return [
    {
      name: `${name} share of bare`,
      unit: '',
      target: { atLeast: TARGET_SHARE[asked.kind] },
      value: median(ours.map(({ rps }, round) => rps / limits[round]!.rps)),
      note: `${connections} connections, ${bytes} byte body, ${errors} errors`,
    },
    { name, value: of(ours, 'rps'), unit: 'requests/s', note: times(ours) },
    { name: `${name} bare`, value: of(limits, 'rps'), unit: 'requests/s', note: times(limits) },
    { name: `${name} p50`, value: of(ours, 'p50'), unit: 'ms' },
    { name: `${name} p99`, value: of(ours, 'p99'), unit: 'ms' },
    {
      name: `${name} processor`,
      unit: 'µs/request',
      value: median(ours.map(({ serverMicroseconds }) => serverMicroseconds)),
      note: `bare ${median(limits.map((one) => one.serverMicroseconds)).toFixed(1)}`,
    },
  ];
}

/**
 * Figures for one kind of lookup. Where answers are cached, each query is sent twice before, after
 * which its answer is in the cache.
 */
export async function httpCase(
  kind: QueryKind,
  traffic: Traffic,
  input: BenchInput,
): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const lines = kind === 'address' ? await addressLines(dataset, input.datasetDir) : [];
  const count = traffic === 'every' ? EVERY : undefined;
  const paths = sampleQueries(kind, dataset, input.datasetDir, lines, count).map(
    (query) => `/request/v60?${query}`,
  );
  dataset.close();
  const headers = { 'X-API-KEY': BENCH_KEY };
  const kept = traffic !== 'new';
  const situs = await startSitus(input.varDir, kept ? {} : { SITUS_ANSWER_CACHE_MIB: '0' });
  const answer = await sampleAnswer(`http://127.0.0.1:${situs.port}${paths[0]!}`, headers);
  const bare = await startBareServer(answer);
  const found: Figure[] = [];
  try {
    if (kept) await askEach({ port: situs.port, paths, headers }, 2);
    for (const connections of CONNECTIONS) {
      const options = { paths, headers, connections, seconds: input.seconds, warmupSeconds: 1 };
      found.push(
        ...figures(
          { kind, traffic },
          connections,
          answer.body.length,
          await alternate(situs, bare, options),
        ),
      );
    }
    const alone = await runLoad({
      paths,
      headers,
      connections: 1,
      seconds: input.seconds,
      port: situs.port,
    });
    found.push({
      name: `${nameOf({ kind, traffic })} p50 alone`,
      value: alone.p50,
      unit: 'ms',
    });
  } finally {
    bare.stop();
    await situs.stop();
  }
  return found;
}
