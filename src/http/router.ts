/** The table of routes and the way from a native request to a handler. */
import { messageOf, type Log } from '../log.js';
import { BODIES_BYTES_MAX, BodyRoom } from './body-room.js';
import { readBody, refuseBody, type Unkept } from './body.js';
import { openDuplex, type DuplexHandling } from './duplex-route.js';
import { Exchange, type Traffic } from './exchange.js';
import { BodyRequest, LiveRequest } from './native-request.js';
import { problemReply } from './problem.js';
import type { Asking, RefusalFields } from './gate.js';
import type { Admit, Answerer, Fields, Handle, Reply, Request } from './reply.js';
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
  /** On routes with a body: looks at the head first, and gives what `handle` is then. */
  readonly admit?: Admit;
  /** What a bug in the handler is answered with; a problem document without. */
  readonly fault?: (request: Request) => Reply;
  /** Where body and answer are open at once; `handle` is not called then. */
  readonly duplex?: DuplexHandling;
}

/** Deadline of handlers that do not say otherwise. */
export const DEADLINE_MS = 30_000;

type Methods = ReadonlyMap<string, Route>;

/** Routes by path (with and without a trailing slash), then by method. */
export type RouteTable = ReadonlyMap<string, Methods>;

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

/** The answer to what a handler threw: that is a bug. */
function faultReply(
  route: Route, request: Request, error: unknown, log: Log, fieldsOf: RefusalFields,
): Reply {
  log.error('handler failed', { path: request.path, message: messageOf(error) });
  return route.fault?.(request) ?? problemReply(
    { status: 500, detail: 'The service failed to answer.', instance: request.path },
    fieldsOf(request),
  );
}

/** Runs a handler; what it throws becomes a 500. */
export function runHandle(
  route: Route, request: Request, answer: Answerer, log: Log,
  fieldsOf: RefusalFields = NO_FIELDS, handle: Handle = route.handle,
): void {
  try {
    handle(request, answer);
  } catch (error) {
    answer.send(faultReply(route, request, error, log, fieldsOf));
  }
}

/** Connects a table of routes with a native server. */
export class Router {
  readonly traffic: Traffic = { open: 0, closing: false };
  readonly #table: RouteTable;
  readonly #log: Log;
  readonly #fieldsOf: RefusalFields;
  /** Memory of the bodies under way. */
  readonly room: BodyRoom;

  /**
   * `fieldsOf` gives the header fields of what no handler answers; bodies under way may take
   * `bodiesBytesMax` together.
   */
  constructor(
    routes: readonly Route[], log: Log, fieldsOf: RefusalFields = NO_FIELDS,
    bodiesBytesMax = BODIES_BYTES_MAX,
  ) {
    this.#table = routeTable(routes);
    this.#log = log;
    this.#fieldsOf = fieldsOf;
    this.room = new BodyRoom(bodiesBytesMax);
  }

  attach(server: RawServer): void {
    for (const [path, methods] of this.#table) {
      if (path.includes(PARAMETER)) continue;
      const get = methods.get('GET');
      const post = methods.get('POST');
      // The hot paths: neither method nor path need to be asked for.
      if (get?.bodyBytesMax === 0 && get.duplex === undefined) {
        server.get(path, (raw, request) => {
          const exchange = new Exchange(raw, this.traffic, FRESH);
          this.#run(get, exchange, new LiveRequest(request, exchange, 'GET', path));
          exchange.guard();
          exchange.hold();
        });
      }
      if (post !== undefined && post.bodyBytesMax > 0 && post.duplex === undefined) {
        server.post(path, (raw, request) =>
          this.#collect(post, new Exchange(raw, this.traffic), request, post.path));
      }
    }
    server.any('/*', (raw, request) => this.#dispatch(raw, request));
  }

  #dispatch(raw: RawResponse, request: RawRequest): void {
    const method = request.getCaseSensitiveMethod();
    const path = request.getUrl();
    const { duplex, path: known } = methodsOf(this.#table, path)?.get(method) ?? {};
    if (duplex !== undefined && known !== undefined) {
      const target = { method, path: known.includes(PARAMETER) ? path : known };
      openDuplex(duplex, target, raw, request, this.traffic, this.#log, this.#fieldsOf);
      return;
    }
    const exchange = new Exchange(raw, this.traffic, { bodiless: method === 'HEAD' });
    const live = new LiveRequest(request, exchange, method, path);
    const route = findRoute(this.#table, method, live, exchange, this.#fieldsOf);
    if (route === null) return;
    if (route.bodyBytesMax > 0) this.#collect(route, exchange, request, path);
    else {
      this.#run(route, exchange, live);
      exchange.hold();
    }
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
    this.#limit(
      route, exchange, () => this.#fieldsOf(request), (reply) => exchange.sendLast(reply),
    );
    const admitted = this.#admit(route, request);
    if (typeof admitted !== 'function') return refuseBody(exchange, admitted);
    // Without a length this is no number, which is not more than anything.
    const told = Number.parseInt(raw.getHeader('content-length'), 10);
    if (told > route.bodyBytesMax) {
      return refuseBody(exchange, this.#unkept(route, request, 'too-long'));
    }
    readBody(exchange, {
      bytesMax: route.bodyBytesMax,
      told,
      room: this.room,
      refused: (why) => this.#unkept(route, request, why),
      done: (body) => {
        request.took(body);
        runHandle(route, request, exchange, this.#log, this.#fieldsOf, admitted);
        request.release();
      },
    });
  }

  /** What is done with the body, or the answer of a head that is refused. */
  #admit(route: Route, request: Request): Reply | Handle {
    if (route.admit === undefined) return route.handle;
    try {
      return route.admit(request);
    } catch (error) {
      return faultReply(route, request, error, this.#log, this.#fieldsOf);
    }
  }

  #unkept(route: Route, request: Request, why: Unkept): Reply {
    return problemReply(why === 'too-long'
      ? {
        status: 413, detail: `The body may have ${route.bodyBytesMax} bytes.`,
        instance: route.path,
      }
      : {
        status: 503, detail: 'Too many bodies are under way; try again later.',
        instance: route.path,
      }, this.#fieldsOf(request));
  }

  /** `late` gives the answer: with a body that still comes, it has to be the connection's last. */
  #limit(
    route: Route, exchange: Exchange, fields: () => Fields,
    late = (reply: Reply): void => exchange.send(reply),
  ): void {
    exchange.deadline(route.deadlineMs, () => late(problemReply(
      { status: 504, detail: 'The answer took too long.', instance: route.path }, fields(),
    )));
  }
}
