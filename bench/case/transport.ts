/**
 * Lookups over the native HTTP server and over that of Node.js, in turns with bare servers of both
 * kinds.
 */
import { startBareNodeServer } from '../load/bare-node-server.js';
import { startBareServer } from '../load/bare-server.js';
import { askEach, runLoad, type LoadResult } from '../load/load.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { type BenchInput, type Figure, median } from './case.js';
import { sampleAnswer } from './http.js';
import { zipPaths } from './queries.js';

const ROUNDS = 5;
const CONNECTIONS = 64;
const HEADERS = { 'X-API-KEY': BENCH_KEY };

interface Measured {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly results: LoadResult[];
}

/** The median over all rounds of the ratio of two servers' figures. */
function ratio(one: Measured, other: Measured, what: 'rps' | 'serverMicroseconds'): number {
  return median(one.results.map((result, round) => result[what] / other.results[round]![what]));
}

function figuresOf({ name, results }: Measured): readonly Figure[] {
  return [
    { name, value: median(results.map(({ rps }) => rps)), unit: 'requests/s' },
    {
      name: `${name} processor`,
      unit: 'µs/request',
      value: median(results.map(({ serverMicroseconds }) => serverMicroseconds)),
      note: `${results.reduce((sum, { errors }) => sum + errors, 0)} errors`,
    },
  ];
}

/** Uses ZIPs that recur: their answers cost least, so that the HTTP server's share is largest. */
export async function transportCase(input: BenchInput): Promise<readonly Figure[]> {
  const paths = zipPaths(input.datasetDir);
  const native = await startSitus(input.varDir, { SITUS_TRANSPORT: 'native' });
  const node = await startSitus(input.varDir, { SITUS_TRANSPORT: 'node' });
  const answer = await sampleAnswer(`http://127.0.0.1:${native.port}${paths[0]!}`, HEADERS);
  const bareNative = await startBareServer(answer);
  const bareNode = await startBareNodeServer(answer);
  const servers = Object.entries({
    'bare native': bareNative,
    native,
    'bare node': bareNode,
    node,
  }).map(([name, { port, pid }]): Measured => ({ name, port, pid, results: [] }));
  try {
    for (const { port } of [native, node]) await askEach({ port, paths, headers: HEADERS }, 2);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { port, pid, results } of servers) {
        results.push(
          await runLoad({
            port,
            pid,
            paths,
            headers: HEADERS,
            connections: CONNECTIONS,
            seconds: input.seconds,
            warmupSeconds: 1,
          }),
        );
      }
    }
  } finally {
    bareNative.stop();
    bareNode.stop();
    await native.stop();
    await node.stop();
  }
  const [, ofNative, ofBareNode, ofNode] = servers as [Measured, Measured, Measured, Measured];
  return [
    ...servers.flatMap(figuresOf),
    {
      name: 'node processor against native',
      unit: '',
      value: ratio(ofNode, ofNative, 'serverMicroseconds'),
      note: 'workers and front end',
    },
    { name: 'node share of bare node', unit: '', value: ratio(ofNode, ofBareNode, 'rps') },
  ];
}
