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
import { KEY_HEADER } from '../../http/api-key.js';
import {
  gateRules, planNeeded, type Caller, type Gate,
} from '../../http/gate.js';
import { isReply, type Fields, type Reply, type Request } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { Sessions } from './sessions.js';
import { PostLink } from './post-link.js';
import type { StreamSession } from './session.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { duplexRoute } from '../../http/duplex-route.js';

export const STREAM_PATH = '/stream';

export interface StreamServices {
  readonly gate: Gate;
  readonly sessions: Sessions;
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

function opened(
  services: StreamServices, caller: Caller, text: string,
): StreamSession | Reply {
  const { sessions, gate } = services;
  const { key } = caller;
  const full = sessions.full(key.account);
  if (full !== null) {
    return caller.problem(full.own ? 429 : 503,
      `${full.limit} streams are open${full.own ? ' of this account' : ''}; try again later.`,
      undefined, { limit: full.limit });
  }
  const { releases } = sessions.options;
  const release = releases.pin();
  if (release === null) return caller.problem(503, 'No dataset is active.');
  releases.unpin(release);
  return sessions.enter(key, () => gate.known(text, RULES));
}

/** Opens or resumes a stream, or gives the refusal. */
export function openStream(services: StreamServices, request: Request): Opened | Reply {
  const caller = services.gate.admit(RULES, request);
  if (isReply(caller)) return caller;
  if (request.method === 'POST' && (!NDJSON.test(request.header('content-type'))
    || !/^(?:identity)?$/i.test(request.header('content-encoding')))) {
    return caller.problem(415, 'The body is application/x-ndjson, not packed.');
  }
  const query = new URLSearchParams(request.query);
  const token = query.get('resume');
  const session = token === null
    ? opened(services, caller, request.header(KEY_HEADER))
    : resumed(services.sessions, caller, token, query.get('from') ?? '');
  if (isReply(session)) return session;
  return {
    session, from: token === null ? 0 : Number(query.get('from')),
    fields: {
      ...caller.fields, 'X-Situs-Job': session.options.job, 'X-Situs-Engine': STREAM_ENGINE,
    },
  };
}

function post(services: StreamServices, request: Request, exchange: DuplexExchange): void {
  const found = openStream(services, request);
  if (isReply(found)) {
    exchange.send(found);
    return;
  }
  const { idleMs } = services.sessions.options;
  new PostLink(exchange, { ...found, idleMs, closed: () => undefined }).start();
}

/** The route of clients without WebSocket. */
export function streamRoute(services: StreamServices): Route {
  const { sessions, tickMs } = services;
  return duplexRoute('POST', STREAM_PATH, {
    idleMs: sessions.options.idleMs, atOnce: true,
    ...(tickMs === undefined ? {} : { tickMs }),
    open: (request, exchange) => post(services, request, exchange),
  });
}
