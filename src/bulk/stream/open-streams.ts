/** Assembles POST /stream and GET /stream: the sessions, their routes and WebSockets. */
import { NO_BYTES } from '../../base/growing-bytes.js';
import { KEY_HEADER } from '../../http/api-key.js';
import { noteCaller, type RequestNote } from '../../http/front.js';
import { askAhead } from '../../http/ask-window.js';
import { isReply, type Reply, type Request } from '../../http/reply.js';
import type { Route, Router } from '../../http/router.js';
import {
  FAULT,
  type Opened,
  openStream,
  STREAM_PATH,
  STREAM_RULES,
  plainRoute,
  streamRoute,
  type StreamServices,
} from './handler.js';
import { Sessions, type StreamTimes } from './sessions.js';
import { SocketLink } from './session-links.js';
import { performance } from 'node:perf_hooks';
import { keyPrefix } from '../../store/keys.js';
import { messageOf, type Log } from '../../log.js';
import { Exchange, type Traffic } from '../../http/exchange.js';
import type { RawRequest, RawResponse, RawServer, SocketEvents } from '../../http/transport.js';
import {
  BEHIND_BYTES_MAX,
  CREDIT_BYTES,
  MESSAGE_BYTES_MAX,
  type SessionServices,
} from './session-options.js';

interface OpenStreamOptions
  extends Omit<SessionServices, 'limits' | 'now'>,
    StreamTimes,
    Omit<StreamServices, 'sessions'> {
  readonly log: Log;
  /** A clock that tests use instead. */
  readonly clock?: () => number;
}

export interface StreamParts {
  readonly routes: readonly Route[];
  readonly sessions: Sessions;
  /** Accepts WebSockets; to be called before the routes are attached. */
  attach(server: RawServer, router: Pick<Router, 'traffic' | 'operationOf'>): void;
  /** Ends every stream with its trailer. */
  stop(): void;
  close(): void;
}

/**
 * A message that is even longer cuts the connection; one between the limits ends the stream with a
 * close code.
 */
const SOCKET_BYTES_MAX = 4 * MESSAGE_BYTES_MAX;
/** Never reached, since lines are sent only to clients that keep up. */
const BUFFERED_BYTES_MAX = BEHIND_BYTES_MAX + 64 * CREDIT_BYTES;

/** A request from which the key and the client can be read after the native request is gone. */
function requestOf(raw: RawResponse, native: RawRequest): Request {
  const key = native.getHeader(KEY_HEADER);
  const client = Buffer.from(raw.getRemoteAddressAsText()).toString('latin1');
  return {
    method: 'GET',
    path: STREAM_PATH,
    query: native.getQuery() ?? '',
    body: NO_BYTES,
    header: (name) => (name === KEY_HEADER ? key : ''),
    client: () => client,
  };
}

/**
 * Accepts a WebSocket once a shared rate window has answered or a release is open, unless the
 * client is gone by then.
 */
function laterUpgrade(
  raw: RawResponse,
  asked: Promise<Opened | Reply>,
  decide: (found: Opened | Reply) => SocketEvents | null,
  accept: (events: SocketEvents) => void,
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

/** What is known of a handshake before it is decided about. */
interface Handshake {
  readonly clock: () => number;
  readonly idleMs: number;
  readonly traffic: Traffic;
  /** Index of the operation. */
  readonly operation: number;
  readonly note: RequestNote | null;
}

/** Notes a handshake as any other request, for the case that it is refused. */
function noteOf(
  { front }: Traffic,
  raw: RawResponse,
  native: RawRequest,
  key: string,
): RequestNote | null {
  const note = front?.note('GET', raw, native) ?? null;
  if (note !== null && key !== '') noteCaller(note, keyPrefix(key), '', key);
  return note;
}

/** The events of a WebSocket that may go on; null where it was refused. */
function link(
  { clock, idleMs, traffic, operation, note }: Handshake,
  raw: RawResponse,
  found: Opened | Reply,
): SocketEvents | null {
  if (isReply(found)) {
    const exchange = new Exchange(raw, traffic, { operation });
    exchange.note = note;
    exchange.send(found);
    return null;
  }
  const { session, from } = found;
  return new SocketLink({
    session,
    from,
    clock,
    idleMs,
    opened: () => {
      traffic.open += 1;
    },
    closed: () => {
      traffic.open -= 1;
    },
  });
}

/** Opens the routes of streams and what they need. */
export function openStreams(options: OpenStreamOptions): StreamParts {
  const { log, idleMs, resumeMs, clock = () => performance.now() } = options;
  const sessions = new Sessions({
    ...options,
    clock,
    now: Date.now,
    limits: { idleSeconds: idleMs / 1000, resumeSeconds: resumeMs / 1000 },
  });
  const services: StreamServices = { ...options, sessions };
  const ask = options.gate.asking(STREAM_RULES);
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
  const handshakes = plainRoute(services);
  return {
    routes: [streamRoute(services), handshakes],
    sessions,
    attach: (server, { traffic, operationOf }) =>
      server.sockets(
        STREAM_PATH,
        { messageBytesMax: SOCKET_BYTES_MAX, bufferedBytesMax: BUFFERED_BYTES_MAX },
        (raw, native, accept) => {
          const request = requestOf(raw, native);
          const note = noteOf(traffic, raw, native, request.header(KEY_HEADER));
          const handshake = { clock, idleMs, traffic, operation: operationOf(handshakes), note };
          const asked = askAhead(ask, request);
          const opened = (taken: number): ReturnType<typeof open> => open({ ...request, taken });
          const found =
            asked === null
              ? open(request)
              : typeof asked === 'number'
                ? opened(asked)
                : asked.then(opened);
          if (found instanceof Promise) {
            const later = found.catch(fault);
            laterUpgrade(raw, later, (each) => link(handshake, raw, each), accept);
            return;
          }
          const events = link(handshake, raw, found);
          if (events !== null) accept(events);
        },
      ),
    stop: () => sessions.stop(),
    close: () => sessions.close(),
  };
}
