/**
 * Calls handlers: at once, or together with others at the end of the turn of the event loop. An
 * exception of a handler is a bug, and becomes an answer.
 */
import { TURN_END } from '../base/turn-end.js';
import { type Log, messageOf } from '../log.js';
import type { Exchange } from './exchange.js';
import { FAULT_DETAIL, problemReply } from './problem-reply.js';
import type { Answerer, Handle, RefusalFields, Reply, Request } from './reply.js';
import { NO_FIELDS, type Route } from './route-table.js';

/** The answer to an exception of a handler, which is a bug. */
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

/** Runs a handler; an exception becomes a 500. */
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

/** This many are handled before the turn ends, so that workers have something to do meanwhile. */
const TOGETHER_MAX = 16;

/**
 * Requests that are handled together at the end of the turn in which they came. Between two of them
 * the system and the native server run, and their code would displace most of what the handler
 * needs from the processor's cache. A request that is answered within its native handler needs no
 * registration for an abort and no cork, so such requests are not put off.
 */
export class LateRequests<R extends { readonly exchange: Exchange }> {
  readonly #handle: (route: Route, request: R) => void;
  readonly #fault: (request: R, error: unknown) => void;
  readonly #routes: Route[] = [];
  readonly #requests: R[] = [];
  #isSet = false;

  /** `fault` is called with an exception of `handle`, which is a bug and is caught nowhere else. */
  constructor(
    handle: (route: Route, request: R) => void,
    fault: (request: R, error: unknown) => void,
  ) {
    this.#handle = handle;
    this.#fault = fault;
  }

  /**
   * Adds a request. It must have kept what is needed of the native one, which ends with its
   * handler.
   */
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
      // The client may have left meanwhile.
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
