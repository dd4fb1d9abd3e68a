/**
 * POST /stream, and GET /stream as a WebSocket: lookups and carts in, answers out, for as long as
 * the client likes.
 *
 * In this order: the key, in the header alone (401), the rate window (429), the plan (403), the
 * content type (415, POST alone), the stream to resume (404, 410, 422), room for one more stream
 * (429, 503), a dataset (503). Opening takes one place in the rate window whatever is sent then;
 * each message counts for the quotas of the month like a request of its own.
 */
import type { KeyRecord } from '../../store/format.js';
import { PLAN_TERMS } from '../../store/plan.js';
import { STREAM_ENGINE } from '../../wire/bulk/stream-header.js';
import type { WireObject } from '../../wire/tree.js';
import { KEY_HEADER } from '../api-key.js';
import { codedProblem } from '../coded-problem.js';
import { problemReply } from '../problem.js';
import { rateFieldsOf } from '../rate-fields.js';
import { LIMIT_HEADER, REFUSED, REMAINING_HEADER, type RateGate } from '../rate-limit.js';
import type { Fields, Reply, Request } from '../reply.js';
import type { Route } from '../router.js';
import type { StreamDesk } from '../socket/desk.js';
import { PostLink } from '../socket/post-link.js';
import type { StreamSession } from '../socket/session.js';
import type { Status } from '../status.js';
import type { StreamExchange } from '../stream-exchange.js';
import { streamsOnly } from '../stream-route.js';

export const STREAM_PATH = '/stream';

export interface StreamServices {
  /** Null for a key that is malformed, unknown or disabled alike. */
  findKey(text: string): KeyRecord | null;
  readonly gate: RateGate;
  readonly desk: StreamDesk;
  readonly baseUrl: string;
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

/** Tells a refusal from a stream. */
export function isRefused(found: Opened | Reply): found is Reply {
  return 'head' in found;
}

const SEQ = /^\d{1,15}$/;
const NDJSON = /^application\/x-ndjson(?:\s*;|$)/i;

type Refuse = (status: Status, detail: string, members?: WireObject) => Reply;

function resumed(
  desk: StreamDesk, key: KeyRecord, token: string, from: string, refuse: Refuse,
): StreamSession | Reply {
  const session = desk.find(token, key.id);
  if (session === null) {
    return refuse(404, 'The key has no such stream, or the time to resume it is over.');
  }
  if (!SEQ.test(from)) {
    return refuse(422, 'Parameter from: the number of the last answer that came, 0 for none.');
  }
  switch (session.cannotResume(Number(from))) {
    case 'beyond': return refuse(422, 'Parameter from: no such answer was sent.');
    case 'forgotten': return refuse(410, 'Answers after this one are not kept any more.');
    case null: return session;
  }
}

function opened(
  services: StreamServices, key: KeyRecord, text: string, refuse: Refuse,
): StreamSession | Reply {
  const { desk, findKey } = services;
  const full = desk.full(key.account);
  if (full !== null) {
    return refuse(full.own ? 429 : 503,
      `${full.limit} streams are open${full.own ? ' of this account' : ''}; try again later.`,
      { limit: full.limit });
  }
  const { releases } = desk.options;
  const release = releases.pin();
  if (release === null) return refuse(503, 'No dataset is active.');
  releases.unpin(release);
  return desk.enter(key, () => findKey(text));
}

/** Opens or resumes a stream, or gives the refusal. */
export function openStream(services: StreamServices, request: Request): Opened | Reply {
  const { gate, desk, baseUrl } = services;
  const text = request.header(KEY_HEADER);
  const key = services.findKey(text);
  if (key === null) {
    return codedProblem('invalid-key', STREAM_PATH, baseUrl, rateFieldsOf(gate, null));
  }
  const remaining = gate.take(key);
  const fields = {
    [LIMIT_HEADER]: key.rate, [REMAINING_HEADER]: remaining === REFUSED ? 0 : remaining,
  };
  if (remaining === REFUSED) return codedProblem('rate-limited', STREAM_PATH, baseUrl, fields);
  const refuse: Refuse = (status, detail, members = {}) => problemReply(
    { status, detail, instance: STREAM_PATH, members }, fields,
  );
  if (!PLAN_TERMS[key.plan].bulk) return refuse(403, 'Streams need the Pro or Enterprise plan.');
  if (request.method === 'POST' && (!NDJSON.test(request.header('content-type'))
    || !/^(?:identity)?$/i.test(request.header('content-encoding')))) {
    return refuse(415, 'The body is application/x-ndjson, not packed.');
  }
  const query = new URLSearchParams(request.query);
  const token = query.get('resume');
  const session = token === null
    ? opened(services, key, text, refuse)
    : resumed(desk, key, token, query.get('from') ?? '', refuse);
  if ('head' in session) return session;
  return {
    session, from: token === null ? 0 : Number(query.get('from')),
    fields: { ...fields, 'X-Situs-Job': session.options.job, 'X-Situs-Engine': STREAM_ENGINE },
  };
}

function post(services: StreamServices, request: Request, exchange: StreamExchange): void {
  const found = openStream(services, request);
  if (isRefused(found)) {
    exchange.send(found);
    return;
  }
  const { idleMs } = services.desk.options;
  new PostLink(exchange, { ...found, idleMs, closed: () => undefined }).start();
}

/** The route of clients without WebSocket. */
export function streamRoute(services: StreamServices): Route {
  const { desk, tickMs } = services;
  return {
    method: 'POST', path: STREAM_PATH, bodyBytesMax: 0, deadlineMs: 0, handle: streamsOnly,
    stream: {
      idleMs: desk.options.idleMs, atOnce: true,
      ...(tickMs === undefined ? {} : { tickMs }),
      open: (request, exchange) => post(services, request, exchange),
    },
  };
}
