/**
 * GET /data/tic, the public catalogue of product codes, and POST /search/tic, which ranks them for
 * a description. A search takes some fifty microseconds, less than the way to a worker and back, so
 * both are answered here.
 */
import { fail } from '../../failure.js';
import { readParameters } from '../../wire/query-string.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import { ticSearchBody } from '../../wire/tic-list.js';
import { parseTicQuery, TIC_BODY_BYTES_MAX } from '../../wire/tic-query.js';
import { FORMATS, type Format } from '../../wire/version.js';
import { presentedKey } from '../api-key.js';
import { codedProblem } from '../coded-problem.js';
import { problemReply, type Problem } from '../problem.js';
import { rateFieldsOf } from '../rate-fields.js';
import {
  LIMIT_HEADER, REFUSED, REMAINING_HEADER, type RateGate, type Rated,
} from '../rate-limit.js';
import { headOf, JSON_TYPE, XML_TYPE, type Reply, type Request } from '../reply.js';
import { DEADLINE_MS, type Route } from '../router.js';
import type { RenderFailure } from './lookup.js';
import type { TicPages } from './tic-desk.js';
import { CATALOGUE_RATE, type ClientGate } from './tic-gate.js';

export interface TicServices {
  /** Null for a key that is malformed, unknown or disabled alike. */
  findKey(text: string): Rated | null;
  readonly gate: RateGate;
  readonly clients: ClientGate;
  /** Null when the dataset has no codes. */
  pages(): TicPages | null;
  readonly renderFailure: RenderFailure;
  readonly baseUrl: string;
}

function noCodes(instance: string): Problem {
  return { status: 503, detail: 'No product codes are loaded.', instance };
}

function formatOf(query: string): Format | null {
  const { format, undecodable } = readParameters(query);
  if (undecodable.includes('format')) return null;
  const lower = format?.toLowerCase() ?? 'json';
  return FORMATS.find((name) => name === lower) ?? null;
}

/** The catalogue for one client. */
export function ticListReply(services: TicServices, request: Request): Reply {
  const { path, query } = request;
  const remaining = services.clients.take(request.client());
  const fields = {
    [LIMIT_HEADER]: CATALOGUE_RATE,
    [REMAINING_HEADER]: remaining === REFUSED ? 0 : remaining,
  };
  const format = formatOf(query);
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

/** The codes for one description. */
export function ticSearchReply(services: TicServices, request: Request): Reply {
  const { path, body } = request;
  const { baseUrl } = services;
  const key = services.findKey(presentedKey(request).key);
  if (key === null) {
    return codedProblem('invalid-key', path, baseUrl, rateFieldsOf(services.gate, null));
  }
  const remaining = services.gate.take(key);
  const fields = {
    [LIMIT_HEADER]: key.rate, [REMAINING_HEADER]: remaining === REFUSED ? 0 : remaining,
  };
  if (remaining === REFUSED) return codedProblem('rate-limited', path, baseUrl, fields);
  const parsed = parseTicQuery(body);
  if ('malformed' in parsed) {
    return problemReply({ status: 400, detail: parsed.malformed, instance: path }, fields);
  }
  if ('errors' in parsed) {
    const { errors } = parsed;
    return problemReply(
      { status: 422, detail: 'validation failed', instance: path, errors }, fields,
    );
  }
  const pages = services.pages();
  if (pages === null) return problemReply(noCodes(path), fields);
  const found = pages.search.find(parsed.query);
  const text = ticSearchBody(parsed.query, found, services.baseUrl);
  return { status: 200, head: headOf(JSON_TYPE, fields), body: text };
}

/** The routes of product codes. */
export function ticRoutes(services: TicServices): readonly Route[] {
  return [
    {
      method: 'GET', path: '/data/tic', bodyBytesMax: 0, deadlineMs: 0,
      handle: (request, answer) => {
        answer.send(ticListReply(services, request));
      },
    },
    {
      method: 'POST', path: '/search/tic', bodyBytesMax: TIC_BODY_BYTES_MAX,
      deadlineMs: DEADLINE_MS,
      handle: (request, answer) => {
        answer.send(ticSearchReply(services, request));
      },
    },
  ];
}
