/**
 * GET /data/tic, the public catalogue of product codes, and POST /search/tic, which finds and ranks
 * codes for a description. A search takes about fifty microseconds, less than sending it to a
 * worker and back, so the main thread answers both.
 */
import { jsonOfBody } from '../../base/json-object.js';
import { invalid, isProblem, problem, type Problem } from '../../base/problem.js';
import { checkOf, closed, type Of, textThat, told } from '../../base/shape.js';
import { isFaultless } from '../../base/validator.js';
import { fail } from '../../failure.js';
import { CATALOGUE_RATE, type ClientGate } from '../../http/client-limit.js';
import { type Caller, type Gate, type GateKey, gateRules } from '../../http/gate.js';
import { problemReply } from '../../http/problem-reply.js';
import { REFUSED, rateFields } from '../../http/rate-limit.js';
import {
  type Admit,
  handleOf,
  headOf,
  isReply,
  JSON_TYPE,
  type Reply,
  type Request,
  XML_TYPE,
} from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import type { RenderFailure } from '../lookup/head.js';
import { type TicPages, ticSearchBody } from './pages.js';
import { formatStated } from '../lookup/query-string.js';

/** Longest description, in characters. */
const TIC_QUERY_CHARS_MAX = 1024;

/** Room for a description written only with escapes, and for the object around it. */
const TIC_BODY_BYTES_MAX = 16_384;

/** `{"query": "…"}`; the text is not blank. */
export const TIC_QUERY = closed({
  query: told(
    textThat(
      (query) => query.trim() !== '',
      'blank',
      { type: 'string', minLength: 1, maxLength: TIC_QUERY_CHARS_MAX, pattern: '\\S' },
      TIC_QUERY_CHARS_MAX,
    ),
    'What is sold, in everyday words.',
  ),
});

type TicQuery = Of<typeof TIC_QUERY>;

const checkQuery = checkOf(TIC_QUERY);

/**
 * Reads `{"query": "…"}`: a string of 1 to 1024 characters that is not blank, and no other member.
 */
export function parseTicQuery(body: Uint8Array): TicQuery | Problem {
  const parsed = jsonOfBody(body);
  if (isProblem(parsed)) return parsed;
  const { value } = parsed;
  const errors = checkQuery(value);
  return isFaultless<TicQuery>(value, errors) ? { query: value.query } : invalid(...errors);
}

const SEARCH_PATH = '/search/tic';

interface TicServices {
  readonly gate: Gate<GateKey>;
  readonly baseUrl: string;
  readonly clients: ClientGate;
  /** Null when the dataset has no product codes. */
  pages(): TicPages | null;
  readonly renderFailure: RenderFailure;
}

const NO_CODES = problem(503, 'No product codes are loaded.');

/** The catalogue, within the rate of requests of a client. */
function ticListReply(services: TicServices, request: Request): Reply {
  const { path, query } = request;
  const remaining = request.taken ?? services.clients.take(request.client());
  const fields = rateFields(CATALOGUE_RATE, remaining === REFUSED ? 0 : remaining);
  const format = formatStated(query);
  const head = headOf(format === 'xml' ? XML_TYPE : JSON_TYPE, fields);
  if (remaining === REFUSED) {
    const failure = fail('rate-limited');
    const body = services.renderFailure(60, failure, format ?? 'json', services.baseUrl);
    const { http: status, code } = RESPONSE_CODES['rate-limited'];
    return { status, head, body, code };
  }
  if (format === null) {
    const error = { location: 'query.format', message: 'expected json or xml' };
    return problemReply(invalid(error), path, fields);
  }
  const pages = services.pages();
  return pages === null
    ? problemReply(NO_CODES, path, fields)
    : { status: 200, head, body: pages.list[format] };
}

/** Finds the codes for the description in a body. */
function searchReply(services: TicServices, { body }: Request, caller: Caller<GateKey>): Reply {
  const parsed = parseTicQuery(body);
  if (isProblem(parsed)) return caller.refuse(parsed);
  const pages = services.pages();
  if (pages === null) return caller.refuse(NO_CODES);
  const found = pages.search.find(parsed.query);
  const text = ticSearchBody(parsed.query, found, services.baseUrl);
  return { status: 200, head: headOf(JSON_TYPE, caller.fields), body: text };
}

/** The routes of product codes. */
export function ticRoutes(services: TicServices): readonly Route[] {
  const rules = gateRules<GateKey>(SEARCH_PATH);
  const admit: Admit = (head) => {
    const caller = services.gate.admit(rules, head);
    return isReply(caller)
      ? caller
      : (request, answer) => answer.send(searchReply(services, request, caller));
  };
  return [
    {
      method: 'GET',
      path: '/data/tic',
      bodyBytesMax: 0,
      deadlineMs: 0,
      ask: (head) => services.clients.ask(head.client()),
      handle: (request, answer) => {
        answer.send(ticListReply(services, request));
      },
    },
    {
      method: 'POST',
      path: SEARCH_PATH,
      bodyBytesMax: TIC_BODY_BYTES_MAX,
      deadlineMs: DEADLINE_MS,
      ask: services.gate.asking(rules),
      admit,
      handle: handleOf(admit),
      repeats: 'always',
    },
  ];
}
