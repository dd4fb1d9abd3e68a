/** Assembles streams of messages: their sessions, the route and the WebSockets. */
import { performance } from 'node:perf_hooks';
import { messageOf, type Log } from '../../log.js';
import { Exchange, type Traffic } from '../../http/exchange.js';
import { openStream, STREAM_PATH, streamRoute, type StreamServices } from './handler.js';
import { problemReply } from '../../http/problem.js';
import { isReply, type Reply, type Request } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { RawRequest, RawResponse, RawServer, SocketEvents } from '../../http/uws.js';
import { Sessions, type StreamTimes } from './sessions.js';
import { BEHIND_BYTES_MAX, CREDIT_BYTES, MESSAGE_BYTES_MAX } from './limit.js';
import type { SessionServices } from './services.js';
import { SocketLink } from './socket-link.js';

export interface OpenStreamOptions extends Omit<SessionServices, 'limits' | 'now'>, StreamTimes,
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

function requestOf(raw: RawResponse, native: RawRequest): Request {
  return {
    method: 'GET', path: STREAM_PATH, query: native.getQuery() ?? '', body: EMPTY,
    header: (name) => native.getHeader(name),
    client: () => Buffer.from(raw.getRemoteAddressAsText()).toString('latin1'),
  };
}

/** Opens the routes and what they need. */
export function openStreams(options: OpenStreamOptions): StreamParts {
  const { log, idleMs, resumeMs, clock = () => performance.now() } = options;
  const sessions = new Sessions({
    ...options, clock, now: Date.now,
    limits: { idleSeconds: idleMs / 1000, resumeSeconds: resumeMs / 1000 },
  });
  const services: StreamServices = { ...options, sessions };
  const upgrade = (
    raw: RawResponse, native: RawRequest, traffic: Traffic,
  ): SocketEvents | null => {
    const refuse = (reply: Reply): null => {
      new Exchange(raw, traffic).send(reply);
      return null;
    };
    try {
      const found = openStream(services, requestOf(raw, native));
      if (isReply(found)) return refuse(found);
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
    } catch (error) {
      log.error('handler failed', { path: STREAM_PATH, message: messageOf(error) });
      return refuse(problemReply({
        status: 500, detail: 'The service failed to answer.', instance: STREAM_PATH,
      }));
    }
  };
  return {
    route: streamRoute(services),
    sessions,
    attach: (server, traffic) => server.sockets(
      STREAM_PATH,
      { messageBytesMax: SOCKET_BYTES_MAX, bufferedBytesMax: BUFFERED_BYTES_MAX },
      (raw, native) => upgrade(raw, native, traffic),
    ),
    stop: () => sessions.stop(),
    close: () => sessions.close(),
  };
}
