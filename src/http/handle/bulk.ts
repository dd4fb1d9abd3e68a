/**
 * POST /bulk/lookup and /bulk/cart: a file of rows to the same rows with their taxes, while it is
 * sent.
 * GET /bulk/trailer: how a stream ended, for files that have no place for it.
 *
 * In this order: the key (401), the rate window (429), the plan (403), formats and options (406,
 * 415, 422), the size (413), the merchant of carts (403), room for one more stream (429, 503), the
 * quota (405 with code 107).
 * The request takes one place in the rate window whatever its rows; each row counts for the quotas
 * of the month like a request of its own.
 */
import type { ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import { PLAN_TERMS } from '../../store/plan.js';
import { trailerBody } from '../../wire/bulk/envelope.js';
import type { WireObject } from '../../wire/tree.js';
import { presentedKey } from '../api-key.js';
import { limitsOf, type BulkDesk } from '../bulk/desk.js';
import {
  admitRows, BULK_TERMS, merchantRefusal, type BulkKindTerms, type FindMerchant, type RowsUsage,
} from '../bulk/kind.js';
import type { AdmittedRows } from '../bulk/pump.js';
import { isRequestProblem, parseBulkRequest } from '../bulk/request.js';
import { BulkStream } from '../bulk/stream.js';
import { codedProblem } from '../coded-problem.js';
import { problemReply } from '../problem.js';
import { rateFieldsOf } from '../rate-fields.js';
import { LIMIT_HEADER, REFUSED, REMAINING_HEADER, type RateGate } from '../rate-limit.js';
import { headOf, JSON_TYPE, type Answerer, type Fields, type Request } from '../reply.js';
import type { Route } from '../router.js';
import type { Status } from '../status.js';
import type { StreamExchange } from '../stream-exchange.js';
import { streamsOnly } from '../stream-route.js';

export interface BulkServices {
  /** Null for a key that is malformed, unknown or disabled alike. */
  findKey(text: string): KeyRecord | null;
  readonly gate: RateGate;
  readonly usage: RowsUsage;
  readonly releases: ReleaseSource;
  readonly desk: BulkDesk;
  readonly baseUrl: string;
  readonly findMerchant: FindMerchant;
}

/** Whoever may stream, with the fields of every answer. */
export interface Caller {
  readonly key: KeyRecord;
  readonly fields: Fields;
  readonly query: string;
}

/** Key, rate and plan; null when the request was refused. */
export function admitted(
  services: Pick<BulkServices, 'findKey' | 'gate' | 'baseUrl'>, request: Request, answer: Answerer,
): Caller | null {
  const { gate, baseUrl } = services;
  const { path } = request;
  const { key: text, query } = presentedKey(request);
  const key = services.findKey(text);
  if (key === null) {
    answer.send(codedProblem('invalid-key', path, baseUrl, rateFieldsOf(gate, null)));
    return null;
  }
  const remaining = gate.take(key);
  const fields = {
    [LIMIT_HEADER]: key.rate, [REMAINING_HEADER]: remaining === REFUSED ? 0 : remaining,
  };
  if (remaining === REFUSED) {
    answer.send(codedProblem('rate-limited', path, baseUrl, fields));
    return null;
  }
  if (PLAN_TERMS[key.plan].bulk) return { key, fields, query };
  answer.send(problemReply({
    status: 403, detail: 'Bulk needs the Pro or Enterprise plan.', instance: path,
  }, fields));
  return null;
}

/** Opens a stream of one kind, or refuses it. */
function openStream(
  services: BulkServices, terms: BulkKindTerms, request: Request, exchange: StreamExchange,
): void {
  const { desk, usage, releases, baseUrl } = services;
  const caller = admitted(services, request, exchange);
  if (caller === null) return;
  const { key, fields, query } = caller;
  const refuse = (
    status: Status, detail: string, location: string | null, members: WireObject = {},
  ): void => exchange.send(problemReply({
    status, detail, instance: terms.path,
    ...(location === null ? {} : { errors: [{ location, message: detail }] }),
    members: { limits: limitsOf(desk.limits, terms.kind), ...members },
  }, fields));
  const asked = parseBulkRequest((name) => request.header(name), query, terms.kind);
  if (isRequestProblem(asked)) return refuse(asked.status, asked.detail, asked.location);
  const { bytesMax } = desk.limits;
  if (Number(request.header('content-length') || 0) > bytesMax) {
    return refuse(413, `A body may have ${bytesMax} bytes.`, null, { limit: bytesMax });
  }
  const unfit = merchantRefusal(services.findMerchant, key.account, asked);
  if (unfit !== null) return refuse(403, unfit, 'query.merchantId');
  const full = desk.full(key.account);
  if (full !== null) {
    return refuse(full.own ? 429 : 503,
      `${full.limit} streams are open${full.own ? ' of this account' : ''}; try again later.`,
      null, { limit: full.limit });
  }
  const admit = (rows: number): AdmittedRows => admitRows(usage, key, asked, rows);
  if (usedUp(admit)) {
    return exchange.send(codedProblem('feature-not-enabled', terms.path, baseUrl, fields,
      'The quota of this month is used up.'));
  }
  const release = releases.pin();
  if (release === null) return refuse(503, 'No dataset is active.', null);
  void new BulkStream(exchange, desk, {
    kind: terms.kind, job: desk.newJob(), account: key.account, release, instance: terms.path,
    fields, request: asked, admit, over: () => releases.unpin(release),
  });
}

/** Whether not one row would be let through, now or later. */
export function usedUp(admit: (rows: number) => AdmittedRows): boolean {
  const probe = admit(1);
  probe.settle(null);
  return probe.rows === 0 && !probe.scarce;
}

function trailerRoute(services: BulkServices): Route {
  const path = '/bulk/trailer';
  return {
    method: 'GET', path, bodyBytesMax: 0, deadlineMs: 0,
    handle: (request, answer) => {
      const caller = admitted(services, request, answer);
      if (caller === null) return;
      const { key, fields, query } = caller;
      const job = new URLSearchParams(query).get('job') ?? '';
      const trailer = services.desk.trailer(job, key.account);
      if (trailer === 'open') {
        answer.send(problemReply({
          status: 409, detail: 'The stream has not ended.', instance: path,
        }, fields));
      } else if (trailer === null) {
        answer.send(problemReply({
          status: 404, detail: 'There is no trailer of such a job.', instance: path,
        }, fields));
      } else {
        const body = trailerBody(job, trailer);
        answer.send({ status: 200, head: headOf(JSON_TYPE, fields), body });
      }
    },
  };
}

/** The routes of bulk streams of some kinds. */
export function bulkRoutes(
  services: BulkServices, kinds: readonly BulkKindTerms[] = BULK_TERMS,
): readonly Route[] {
  return [
    ...kinds.map((terms): Route => ({
      method: 'POST', path: terms.path, bodyBytesMax: 0, deadlineMs: 0, handle: streamsOnly,
      stream: {
        idleMs: services.desk.limits.idleMs,
        open: (request, exchange) => openStream(services, terms, request, exchange),
      },
    })),
    trailerRoute(services),
  ];
}
