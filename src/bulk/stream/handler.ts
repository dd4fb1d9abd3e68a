/**
 * POST /stream, and GET /stream as a WebSocket: a client sends lookups and carts and receives
 * answers, for as long as it likes.
 *
 * Opening checks in this order: the key, which must be in the header (401), the rate window (429),
 * the plan (403), the content type (415) or the upgrade (426), the stream to resume (404, 410,
 * 422), the number of open streams (429, 503), a dataset (503). Opening counts as one request in
 * the rate window, however many messages follow; each message counts for the quotas of the month
 * like a request of its own.
 */
import { STREAM_ENGINE } from '../row/envelope.js';
import { isProblem } from '../../base/problem.js';
import { isFailure } from '../../failure.js';
import { keptRefusal, notKept, placeOf, type KeptServices } from '../../api/lookup/kept.js';
import type { KeyRecord } from '../../store/format.js';
import { fullRefusal, placeRefusal } from '../run/handler.js';
import { type KeptRun, NO_RATES, readKeptRun, refused } from '../run/request.js';
import { KEY_HEADER } from '../../http/api-key.js';
import { gateRules, planNeeded, type Caller, type Gate } from '../../http/gate.js';
import { type Fields, isReply, OWN_HEADERS, type Reply, type Request } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { Sessions } from './sessions.js';
import { PostLink } from './session-links.js';
import type { StreamSession } from './session.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { duplexRoute, gatedRoute } from '../../http/duplex-route.js';
import { FAULT_DETAIL, problemReply } from '../../http/problem-reply.js';

export const STREAM_PATH = '/stream';

export interface StreamServices {
  readonly gate: Gate;
  readonly sessions: Sessions;
  /** Opens kept releases by their names. Without this, only the active release answers. */
  readonly kept?: Pick<KeptServices, 'ask' | 'log'>;
  /** How often a slow upload is kept from being cut; tests replace this. */
  readonly tickMs?: number;
}

/** A stream that a connection may begin or resume. */
export interface Opened {
  readonly session: StreamSession;
  /** Number of the last answer that the client has; later answers are sent. */
  readonly from: number;
  readonly fields: Fields;
}

/** The rules of the gate for streams. */
export const STREAM_RULES = gateRules(STREAM_PATH, {
  headerOnly: true,
  planRefusal: planNeeded('bulk', 'Streams need'),
});

const NO_RECEIPTS = refused(
  422,
  'A stream has no receipts; that of a message is had by its own request.',
  'query.receipt',
);
const SEQ = /^\d{1,15}$/;
const NDJSON = /^application\/x-ndjson(?:\s*;|$)/i;

function resumed(
  sessions: Sessions,
  caller: Caller,
  token: string,
  from: string,
): StreamSession | Reply {
  const session = sessions.find(token, caller.key.id);
  if (session === null) {
    return caller.problem(404, 'The key has no such stream, or the time to resume it is over.');
  }
  if (!SEQ.test(from)) {
    return caller.problem(
      422,
      'Parameter from: the number of the last answer that came, 0 for none.',
    );
  }
  switch (session.cannotResume(Number(from))) {
    case 'beyond':
      return caller.problem(422, 'Parameter from: no such answer was sent.');
    case 'forgotten':
      return caller.problem(410, 'Answers after this one are not kept any more.');
    case null:
      return session;
  }
}

function full({ sessions }: StreamServices, caller: Caller): Reply | null {
  const refusal = fullRefusal(sessions.full(caller.key.account), 'streams');
  return refusal === null ? null : caller.refuse(refusal);
}

function opened(
  services: StreamServices,
  caller: Caller,
  query: URLSearchParams,
  text: string,
): StreamSession | Reply | Promise<StreamSession | Reply> {
  const { sessions, gate } = services;
  const asked = query.has('receipt')
    ? NO_RECEIPTS
    : readKeptRun({
        dataset: query.get('dataset') || null,
        at: query.get('at') || null,
      });
  if (isProblem(asked)) return caller.refuse(asked);
  const unentitled = keptRefusal(caller.key.grants, asked.kept?.dataset);
  if (unentitled !== null) return caller.refuse(unentitled);
  const refusal = full(services, caller);
  if (refusal !== null) return refusal;
  const known = (): KeyRecord | null => gate.known(text, STREAM_RULES);
  if (asked.kept !== undefined) return openedKept(services, caller, asked.kept, known);
  const { releases } = sessions.options;
  const release = releases.pin();
  if (release === null) return caller.problem(503, NO_RATES);
  releases.unpin(release);
  return sessions.enter(caller.key, known);
}

/** Opens a stream that is answered from a kept release, once that release is open. */
async function openedKept(
  services: StreamServices,
  caller: Caller,
  { dataset, atMs }: KeptRun,
  known: () => KeyRecord | null,
): Promise<StreamSession | Reply> {
  const { sessions, kept } = services;
  const placed = kept === undefined ? notKept(dataset) : await placeOf(kept, { dataset, atMs });
  if (isFailure(placed)) return caller.refuse(placeRefusal(placed, dataset));
  const { release } = placed;
  if (release === null) throw new Error('a release was named');
  const refusal = full(services, caller);
  if (refusal === null) return sessions.enter(caller.key, known, { release, atMs });
  sessions.options.releases.unpin(release);
  return refusal;
}

/** Opens or resumes a stream, or refuses it. */
export function openStream(
  services: StreamServices,
  request: Request,
): Opened | Reply | Promise<Opened | Reply> {
  const caller = services.gate.admit(STREAM_RULES, request);
  if (isReply(caller)) return caller;
  if (
    request.method === 'POST' &&
    (!NDJSON.test(request.header('content-type')) ||
      !/^(?:identity)?$/i.test(request.header('content-encoding')))
  ) {
    return caller.problem(415, 'The body is application/x-ndjson, not packed.');
  }
  const query = new URLSearchParams(request.query);
  const token = query.get('resume');
  const session =
    token === null
      ? opened(services, caller, query, request.header(KEY_HEADER))
      : resumed(services.sessions, caller, token, query.get('from') ?? '');
  const from = token === null ? 0 : Number(query.get('from'));
  const told = (found: StreamSession | Reply): Opened | Reply =>
    isReply(found)
      ? found
      : {
          session: found,
          from,
          fields: {
            ...caller.fields,
            [OWN_HEADERS.job]: found.options.name,
            [OWN_HEADERS.engine]: STREAM_ENGINE,
          },
        };
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
  // The body waits in the meantime.
  exchange.pause();
  void found
    .catch(() => FAULT)
    .then((later) => {
      exchange.resume();
      begin(later);
    });
}

/** The route of streams over POST, for clients without WebSocket. */
export function streamRoute(services: StreamServices): Route {
  const { sessions, tickMs } = services;
  return duplexRoute(
    'POST',
    STREAM_PATH,
    {
      idleMs: sessions.options.idleMs,
      atOnce: true,
      ...(tickMs === undefined ? {} : { tickMs }),
      open: (request, exchange) => post(services, request, exchange),
    },
    services.gate.asking(STREAM_RULES),
  );
}

/** Answers a GET without an upgrade. Requests with an upgrade do not reach the routes. */
export function plainRoute({ gate }: StreamServices): Route {
  const asked = { method: 'GET', path: STREAM_PATH } as const;
  return gatedRoute(gate, STREAM_RULES, asked, (caller, _, answer) => {
    const detail =
      'By GET a stream is a WebSocket of version 13, which the request has to ask for.';
    const fields = { ...caller.fields, Upgrade: 'websocket', Connection: 'Upgrade' };
    answer.send(problemReply({ status: 426, detail }, STREAM_PATH, fields));
  });
}

/** The answer where the program failed. */
export const FAULT = problemReply({ status: 500, detail: FAULT_DETAIL }, STREAM_PATH);
