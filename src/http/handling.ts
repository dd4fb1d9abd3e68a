/**
 * How handlers are called: at once, or with all others at the end of the turn of the event loop.
 * What one throws is a bug, and becomes an answer.
 */
import { TURN_END } from '../base/turn-end.js';
import { type Log, messageOf } from '../log.js';
import type { Exchange } from './exchange.js';
import { FAULT_DETAIL, problemReply } from './problem-reply.js';
import type { Answerer, Handle, RefusalFields, Reply, Request } from './reply.js';
import { NO_FIELDS, type Route } from './route-table.js';

/** The answer to what a handler threw: that is a bug. */
export function faultReply(
  route: Route,
  request: Request,
  error: unknown,
  log: Log,
  fieldsOf: RefusalFields,
): Reply {
  log.error('handler failed', { path: request.path, message: messageOf(error) });
  return (
    route.fault?.(request) ??
    problemReply({ status: 500, detail: FAULT_DETAIL }, request.path, fieldsOf(request))
  );
}

/** Runs a handler; what it throws becomes a 500. */
export function runHandle(
  route: Route,
  request: Request,
  answer: Answerer,
  log: Log,
  fieldsOf: RefusalFields = NO_FIELDS,
  handle: Handle = route.handle,
): void {
  try {
    handle(request, answer);
  } catch (error) {
    answer.send(faultReply(route, request, error, log, fieldsOf));
  }
}

/** So many are handled before the turn ends, that workers have something to do meanwhile. */
const TOGETHER_MAX = 16;

/**
 * Requests that are handled at the end of the turn in which they came, all together: between one
 * and the next lies the work of the system and the native server, which leaves little of what the
 * handler needs at hand. What is answered while its native handler runs needs no registration and
 * no cork, and is not put off.
 */
export class LateRequests<R extends { readonly exchange: Exchange }> {
  readonly #handle: (route: Route, request: R) => void;
  readonly #fault: (request: R, error: unknown) => void;
  readonly #routes: Route[] = [];
  readonly #requests: R[] = [];
  #isSet = false;

  /** `fault` is told of what `handle` throws, since nothing else catches it: that is a bug. */
  constructor(
    handle: (route: Route, request: R) => void,
    fault: (request: R, error: unknown) => void,
  ) {
    this.#handle = handle;
    this.#fault = fault;
  }

  /** Takes a request that keeps what is asked of it, as the native one ends with its handler. */
  add(route: Route, request: R): void {
    this.#routes.push(route);
    if (this.#requests.push(request) >= TOGETHER_MAX) this.#handleAll();
    else if (!this.#isSet) {
      this.#isSet = true;
      TURN_END.first(this.#end);
    }
  }

  readonly #end = (): void => {
    this.#isSet = false;
    this.#handleAll();
  };

  #handleAll(): void {
    const requests = this.#requests;
    for (let at = 0; at < requests.length; at += 1) {
      const request = requests[at]!;
      // Its client may have gone meanwhile.
      if (request.exchange.raw === null) continue;
      try {
        this.#handle(this.#routes[at]!, request);
      } catch (error) {
        this.#fault(request, error);
      }
    }
    this.#routes.length = 0;
    requests.length = 0;
  }
}
