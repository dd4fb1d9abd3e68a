/**
 * GET /data/tic, the public catalogue of product codes, and POST /search/tic, which ranks them for
 * a description. A search takes some fifty microseconds, less than the way to a worker and back, so
 * both are answered here.
 */
import { isProblem } from '../../base/problem.js';
import { fail } from '../../failure.js';
import { formatStated } from '../lookup/query.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import { ticSearchBody } from './code-bodies.js';
import { parseTicQuery, TIC_BODY_BYTES_MAX } from './search-shape.js';
import { CATALOGUE_RATE, type ClientGate } from '../../http/client-limit.js';
import {
  gateRules, rateFields, type Caller, type Gate, type GateKey,
} from '../../http/gate.js';
import { problemReply, type ProblemDocument } from '../../http/problem-reply.js';
import { REFUSED } from '../../http/rate-limit.js';
import {
  handleOf, headOf, isReply, JSON_TYPE, XML_TYPE, type Admit, type Reply, type Request,
} from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';
import type { RenderFailure } from '../lookup/handler.js';
import type { TicPages } from './pages.js';

const SEARCH_PATH = '/search/tic';

export interface TicServices {
  readonly gate: Gate<GateKey>;
  readonly baseUrl: string;
  readonly clients: ClientGate;
  /** Null when the dataset has no codes. */
  pages(): TicPages | null;
  readonly renderFailure: RenderFailure;
}

function noCodes(instance: string): ProblemDocument {
  return { status: 503, detail: 'No product codes are loaded.', instance };
}

/** The catalogue for one client. */
function ticListReply(services: TicServices, request: Request): Reply {
  const { path, query } = request;
  const remaining = services.clients.take(request.client());
  const fields = rateFields(CATALOGUE_RATE, remaining === REFUSED ? 0 : remaining);
  const format = formatStated(query);
  const head = headOf(format === 'xml' ? XML_TYPE : JSON_TYPE, fields);
  if (remaining === REFUSED) {
    const failure = fail('rate-limited');
    const body = services.renderFailure(60, failure, format ?? 'json', services.baseUrl);
    return { status: RESPONSE_CODES['rate-limited'].http, head, body };
  }
  if (format === null) {
    return problemReply({
      status: 422, detail: 'validation failed', instance: path,
      errors: [{ location: 'query.format', message: 'expected json or xml' }],
    }, fields);
  }
  const pages = services.pages();
  return pages === null
    ? problemReply(noCodes(path), fields) : { status: 200, head, body: pages.list[format] };
}

/** The codes for the description in a body. */
function searchReply(
  services: TicServices, { path, body }: Request, caller: Caller<GateKey>,
): Reply {
  const parsed = parseTicQuery(body);
  if (isProblem(parsed)) return caller.refuse(parsed);
  const pages = services.pages();
  if (pages === null) return problemReply(noCodes(path), caller.fields);
  const found = pages.search.find(parsed.query);
  const text = ticSearchBody(parsed.query, found, services.baseUrl);
  return { status: 200, head: headOf(JSON_TYPE, caller.fields), body: text };
}

/** The routes of product codes. */
export function ticRoutes(services: TicServices): readonly Route[] {
  const rules = gateRules<GateKey>(SEARCH_PATH);
  const admit: Admit = (head) => {
    const caller = services.gate.admit(rules, head);
    return isReply(caller) ? caller
      : (request, answer) => answer.send(searchReply(services, request, caller));
  };
  return [
    {
      method: 'GET', path: '/data/tic', bodyBytesMax: 0, deadlineMs: 0,
      handle: (request, answer) => {
        answer.send(ticListReply(services, request));
      },
    },
    {
      method: 'POST', path: SEARCH_PATH, bodyBytesMax: TIC_BODY_BYTES_MAX,
      deadlineMs: DEADLINE_MS, ask: services.gate.asking(rules), admit,
      handle: handleOf(admit),
    },
  ];
}
