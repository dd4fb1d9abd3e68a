/** Everything a running service answers, as it describes itself: a new route comes by itself. */
import { BENCH_KEY } from '../load/situs-server.js';

export interface Operation {
  /** For reports: method and path. */
  readonly name: string;
  /** A request of it, whole, with a length where it has a body. */
  readonly request: string;
  /** The same with its body in chunks; null where it has none. */
  readonly chunked: string | null;
}

const BODY = '{}';
const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);

function operationOf(method: string, path: string): Operation {
  const head =
    `${method} ${path.replaceAll(/\{[^}]+\}/g, '0')} HTTP/1.1\r\nHost: a\r\n` +
    `X-API-KEY: ${BENCH_KEY}\r\n`;
  const name = `${method} ${path}`;
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE') {
    return { name, request: `${head}\r\n`, chunked: null };
  }
  const typed = `${head}Content-Type: application/json\r\n`;
  return {
    name,
    request: `${typed}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
    chunked: `${typed}Transfer-Encoding: chunked\r\n\r\n${BODY.length}\r\n${BODY}\r\n0\r\n\r\n`,
  };
}

/** What the router answers itself. */
const OTHERS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/no/such/path'],
  ['HEAD', '/no/such/path'],
  ['HEAD', '/openapi.json'],
  ['PUT', '/request/v60'],
  ['POST', '/openapi.json'],
  ['GET', '/openapi.json'],
];

/** The operations of `/openapi.json`, and what is answered without one. */
export async function operationsOf(port: number): Promise<readonly Operation[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => METHODS.has(method))
      .map((method) => operationOf(method.toUpperCase(), path)),
  );
  return [...described, ...OTHERS.map(([method, path]) => operationOf(method, path))];
}

/** A busy machine may be late; what hangs never answers. */
const SILENCE_MS = 60_000;

/** Whether it answers as it should; a sentence about it where it does not. */
export async function silenceOf(port: number): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(SILENCE_MS);
    const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`, { signal });
    await answer.arrayBuffer();
    return answer.status === 200 ? null : `answered ${answer.status}`;
  } catch (error) {
    return `does not answer: ${String(error)}`;
  }
}
