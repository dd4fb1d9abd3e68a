/**
 * POST /bulk/lookup and /bulk/cart: answer a file of rows with the same rows and their taxes, while
 * it is being sent.
 * GET /bulk/trailer: how an upload ended, for CSV, which has no place for a trailer.
 *
 * A request is checked in this order: the key (401), its scopes (403), the rate window (429), the
 * plan (403), formats and options (406, 415, 422), the size (413), the merchant of carts (403), the
 * number of open uploads (429, 503), the quota (405 with code 107).
 * It counts as one request in the rate window, however many rows it has; each row counts for the
 * quotas of the month like a request of its own.
 */
import type { FindMerchant } from '../../api/merchant/cart-owner.js';
import { keptRefusal, placeOf, type KeptServices } from '../../api/lookup/kept.js';
import type { PinnedRelease } from '../../pool/types.js';
import { isFailure, type Failure } from '../../failure.js';
import type { ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import { trailerBody } from '../row/envelope.js';
import { lengthRefusal, type Uploads, limitsOf, newRunName } from './uploads.js';
import {
  admitRows,
  BULK_ROUTES,
  merchantFault,
  spentRefusal,
  type BulkKindRoute,
  type RowsUsage,
} from './kind.js';
import { isProblem, limited, problem, type Problem } from '../../base/problem.js';
import { type BulkRequest, NO_RATES, ofPart, parseBulkRequest, refused } from './request.js';
import { Upload } from './upload.js';
import { type Caller, gateRules, planNeeded, type Gate, type GateRules } from '../../http/gate.js';
import { headOf, JSON_TYPE, type Reply, type Request } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { gatedDuplexRoute, gatedRoute } from '../../http/duplex-route.js';

export interface BulkServices {
  readonly gate: Gate;
  readonly usage: RowsUsage;
  readonly releases: ReleaseSource;
  readonly uploads: Uploads;
  readonly findMerchant: FindMerchant;
  /** Opens kept releases by their names. */
  readonly kept: Pick<KeptServices, 'ask' | 'log'>;
}

/** The refusal of a kept release that cannot answer. */
export function placeRefusal({ failure, detail = '' }: Failure, dataset: string): Problem {
  const at = 'query.dataset';
  switch (failure) {
    case 'internal':
      return refused(500, `The dataset ${dataset} is damaged.`, at);
    case 'overloaded':
      return refused(503, `The dataset ${dataset} cannot be opened now; try again later.`, at);
    default:
      return refused(422, detail, at);
  }
}

/** The rules of the gate for files, jobs and their results. */
export function bulkRules(path: string): GateRules {
  return gateRules(path, { planRefusal: planNeeded('bulk', 'Bulk needs') });
}

/** Why a request that could be read is refused; null where it is not. */
function askedRefusal(
  { uploads, findMerchant }: BulkServices,
  key: KeyRecord,
  request: Request,
  asked: BulkRequest,
): Problem | null {
  return (
    lengthRefusal(request, uploads.limits) ??
    merchantFault(findMerchant, key.account, asked, 'query') ??
    ofPart(keptRefusal(key.grants, asked.kept?.dataset), 'query.dataset')
  );
}

/**
 * The refusal of one more upload or stream where the account, or all accounts, have too many open;
 * null where there is room.
 */
export function fullRefusal(
  full: ReturnType<Uploads['full']>,
  what: 'uploads' | 'streams',
): Problem | null {
  if (full === null) return null;
  const { own, limit } = full;
  const detail = `${limit} ${what} are open${own ? ' of this account' : ''}; try again later.`;
  return limited(own ? 429 : 503, detail, limit);
}

/** Opens an upload of a kind of rows, or refuses it. */
function openUpload(
  services: BulkServices,
  route: BulkKindRoute,
  caller: Caller,
  request: Request,
  exchange: DuplexExchange,
): void {
  const { uploads, usage, releases } = services;
  const { key, fields, query } = caller;
  const refuse = (why: Problem): void => {
    const members = { limits: limitsOf(uploads.limits, route.kind), ...why.members };
    exchange.send(caller.refuse({ ...why, members }));
  };
  // Proxies stop sending a body once its answer begins, so the answer to a proxied request begins
  // when its body is complete.
  const asked = parseBulkRequest(
    (name) => request.header(name),
    new URLSearchParams(query),
    route.kind,
    request.isProxied,
  );
  if (isProblem(asked)) return refuse(asked);
  const full = (): Problem | null => fullRefusal(uploads.full(key.account), 'uploads');
  const refusal = askedRefusal(services, key, request, asked) ?? full();
  if (refusal !== null) return refuse(refusal);
  const spent = spentRefusal(usage, key, asked);
  if (spent !== null) return exchange.send(caller.refuse(spent));
  const begin = (release: PinnedRelease, nowMs: number | null): void =>
    void new Upload(exchange, uploads, {
      name: newRunName(),
      account: key.account,
      release,
      instance: route.path,
      fields,
      request: asked,
      admit: (rows) => admitRows(usage, key, asked, rows),
      over: () => releases.unpin(release),
      ...(nowMs === null ? {} : { nowMs }),
    });
  withRelease(services, exchange, asked, begin, (unplaced) => {
    const found = unplaced ?? full();
    if (found !== null) refuse(found);
    return found !== null;
  });
}

/**
 * Calls `begin` with the active release, or with the named one when it is open. `isRefused` is
 * called with what is wrong, or with null just before beginning with a named release, since the
 * number of uploads may have changed while it was opened.
 */
function withRelease(
  { releases, kept: services }: BulkServices,
  exchange: DuplexExchange,
  { kept }: BulkRequest,
  begin: (release: PinnedRelease, nowMs: number | null) => void,
  isRefused: (unplaced: Problem | null) => boolean,
): void {
  if (kept === undefined) {
    const release = releases.pin();
    if (release !== null) begin(release, null);
    else isRefused(problem(503, NO_RATES));
    return;
  }
  // The body waits in the meantime.
  exchange.pause();
  void placeOf(services, kept).then((placed) => {
    exchange.resume();
    if (isFailure(placed)) {
      isRefused(placeRefusal(placed, kept.dataset));
      return;
    }
    const { release, now } = placed;
    if (release === null) return;
    if (exchange.raw === null || isRefused(null)) releases.unpin(release);
    else begin(release, now);
  });
}

function trailerRoute(services: BulkServices): Route {
  const { gate, uploads } = services;
  const path = '/bulk/trailer';
  const trailerReply = (caller: Caller): Reply => {
    const name = new URLSearchParams(caller.query).get('job') ?? '';
    const trailer = uploads.trailer(name, caller.key.account);
    if (trailer === 'open') return caller.problem(409, 'The upload has not ended.');
    if (trailer === null) return caller.problem(404, 'There is no trailer of such a job.');
    const head = headOf(JSON_TYPE, caller.fields);
    return { status: 200, head, body: trailerBody(name, trailer) };
  };
  return gatedRoute(gate, bulkRules(path), { method: 'GET', path }, (caller, _, answer) =>
    answer.send(trailerReply(caller)),
  );
}

/** The routes of uploads, one for each kind of rows, and of their trailers. */
export function bulkRoutes(services: BulkServices): readonly Route[] {
  return [
    ...BULK_ROUTES.map((route) =>
      gatedDuplexRoute(
        services.gate,
        bulkRules(route.path),
        { method: 'POST', path: route.path, idleMs: services.uploads.limits.idleMs },
        (...asked) => openUpload(services, route, ...asked),
      ),
    ),
    trailerRoute(services),
  ];
}
