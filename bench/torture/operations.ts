/**
 * All operations of a running service, from its own description, so that new routes are included.
 */
import { sendPlain } from '../../test/support/plain-request.js';
import { BENCH_KEY } from '../load/situs-server.js';

export interface Operation {
  /** Method and path, for reports. */
  readonly name: string;
  /** A complete request, with a length if it has a body. */
  readonly request: string;
  /** The same with its body in chunks; null for operations without a body. */
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

/** Requests that the router answers itself. */
const OTHERS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/no/such/path'],
  ['HEAD', '/no/such/path'],
  ['HEAD', '/openapi.json'],
  ['PUT', '/request/v60'],
  ['POST', '/openapi.json'],
  ['GET', '/openapi.json'],
];

/** The operations in `/openapi.json`, and requests that belong to none. */
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

/** On a busy machine an answer may come late; after this time there will be none. */
const SILENCE_MS = 60_000;

/**
 * What is wrong with the service's answers, in words; null where it answers as it should. Asks on a
 * connection of its own, since the service may close a kept one in the moment that it is used again.
 */
export async function silenceOf(port: number): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(SILENCE_MS);
    const url = `http://127.0.0.1:${port}/openapi.json`;
    const { status } = await sendPlain(url, 'GET', {}, '', signal);
    return status === 200 ? null : `answered ${status}`;
  } catch (error) {
    return `does not answer: ${String(error)}`;
  }
}
