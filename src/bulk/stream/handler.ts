/**
 * POST /stream, and GET /stream as a WebSocket: lookups and carts in, answers out, for as long as
 * the client likes.
 *
 * In this order: the key, in the header alone (401), the rate window (429), the plan (403), the
 * content type (415, POST alone), the stream to resume (404, 410, 422), room for one more stream
 * (429, 503), a dataset (503). Opening takes one place in the rate window whatever is sent then;
 * each message counts for the quotas of the month like a request of its own.
 */
import { STREAM_ENGINE } from '../row/envelope.js';
import { isProblem } from '../../base/problem.js';
import { isPlaced, notKept, placeOf, type KeptServices } from '../../api/lookup/kept.js';
import type { KeyRecord } from '../../store/format.js';
import { placeRefusal } from '../run/handler.js';
import { keptRefusal } from '../run/kind.js';
import { readKeptRun, refused, type KeptRun } from '../run/request.js';
import { KEY_HEADER } from '../../http/api-key.js';
import { askAhead } from '../../http/ask-window.js';
import {
  gateRules, planNeeded, type Caller, type Gate,
} from '../../http/gate.js';
import { isReply, type Fields, type Reply, type Request } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import { Sessions, type StreamTimes } from './sessions.js';
import { PostLink, SocketLink } from './session-links.js';
import type { StreamSession } from './session.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { duplexRoute } from '../../http/duplex-route.js';
import { performance } from 'node:perf_hooks';
import { messageOf, type Log } from '../../log.js';
import { Exchange, type Traffic } from '../../http/exchange.js';
import { problemReply } from '../../http/problem-reply.js';
import type { RawRequest, RawResponse, RawServer, SocketEvents } from '../../http/transport.js';
import { BEHIND_BYTES_MAX, CREDIT_BYTES, MESSAGE_BYTES_MAX } from './stream-limits.js';
import type { SessionServices } from './session-options.js';

const STREAM_PATH = '/stream';

export interface StreamServices {
  readonly gate: Gate;
  readonly sessions: Sessions;
  /** Opens releases by their names; without it no release but the active one answers. */
  readonly kept?: Pick<KeptServices, 'ask' | 'log'>;
  /** Replaced in tests: how often a slow upload is kept from being cut. */
  readonly tickMs?: number;
}

/** A stream that may begin or go on. */
export interface Opened {
  readonly session: StreamSession;
  /** Answers from the one after this on are sent. */
  readonly from: number;
  readonly fields: Fields;
}

const RULES = gateRules(STREAM_PATH, {
  headerOnly: true, planRefusal: planNeeded('bulk', 'Streams need'),
});

const NO_RECEIPTS = refused(422,
  'A stream has no receipts; that of a message is had by its own request.', 'query.receipt');
const SEQ = /^\d{1,15}$/;
const NDJSON = /^application\/x-ndjson(?:\s*;|$)/i;

function resumed(
  sessions: Sessions, caller: Caller, token: string, from: string,
): StreamSession | Reply {
  const session = sessions.find(token, caller.key.id);
  if (session === null) {
    return caller.problem(404, 'The key has no such stream, or the time to resume it is over.');
  }
  if (!SEQ.test(from)) {
    return caller.problem(
      422, 'Parameter from: the number of the last answer that came, 0 for none.',
    );
  }
  switch (session.cannotResume(Number(from))) {
    case 'beyond': return caller.problem(422, 'Parameter from: no such answer was sent.');
    case 'forgotten': return caller.problem(410, 'Answers after this one are not kept any more.');
    case null: return session;
  }
}

function full({ sessions }: StreamServices, caller: Caller): Reply | null {
  const found = sessions.full(caller.key.account);
  return found === null ? null : caller.problem(found.own ? 429 : 503,
    `${found.limit} streams are open${found.own ? ' of this account' : ''}; try again later.`,
    undefined, { limit: found.limit });
}

function opened(
  services: StreamServices, caller: Caller, query: URLSearchParams, text: string,
): StreamSession | Reply | Promise<StreamSession | Reply> {
  const { sessions, gate } = services;
  const asked = query.has('receipt') ? NO_RECEIPTS : readKeptRun({
    dataset: query.get('dataset') || null, at: query.get('at') || null,
  });
  if (isProblem(asked)) return caller.problem(asked.status, asked.detail, asked.errors);
  const unentitled = keptRefusal(caller.key, asked);
  if (unentitled !== null) return caller.problem(403, unentitled);
  const refusal = full(services, caller);
  if (refusal !== null) return refusal;
  const known = (): KeyRecord | null => gate.known(text, RULES);
  if (asked.kept !== undefined) return openedKept(services, caller, asked.kept, known);
  const { releases } = sessions.options;
  const release = releases.pin();
  if (release === null) return caller.problem(503, 'No rates are loaded now; try again later.');
  releases.unpin(release);
  return sessions.enter(caller.key, known);
}

/** Opens a stream that a kept release answers, once that is open. */
async function openedKept(
  services: StreamServices, caller: Caller, { dataset, atMs }: KeptRun,
  known: () => KeyRecord | null,
): Promise<StreamSession | Reply> {
  const { sessions, kept } = services;
  const placed = kept === undefined ? notKept(dataset) : await placeOf(kept, { dataset, atMs });
  if (!isPlaced(placed)) {
    const { status, detail } = placeRefusal(placed, dataset);
    return caller.problem(status, detail, [{ location: 'query.dataset', message: detail }]);
  }
  const { release } = placed;
  if (release === null) throw new Error('a release was named');
  const refusal = full(services, caller);
  if (refusal === null) return sessions.enter(caller.key, known, { release, atMs });
  sessions.options.releases.unpin(release);
  return refusal;
}

/** Opens or resumes a stream, or gives the refusal. */
function openStream(
  services: StreamServices, request: Request,
): Opened | Reply | Promise<Opened | Reply> {
  const caller = services.gate.admit(RULES, request);
  if (isReply(caller)) return caller;
  if (request.method === 'POST' && (!NDJSON.test(request.header('content-type'))
    || !/^(?:identity)?$/i.test(request.header('content-encoding')))) {
    return caller.problem(415, 'The body is application/x-ndjson, not packed.');
  }
  const query = new URLSearchParams(request.query);
  const token = query.get('resume');
  const session = token === null
    ? opened(services, caller, query, request.header(KEY_HEADER))
    : resumed(services.sessions, caller, token, query.get('from') ?? '');
  const from = token === null ? 0 : Number(query.get('from'));
  const told = (found: StreamSession | Reply): Opened | Reply => (isReply(found) ? found : {
    session: found, from,
    fields: {
      ...caller.fields, 'X-Situs-Job': found.options.name, 'X-Situs-Engine': STREAM_ENGINE,
    },
  });
  return session instanceof Promise ? session.then(told) : told(session);
}

function post(services: StreamServices, request: Request, exchange: DuplexExchange): void {
  const begin = (found: Opened | Reply): void => {
    if (isReply(found)) return exchange.send(found);
    const { idleMs } = services.sessions.options;
    new PostLink(exchange, { ...found, idleMs, closed: () => undefined }).start();
  };
  const found = openStream(services, request);
  if (!(found instanceof Promise)) return begin(found);
  // What comes of the body meanwhile waits for its turn.
  exchange.pause();
  void found.catch(() => FAULT).then((later) => {
    exchange.resume();
    begin(later);
  });
}

/** The route of clients without WebSocket. */
function streamRoute(services: StreamServices): Route {
  const { sessions, tickMs } = services;
  return duplexRoute('POST', STREAM_PATH, {
    idleMs: sessions.options.idleMs, atOnce: true,
    ...(tickMs === undefined ? {} : { tickMs }),
    open: (request, exchange) => post(services, request, exchange),
  }, services.gate.asking(RULES));
}

/** The answer to a fault of the program. */
const FAULT = problemReply({
  status: 500, detail: 'The service failed to answer.', instance: STREAM_PATH,
});

interface OpenStreamOptions extends Omit<SessionServices, 'limits' | 'now'>, StreamTimes,
  Omit<StreamServices, 'sessions'> {
  readonly log: Log;
  /** Replaced in tests. */
  readonly clock?: () => number;
}

export interface StreamParts {
  readonly route: Route;
  readonly sessions: Sessions;
  /** Takes WebSockets; before the routes are attached. */
  attach(server: RawServer, traffic: Traffic): void;
  /** Ends every stream with its trailer. */
  stop(): void;
  close(): void;
}

/** A longer message cuts the connection; one in between is told with a close code. */
const SOCKET_BYTES_MAX = 4 * MESSAGE_BYTES_MAX;
/** Never reached by what is sent only to clients that keep up. */
const BUFFERED_BYTES_MAX = BEHIND_BYTES_MAX + 64 * CREDIT_BYTES;

const EMPTY = new Uint8Array(0);

/** A request that may be asked for its key when the native one has gone. */
function requestOf(raw: RawResponse, native: RawRequest): Request {
  const key = native.getHeader(KEY_HEADER);
  const client = Buffer.from(raw.getRemoteAddressAsText()).toString('latin1');
  return {
    method: 'GET', path: STREAM_PATH, query: native.getQuery() ?? '', body: EMPTY,
    header: (name) => (name === KEY_HEADER ? key : ''), client: () => client,
  };
}

/**
 * Takes a WebSocket when a shared window has answered or a release is open, unless its client has
 * gone by then.
 */
function laterUpgrade(
  raw: RawResponse, asked: Promise<Opened | Reply>,
  decide: (found: Opened | Reply) => SocketEvents | null, accept: (events: SocketEvents) => void,
): void {
  let gone = false;
  raw.onAborted(() => {
    gone = true;
  });
  void asked.then((found) => {
    const events = gone ? null : decide(found);
    if (events !== null) accept(events);
  });
}

/** Opens the routes and what they need. */
export function openStreams(options: OpenStreamOptions): StreamParts {
  const { log, idleMs, resumeMs, clock = () => performance.now() } = options;
  const sessions = new Sessions({
    ...options, clock, now: Date.now,
    limits: { idleSeconds: idleMs / 1000, resumeSeconds: resumeMs / 1000 },
  });
  const services: StreamServices = { ...options, sessions };
  const ask = options.gate.asking(RULES);
  const fault = (error: unknown): Reply => {
    log.error('handler failed', { path: STREAM_PATH, message: messageOf(error) });
    return FAULT;
  };
  const open = (request: Request): ReturnType<typeof openStream> => {
    try {
      return openStream(services, request);
    } catch (error) {
      return fault(error);
    }
  };
  const link = (raw: RawResponse, traffic: Traffic, found: Opened | Reply): SocketEvents | null => {
    if (isReply(found)) {
      new Exchange(raw, traffic).send(found);
      return null;
    }
    const { session, from } = found;
    return new SocketLink({
      session, from, clock, idleMs,
      opened: () => {
        traffic.open += 1;
      },
      closed: () => {
        traffic.open -= 1;
      },
    });
  };
  return {
    route: streamRoute(services),
    sessions,
    attach: (server, traffic) => server.sockets(
      STREAM_PATH,
      { messageBytesMax: SOCKET_BYTES_MAX, bufferedBytesMax: BUFFERED_BYTES_MAX },
      (raw, native, accept) => {
        const request = requestOf(raw, native);
        const asked = askAhead(ask, request);
        const opened = (taken: number): ReturnType<typeof open> => open({ ...request, taken });
        const found = asked === null ? open(request)
          : typeof asked === 'number' ? opened(asked) : asked.then(opened);
        if (found instanceof Promise) {
          const later = found.catch(fault);
          laterUpgrade(raw, later, (each) => link(raw, traffic, each), accept);
          return;
        }
        const events = link(raw, traffic, found);
        if (events !== null) accept(events);
      },
    ),
    stop: () => sessions.stop(),
    close: () => sessions.close(),
  };
}
