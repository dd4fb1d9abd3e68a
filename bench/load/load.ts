/**
 * A small closed-loop load generator. It runs in a process of its own, so that its cost does not
 * count as the server's. It was written because the usual library takes some 200 µs of processor
 * time a request: beside that a bare server is idle, any server looks as fast, and a share of its
 * rate means nothing. This one takes 14 µs.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { seeded } from '../case/case.js';
import { LoadConnection } from './connection.js';
import { processorTime } from './processor-time.js';

const ASKING_CONNECTIONS = 64;

export interface LoadOptions {
  readonly port: number;
  /** Paths with query, requested in a seeded random order. */
  readonly paths: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** API keys, one for each path in turn; absent where `headers` has the key. */
  readonly keys?: readonly string[];
  /** Bodies to post to the first path, in a seeded random order, instead of a GET for each path. */
  readonly bodies?: readonly string[];
  readonly connections?: number;
  readonly seconds?: number;
  /** How long requests are sent before the measurement begins. */
  readonly warmupSeconds?: number;
  readonly seed?: number;
  /** The server's process, whose processor time is measured. */
  readonly pid?: number;
}

export interface LoadResult {
  readonly rps: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Broken connections, and answers with another status than 2xx. */
  readonly errors: number;
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Microseconds of processor time for each request, of the generator and of the server. */
  readonly ownMicroseconds: number;
  readonly serverMicroseconds: number;
}

function renderRequests(options: LoadOptions): readonly Buffer[] {
  const { keys = [] } = options;
  const keyOf = (index: number): string =>
    keys.length === 0 ? '' : `X-API-KEY: ${keys[index % keys.length]!}\r\n`;
  // Node.js, browsers and Python libraries send this on connections that they reuse.
  const headers = Object.entries({ Connection: 'keep-alive', ...options.headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const {
    bodies,
    paths: [path = '/'],
  } = options;
  if (bodies !== undefined) {
    const head =
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}` +
      'Content-Type: application/json\r\nContent-Length: ';
    return bodies.map((body) => Buffer.from(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`));
  }
  return options.paths.map((path, index) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}${keyOf(index)}\r\n`),
  );
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Generates the load in this process. */
async function generate(options: LoadOptions): Promise<LoadResult> {
  const { connections = 64, seconds = 3, warmupSeconds = 1, seed = 1 } = options;
  const random = seeded(seed);
  const requests = renderRequests(options);
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  let errors = 0;
  let counting = false;
  const open = Array.from(
    { length: connections },
    () =>
      new LoadConnection({
        port: options.port,
        next: () => requests[Math.floor(random() * requests.length)]!,
        answered: (status, milliseconds) => {
          if (!counting) return;
          latencies.push(milliseconds);
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status < 200 || status > 299) errors += 1;
        },
        failed: () => {
          errors += 1;
        },
      }),
  );
  await new Promise((resolve) => setTimeout(resolve, warmupSeconds * 1000));
  counting = true;
  const { pid } = options;
  const serverFrom = pid === undefined ? Number.NaN : processorTime(pid);
  const ownFrom = process.cpuUsage();
  const from = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const elapsed = (performance.now() - from) / 1000;
  const own = process.cpuUsage(ownFrom);
  const server = pid === undefined ? Number.NaN : processorTime(pid) - serverFrom;
  counting = false;
  await Promise.all(open.map((connection) => connection.finish()));
  const sorted = Float64Array.from(latencies).sort();
  return {
    rps: sorted.length / elapsed,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    errors,
    requests: sorted.length,
    statuses,
    ownMicroseconds: (own.user + own.system) / sorted.length,
    serverMicroseconds: server / sorted.length,
  };
}

/**
 * Requests every path `times` times from this process, one request after another on each
 * connection.
 */
export async function askEach(
  options: Pick<LoadOptions, 'port' | 'paths' | 'headers' | 'keys'>,
  times: number,
): Promise<void> {
  const requests = renderRequests(options);
  const { port } = options;
  const last = requests.length * times;
  let next = 0;
  let open: readonly LoadConnection[] = [];
  await new Promise<void>((resolve, reject) => {
    let answered = 0;
    open = Array.from(
      { length: ASKING_CONNECTIONS },
      () =>
        new LoadConnection({
          port,
          next: () => requests[next++ % requests.length]!,
          answered: () => {
            answered += 1;
            if (answered === last) resolve();
          },
          failed: () => reject(new Error('a connection broke')),
        }),
    );
  });
  for (const connection of open) connection.close();
}

/** Generates the load in a child process. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  child.send(options);
  const [result] = (await once(child, 'message')) as [LoadResult];
  if (child.exitCode === null) await once(child, 'exit');
  return result;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.once('message', (options: LoadOptions) => {
    void generate(options).then((result) => {
      process.send?.(result);
      process.disconnect();
    });
  });
}
