/** Leads from a native request to its handler. */
import { type Log, messageOf } from '../log.js';
import { keyPrefix } from '../store/keys.js';
import { KEY_HEADER } from './api-key.js';
import { askAhead } from './ask-window.js';
import { FIELDS, lengthOf } from './body-framing.js';
import { BODIES_BYTES_MAX, BodyRoom, readBody, refuseBody, type Unkept } from './body.js';
import { openDuplex } from './duplex-route.js';
import { Exchange, type Traffic } from './exchange.js';
import { Front } from './front.js';
import { faultReply, LateRequests, runHandle } from './handling.js';
import { BodyRequest, LiveRequest } from './native-request.js';
import { problemReply } from './problem-reply.js';
import type { Fields, Handle, RefusalFields, Reply, Request } from './reply.js';
import {
  allowedOf,
  findRoute,
  mayRepeat,
  methodsOf,
  NO_FIELDS,
  PARAMETER,
  type Route,
  routeOf,
  routeTable,
  type RouteTable,
} from './route-table.js';
import { Staying, STAYING_BODY_BYTES_MAX } from './staying.js';
import type { RawHandler, RawRequest, RawResponse, RawServer } from './transport.js';

export {
  DEADLINE_MS,
  findRoute,
  operationNames,
  routeTable,
  type Route,
  type RouteTable,
} from './route-table.js';

/** Connects a table of routes with a native server. */
export class Router {
  readonly traffic: Traffic;
  readonly #front: Front;
  /** The index of each operation in `operationNames`. */
  readonly #operations: ReadonlyMap<Route, number>;
  readonly #table: RouteTable;
  readonly #log: Log;
  readonly #fieldsOf: RefusalFields;
  readonly #late = new LateRequests<LiveRequest>(
    (route, request) => this.#run(route, request),
    (request, error) => this.#failed(request, error),
  );
  readonly #lateBodies = new LateRequests<BodyRequest>(
    (route, request) => this.#runBody(route, request),
    (request, error) => this.#failed(request, error),
  );
  /** The memory of the bodies under way. */
  readonly room: BodyRoom;

  /**
   * `fieldsOf` makes header fields for answers that come from no handler. All bodies together may
   * take `bodiesBytesMax`. `front` does what is done around every request.
   */
  constructor(
    routes: readonly Route[],
    log: Log,
    fieldsOf: RefusalFields = NO_FIELDS,
    bodiesBytesMax = BODIES_BYTES_MAX,
    front = new Front(),
  ) {
    this.#front = front;
    this.traffic = { open: 0, closing: false, front };
    this.#operations = new Map(routes.map((route, index) => [route, index + 1]));
    this.#table = routeTable(routes);
    this.#log = log;
    this.#fieldsOf = fieldsOf;
    this.room = new BodyRoom(bodiesBytesMax);
  }

  /** The index of a route's operation in `operationNames`. */
  readonly operationOf = (route: Route): number => this.#operations.get(route) ?? 0;

  attach(server: RawServer): void {
    this.traffic.native = server.transport === 'native';
    this.traffic.connections = () => server.connections;
    // On the server of Node.js, holding a connection costs nothing.
    const staying = server.transport === 'native' ? new Staying() : null;
    server.noteRefusals((raw, request, reply) => this.#front.refused(raw, request, reply));
    for (const [path, methods] of this.#table) {
      if (path.includes(PARAMETER)) continue;
      const get = methods.get('GET');
      const post = methods.get('POST');
      // For most requests neither method nor path needs to be read.
      if (get?.bodyBytesMax === 0 && get.duplex === undefined) {
        server.get(path, this.#getter(get, path, staying));
      }
      if (post !== undefined && post.bodyBytesMax > 0 && post.duplex === undefined) {
        const options = { operation: this.operationOf(post) };
        server.post(path, (raw, request) => {
          const exchange = new Exchange(raw, this.traffic, options);
          exchange.note = this.#front.note('POST', raw, request);
          this.#collect(post, exchange, request, post.path, staying);
        });
      }
    }
    server.any('/*', (raw, request) => this.#dispatch(raw, request, staying));
  }

  /** Makes the native handler for the GETs of a path. */
  #getter(route: Route, path: string, staying: Staying | null): RawHandler {
    const options = { fresh: true, operation: this.operationOf(route) };
    const { isAtOnce } = route;
    return (raw, native) => {
      const exchange = new Exchange(raw, this.traffic, options);
      exchange.note = this.#front.note('GET', raw, native);
      const request = new LiveRequest(native, exchange, 'GET', path);
      if (isAtOnce === undefined || isAtOnce(request.query)) this.#run(route, request);
      else this.#putOff(route, request);
      exchange.guard();
      if (staying === null) exchange.hold();
      else exchange.holdUnless(staying, native);
    };
  }

  #putOff(route: Route, request: LiveRequest): void {
    const kept = request.keep();
    // The key that the request states, until the gate has checked it.
    kept.exchange.keyPrefix = keyPrefix(kept.header(KEY_HEADER));
    this.#late.add(route, kept);
  }

  #dispatch(raw: RawResponse, request: RawRequest, staying: Staying | null): void {
    const method = request.getCaseSensitiveMethod();
    const path = request.getUrl();
    const methods = methodsOf(this.#table, path);
    const named = routeOf(methods, method);
    const operation = named === undefined ? 0 : (this.#operations.get(named) ?? 0);
    const note = this.#front.note(method, raw, request);
    if (named?.duplex !== undefined) {
      const target = { method, path: named.path.includes(PARAMETER) ? path : named.path };
      openDuplex(
        named.duplex,
        target,
        raw,
        request,
        this.traffic,
        this.#log,
        this.#fieldsOf,
        operation,
        note,
        named.ask,
      );
      return;
    }
    const exchange = new Exchange(raw, this.traffic, { bodiless: method === 'HEAD', operation });
    exchange.note = note;
    const preflight =
      method === 'OPTIONS' && methods !== undefined
        ? this.#front.preflight(request, allowedOf(methods))
        : null;
    if (preflight !== null) return exchange.send(preflight);
    const live = new LiveRequest(request, exchange, method, path);
    const route = findRoute(this.#table, method, live, exchange, this.#fieldsOf);
    if (route === null) return;
    if (route.bodyBytesMax > 0) return this.#collect(route, exchange, request, path, staying);
    this.#run(route, live);
    exchange.hold();
  }

  #run(route: Route, request: LiveRequest): void {
    const { exchange } = request;
    // The fields are made now, since the native request is gone when the time limit is over.
    if (route.deadlineMs > 0) {
      const fields = this.#fieldsOf(request);
      this.#limit(route, exchange, () => fields);
    }
    const asked = askAhead(route.ask, request);
    if (typeof asked === 'number') request.taken = asked;
    else if (asked !== null) {
      const kept = request.keep();
      void asked.then((taken) => {
        kept.taken = taken;
        if (exchange.raw !== null) runHandle(route, kept, exchange, this.#log, this.#fieldsOf);
      });
      return;
    }
    runHandle(route, request, exchange, this.#log, this.#fieldsOf);
    request.release();
  }

  #collect(
    route: Route,
    exchange: Exchange,
    raw: RawRequest,
    path: string,
    staying: Staying | null,
  ): void {
    const request = new BodyRequest(raw, exchange, route.method, path);
    this.#limit(
      route,
      exchange,
      () => this.#fieldsOf(request),
      (reply) => exchange.sendLast(reply),
    );
    const asked = askAhead(route.ask, request);
    if (typeof asked === 'number') request.taken = asked;
    const admitted =
      asked instanceof Promise
        ? this.#later(route, exchange, request, asked)
        : this.#admit(route, request);
    if (typeof admitted !== 'function') return refuseBody(exchange, admitted);
    request.handle = admitted;
    // NaN where there is no length, which is never greater.
    const told = lengthOf(raw.getHeader(FIELDS.contentLength));
    if (told > route.bodyBytesMax) {
      return refuseBody(exchange, this.#unkept(route, request, 'too-long'));
    }
    readBody(exchange, {
      bytesMax: route.bodyBytesMax,
      told,
      room: this.room,
      staying:
        told <= STAYING_BODY_BYTES_MAX && mayRepeat(route, request) && staying?.says(raw) === true
          ? staying
          : null,
      refused: (why) => this.#unkept(route, request, why),
      done: (body, isReadOn) => {
        request.took(body);
        if (isReadOn && route.isAtOnce?.(request.query) === false) {
          this.#lateBodies.add(route, request);
        } else this.#runBody(route, request);
      },
    });
  }

  #runBody(route: Route, request: BodyRequest): void {
    const { exchange, handle } = request;
    runHandle(route, request, exchange, this.#log, this.#fieldsOf, handle ?? route.handle);
    request.release();
  }

  /** Handles an exception outside a handler, which is a bug and is caught nowhere else. */
  #failed({ path, exchange }: LiveRequest | BodyRequest, error: unknown): void {
    this.#log.error('handler failed', { path, message: messageOf(error) });
    exchange.abandon();
  }

  /** The handler for the body, or the answer that refuses the head. */
  #admit(route: Route, request: Request): Reply | Handle {
    if (route.admit === undefined) return route.handle;
    try {
      return route.admit(request);
    } catch (error) {
      return faultReply(route, request, error, this.#log, this.#fieldsOf);
    }
  }

  /** Judges the head when a shared window has answered; the body is read meanwhile. */
  #later(route: Route, exchange: Exchange, request: BodyRequest, asked: Promise<number>): Handle {
    return () => {
      const { body } = request;
      void asked.then((taken) => {
        if (exchange.raw === null) return;
        request.taken = taken;
        const admitted = this.#admit(route, request);
        if (typeof admitted !== 'function') return exchange.send(admitted);
        request.took(body);
        request.handle = admitted;
        this.#runBody(route, request);
      });
    };
  }

  #unkept(route: Route, request: Request, why: Unkept): Reply {
    const [status, detail] =
      why === 'too-long'
        ? ([413, `The body may have ${route.bodyBytesMax} bytes.`] as const)
        : ([503, 'Too many bodies are under way; try again later.'] as const);
    return problemReply({ status, detail }, route.path, this.#fieldsOf(request));
  }

  /**
   * Sets the time limit. `late` answers; while a body still arrives, that must close the
   * connection.
   */
  #limit(
    route: Route,
    exchange: Exchange,
    fields: () => Fields,
    late = (reply: Reply): void => exchange.send(reply),
  ): void {
    exchange.deadline(route.deadlineMs, () =>
      late(
        problemReply({ status: 504, detail: 'The answer took too long.' }, route.path, fields()),
      ),
    );
  }
}
