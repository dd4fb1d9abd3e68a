/** The table of routes and the way from a native request to a handler. */
import { messageOf, type Log } from '../log.js';
import { KEY_HEADER } from './api-key.js';
import { readBody } from './body.js';
import { Exchange, type Traffic } from './exchange.js';
import { problemReply } from './problem.js';
import type { Asking, RefusalFields } from './rate-fields.js';
import type { Answerer, Fields, Handle, Reply, Request } from './reply.js';
import { openStreamRoute, type StreamTerms } from './stream-route.js';
import type { RawRequest, RawResponse, RawServer } from './uws.js';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Without a trailing slash; the same path with one is the same route. One segment may be `{id}`,
   * which stands for any text; the handler reads it from the path of the request.
   */
  readonly path: string;
  /** Zero on routes that take no body. */
  readonly bodyBytesMax: number;
  /** Longest time to an answer; zero where the handler keeps a deadline of its own. */
  readonly deadlineMs: number;
  readonly handle: Handle;
  /** What a bug in the handler is answered with; a problem document without. */
  readonly fault?: (request: Request) => Reply;
  /** Where body and answer are streams; `handle` is not called then. */
  readonly stream?: StreamTerms;
}

/** Deadline of handlers that do not say otherwise. */
export const DEADLINE_MS = 30_000;

type Methods = ReadonlyMap<string, Route>;

/** Routes by path (with and without a trailing slash), then by method. */
export type RouteTable = ReadonlyMap<string, Methods>;

const EMPTY = new Uint8Array(0);

/** A segment that stands for any text. */
const PARAMETER = '{id}';

const NO_FIELDS: RefusalFields = () => ({});

const FRESH = { fresh: true };

/**
 * Builds the table.
 * @throws Error when two routes answer the same method and path.
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

/** Segments of a path in which a parameter is looked for. */
const SEGMENTS_MAX = 8;

/** What answers a path: as it is written, else with one of its segments as the parameter. */
function methodsOf(table: RouteTable, path: string): Methods | undefined {
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

/** Finds the route; answers 404 or 405 itself when there is none. */
export function findRoute(
  table: RouteTable, method: string, asking: Asking, answer: Answerer,
  fieldsOf: RefusalFields = NO_FIELDS,
): Route | null {
  const { path } = asking;
  const methods = methodsOf(table, path);
  const route = methods?.get(method);
  if (route !== undefined) return route;
  const fields = fieldsOf(asking);
  if (methods === undefined) {
    answer.send(problemReply(
      { status: 404, detail: 'There is no such path.', instance: path }, fields,
    ));
    return null;
  }
  const allow = [...methods.keys()].join(', ');
  answer.send(problemReply(
    { status: 405, detail: `This path answers ${allow} only.`, instance: path },
    { Allow: allow, ...fields },
  ));
  return null;
}

/** The client's address, while the native response may be touched. */
function addressOf(exchange: Exchange): string {
  const { raw } = exchange;
  return raw === null ? '' : Buffer.from(raw.getRemoteAddressAsText()).toString('latin1');
}

/** A request whose headers are read from the native one, while that may be touched. */
class LiveRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body = EMPTY;
  #raw: RawRequest | null;
  readonly #exchange: Exchange;

  constructor(raw: RawRequest, exchange: Exchange, method: string, path: string) {
    this.#raw = raw;
    this.#exchange = exchange;
    this.method = method;
    this.path = path;
    // The native server knows no query where there is no question mark.
    this.query = raw.getQuery() ?? '';
  }

  header(name: string): string {
    if (this.#raw === null) throw new Error('headers are read while the handler runs');
    return this.#raw.getHeader(name);
  }

  client(): string {
    return addressOf(this.#exchange);
  }

  /** Forgets the native request. */
  release(): void {
    this.#raw = null;
  }
}

/** Header fields that are kept until the body is there. */
const BODY_FIELDS: readonly string[] = [KEY_HEADER, 'content-type', 'idempotency-key'];

/** A request whose body arrives after the native one has gone. */
class BodyRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  body: Uint8Array = EMPTY;
  readonly #fields: readonly string[];
  readonly #exchange: Exchange;

  constructor(raw: RawRequest, exchange: Exchange, method: string, path: string) {
    this.method = method;
    this.path = path;
    this.query = raw.getQuery() ?? '';
    this.#fields = BODY_FIELDS.map((name) => raw.getHeader(name));
    this.#exchange = exchange;
  }

  header(name: string): string {
    const value = this.#fields[BODY_FIELDS.indexOf(name)];
    if (value === undefined) throw new Error(`the field ${name} is not kept for the body`);
    return value;
  }

  client(): string {
    return addressOf(this.#exchange);
  }

  onClosed(closed: () => void): void {
    this.#exchange.onClosed(closed);
  }
}

/** Runs a handler; what it throws is a bug and becomes a 500. */
export function runHandle(
  route: Route, request: Request, answer: Answerer, log: Log,
  fieldsOf: RefusalFields = NO_FIELDS,
): void {
  try {
    route.handle(request, answer);
  } catch (error) {
    log.error('handler failed', { path: request.path, message: messageOf(error) });
    answer.send(route.fault?.(request) ?? problemReply(
      { status: 500, detail: 'The service failed to answer.', instance: request.path },
      fieldsOf(request),
    ));
  }
}

/** Connects a table of routes with a native server. */
export class Router {
  readonly traffic: Traffic = { open: 0, closing: false };
  readonly #table: RouteTable;
  readonly #log: Log;
  readonly #fieldsOf: RefusalFields;

  /** `fieldsOf` gives the header fields of what no handler answers. */
  constructor(routes: readonly Route[], log: Log, fieldsOf: RefusalFields = NO_FIELDS) {
    this.#table = routeTable(routes);
    this.#log = log;
    this.#fieldsOf = fieldsOf;
  }

  attach(server: RawServer): void {
    for (const [path, methods] of this.#table) {
      if (path.includes(PARAMETER)) continue;
      const get = methods.get('GET');
      const post = methods.get('POST');
      // The hot paths: neither method nor path need to be asked for.
      if (get?.bodyBytesMax === 0 && get.stream === undefined) {
        server.get(path, (raw, request) => {
          const exchange = new Exchange(raw, this.traffic, FRESH);
          this.#run(get, exchange, new LiveRequest(request, exchange, 'GET', path));
          exchange.guard();
        });
      }
      if (post !== undefined && post.bodyBytesMax > 0 && post.stream === undefined) {
        server.post(path, (raw, request) =>
          this.#collect(post, new Exchange(raw, this.traffic), request, post.path));
      }
    }
    server.any('/*', (raw, request) => this.#dispatch(raw, request));
  }

  #dispatch(raw: RawResponse, request: RawRequest): void {
    const method = request.getCaseSensitiveMethod();
    const path = request.getUrl();
    const { stream, path: known } = methodsOf(this.#table, path)?.get(method) ?? {};
    if (stream !== undefined && known !== undefined) {
      const target = { method, path: known.includes(PARAMETER) ? path : known };
      openStreamRoute(stream, target, raw, request, this.traffic, this.#log, this.#fieldsOf);
      return;
    }
    const exchange = new Exchange(raw, this.traffic, { bodiless: method === 'HEAD' });
    const live = new LiveRequest(request, exchange, method, path);
    const route = findRoute(this.#table, method, live, exchange, this.#fieldsOf);
    if (route === null) return;
    if (route.bodyBytesMax > 0) this.#collect(route, exchange, request, path);
    else this.#run(route, exchange, live);
  }

  #run(route: Route, exchange: Exchange, request: LiveRequest): void {
    // The native request may not be asked when the deadline comes.
    if (route.deadlineMs > 0) {
      const fields = this.#fieldsOf(request);
      this.#limit(route, exchange, () => fields);
    }
    runHandle(route, request, exchange, this.#log, this.#fieldsOf);
    request.release();
  }

  #collect(route: Route, exchange: Exchange, raw: RawRequest, path: string): void {
    const request = new BodyRequest(raw, exchange, route.method, path);
    this.#limit(route, exchange, () => this.#fieldsOf(request));
    readBody(exchange, route.bodyBytesMax, (body) => {
      if (body === null) {
        const detail = `The body may have ${route.bodyBytesMax} bytes.`;
        exchange.send(problemReply(
          { status: 413, detail, instance: route.path }, this.#fieldsOf(request),
        ));
        return;
      }
      request.body = body;
      runHandle(route, request, exchange, this.#log, this.#fieldsOf);
    });
  }

  #limit(route: Route, exchange: Exchange, fields: () => Fields): void {
    exchange.deadline(route.deadlineMs, () => exchange.send(problemReply(
      { status: 504, detail: 'The answer took too long.', instance: route.path }, fields(),
    )));
  }
}
