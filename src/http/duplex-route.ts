/**
 * Makes routes whose body and answer are open at the same time, and routes behind the gate or for
 * everybody.
 */
import { performance } from 'node:perf_hooks';
import { NO_BYTES } from '../base/growing-bytes.js';
import { messageOf, type Log } from '../log.js';
import { askAhead, type AskWindow } from './ask-window.js';
import { DuplexExchange } from './duplex-exchange.js';
import type { Traffic } from './exchange.js';
import { addressOf, noteCaller, type RequestNote } from './front.js';
import type { Caller, Gate, GateRules } from './gate.js';
import { FAULT_DETAIL, problemReply } from './problem-reply.js';
import {
  type Answerer,
  type DuplexLimits,
  isReply,
  type RefusalFields,
  type Reply,
  type Request,
} from './reply.js';
import type { Route } from './router.js';
import type { RawRequest, RawResponse } from './transport.js';

/** How a duplex route is handled. */
export interface DuplexHandling extends DuplexLimits {
  /**
   * Called with the head of the request. The handler passes to `exchange.listen` what is to be
   * called with the body.
   */
  open(request: Request, exchange: DuplexExchange): void;
}

/** A route whose handler reads the body and writes the answer as it likes. */
export function duplexRoute(
  method: Route['method'],
  path: string,
  duplex: DuplexHandling,
  ask: AskWindow | null = null,
): Route {
  return {
    method,
    path,
    bodyBytesMax: 0,
    deadlineMs: 0,
    duplex,
    ask,
    handle: () => {
      throw new Error(`${path} is answered while its body comes`);
    },
  };
}

/** A GET route that answers everybody at once. */
export function openRoute(path: string, reply: () => Reply): Route {
  return {
    method: 'GET',
    path,
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => answer.send(reply()),
  };
}

/** A route without a body. `handle` answers callers that the gate admits, at once or later. */
export function gatedRoute(
  gate: Gate,
  rules: GateRules,
  { method, path, deadlineMs = 0 }: Pick<Route, 'method' | 'path'> & Partial<Route>,
  handle: (caller: Caller, request: Request, answer: Answerer) => void,
): Route {
  return {
    method,
    path,
    bodyBytesMax: 0,
    deadlineMs,
    ask: gate.asking(rules),
    handle: (request, answer) => {
      const caller = gate.admit(rules, request);
      if (isReply(caller)) answer.send(caller);
      else handle(caller, request, answer);
    },
  };
}

/** A duplex route for callers that the gate admits. */
export function gatedDuplexRoute(
  gate: Gate,
  rules: GateRules,
  { method, path, idleMs }: Pick<Route, 'method' | 'path'> & DuplexLimits,
  open: (caller: Caller, request: Request, exchange: DuplexExchange) => void,
): Route {
  const admitted = (request: Request, exchange: DuplexExchange): void => {
    const caller = gate.admit(rules, request);
    if (isReply(caller)) exchange.send(caller);
    else open(caller, request, exchange);
  };
  return duplexRoute(method, path, { idleMs, open: admitted }, gate.asking(rules));
}

type DuplexTarget = Pick<Request, 'method' | 'path'>;

/**
 * Fields whose values are lists, so that several fields of that name count as one (RFC 9110, 5.3).
 */
const LISTS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'if-none-match',
]);

/** The fields of a head. Of other fields that are repeated the first counts, as everywhere. */
function headersOf(native: RawRequest): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  native.forEach((name, value) => {
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    else if (LISTS.has(name)) headers.set(name, `${before}, ${value}`);
  });
  return headers;
}

/** Notes for the log whose request it is. */
function identifying(note: RequestNote | null): NonNullable<Request['identified']> {
  return (keyPrefix, keyless, key) => {
    if (note !== null) noteCaller(note, keyPrefix, keyless, key);
  };
}

/** Opens an exchange. An exception of its handler is a bug and is answered with 500. */
export function openDuplex(
  handling: DuplexHandling,
  { method, path }: DuplexTarget,
  raw: RawResponse,
  native: RawRequest,
  traffic: Traffic,
  log: Log,
  fieldsOf: RefusalFields,
  operation = 0,
  note: RequestNote | null = null,
  ask: AskWindow | null = null,
): void {
  const { front } = traffic;
  const began = performance.now();
  const headers = headersOf(native);
  const address = addressOf(raw);
  const forwarded = front?.forwarded(native) ?? '';
  const client = front?.clientOf(address, forwarded) ?? address;
  const request: Request = {
    method,
    path,
    query: native.getQuery() ?? '',
    body: NO_BYTES,
    header: (name) => headers.get(name) ?? '',
    client: () => client,
    isProxied: forwarded !== '',
    identified: identifying(note),
  };
  const fault = (error: unknown): Reply => {
    log.error('handler failed', { path, message: messageOf(error) });
    return problemReply({ status: 500, detail: FAULT_DETAIL }, path, fieldsOf(request));
  };
  const exchange = new DuplexExchange(raw, traffic, handling, fault, {
    bodiless: method === 'HEAD',
    ...(note === null ? {} : { extra: note.extra }),
    ended: (answered) => {
      if (front?.watches !== true) return;
      front.ended({ operation, note }, answered, performance.now() - began);
    },
  });
  const open = (asked: Request): void => {
    try {
      handling.open(asked, exchange);
    } catch (error) {
      exchange.send(fault(error));
    }
  };
  const asked = askAhead(ask, request);
  if (asked === null) return open(request);
  if (typeof asked === 'number') return open({ ...request, taken: asked });
  // The body waits until the window has answered.
  exchange.pause();
  void asked.then((taken) => {
    exchange.resume();
    if (exchange.raw !== null) open({ ...request, taken });
  });
}
