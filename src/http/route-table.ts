/** The table of routes, and the answers where it has no route. */
import type { AskWindow } from './ask-window.js';
import type { DuplexHandling } from './duplex-route.js';
import { IDEMPOTENCY_HEADER } from './idempotency-key.js';
import { problemReply } from './problem-reply.js';
import type { Admit, Answerer, Handle, Request, Reply, Asking, RefusalFields } from './reply.js';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Without a trailing slash; the path with one is the same route. One segment may be `{id}`, which
   * stands for any text; the handler reads that from the path of the request.
   */
  readonly path: string;
  /** Zero on routes without a body. */
  readonly bodyBytesMax: number;
  /** Longest time until the answer; zero where the handler has a time limit of its own. */
  readonly deadlineMs: number;
  readonly handle: Handle;
  /**
   * Whether a request with this query is answered as soon as its handler is called. On a route with
   * this function, other requests are handled together at the end of the turn; those with a body
   * only where their connection is read on.
   */
  readonly isAtOnce?: (query: string) => boolean;
  /**
   * Asked before the handler is called, which waits for the answer; null where there is nothing to
   * ask.
   */
  readonly ask?: AskWindow | null;
  /**
   * On routes with a body: judges the head, and returns the handler to call instead of `handle`.
   */
  readonly admit?: Admit;
  /** Makes the answer to a bug in the handler; a problem document unless given. */
  readonly fault?: (request: Request) => Reply;
  /**
   * On routes with a body: whether a client without an answer may repeat its request, `keyed` only
   * with an Idempotency-Key; never unless given. The connections of such requests may be read on
   * (`Staying`).
   */
  readonly repeats?: 'always' | 'keyed';
  /** Set where body and answer are open at the same time; then `handle` is not called. */
  readonly duplex?: DuplexHandling;
}

/** Time limit of handlers that state none. */
export const DEADLINE_MS = 30_000;

type Methods = ReadonlyMap<string, Route>;

/** Routes by path (with and without a trailing slash), then by method. */
export type RouteTable = ReadonlyMap<string, Methods>;

/** A segment that stands for any text. */
export const PARAMETER = '{id}';

/** For answers without fields of their own. */
export const NO_FIELDS: RefusalFields = () => ({});

/**
 * Builds the table.
 * @throws Error when two routes have the same method and path.
 */
export function routeTable(routes: readonly Route[]): RouteTable {
  const table = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    let methods = table.get(route.path);
    if (methods === undefined) {
      methods = new Map();
      table.set(route.path, methods);
      table.set(`${route.path}/`, methods);
    }
    if (methods.has(route.method)) throw new Error(`two routes ${route.method} ${route.path}`);
    methods.set(route.method, route);
  }
  return table;
}

/** Paths with more segments are not searched for a parameter. */
const SEGMENTS_MAX = 8;

/** The routes of a path: as it is written, or else with one of its segments as the parameter. */
export function methodsOf(table: RouteTable, path: string): Methods | undefined {
  const exact = table.get(path);
  if (exact !== undefined) return exact;
  const segments = path.split('/');
  if (segments.length > SEGMENTS_MAX) return undefined;
  for (let at = 1; at < segments.length; at += 1) {
    if (segments[at] === '') continue;
    const found = table.get(segments.with(at, PARAMETER).join('/'));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The route of a method. HEAD is answered like GET, without the body. */
export function routeOf(methods: Methods | undefined, method: string): Route | undefined {
  return methods?.get(method === 'HEAD' ? 'GET' : method);
}

/** The methods that a path answers, in the order of its routes. */
export function allowedOf(methods: Methods): readonly string[] {
  return [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Finds the route; answers with 404 or 405 where there is none. */
export function findRoute(
  table: RouteTable,
  method: string,
  asking: Asking,
  answer: Answerer,
  fieldsOf: RefusalFields = NO_FIELDS,
): Route | null {
  const { path } = asking;
  const methods = methodsOf(table, path);
  const route = routeOf(methods, method);
  if (route !== undefined) return route;
  const fields = fieldsOf(asking);
  if (methods === undefined) {
    answer.send(problemReply({ status: 404, detail: 'There is no such path.' }, path, fields));
    return null;
  }
  const allow = allowedOf(methods).join(', ');
  answer.send(
    problemReply({ status: 405, detail: `This path answers ${allow} only.` }, path, {
      Allow: allow,
      ...fields,
    }),
  );
  return null;
}

/** Whether a client that got no answer may send the same request again. */
export function mayRepeat({ repeats }: Route, request: Request): boolean {
  return repeats === 'always' || (repeats === 'keyed' && request.header(IDEMPOTENCY_HEADER) !== '');
}

/** The name for requests that belong to no operation. */
const NO_OPERATION = 'none';

/**
 * Names of operations by their index: first that for none, then one such as "GET /data/tic" for
 * each route.
 */
export function operationNames(routes: readonly Route[]): readonly string[] {
  return [NO_OPERATION, ...routes.map(({ method, path }) => `${method} ${path}`)];
}
