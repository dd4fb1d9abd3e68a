/** Sends carts to the workers, and makes replies of their answers. */
import type {
  AnswerSlice,
  BodyRequest,
  CartEndpoint,
  CartRequest,
  OwnTask,
  PinnedRelease,
} from '../../pool/types.js';
import { isFailure, type Failure, type FailureKind } from '../../failure.js';
import { invalid, type Problem } from '../../base/problem.js';
import { unpackValue } from '../../pool/value.js';
import { SUCCESS } from '../../wire/response-code.js';
import { sha256Of } from '../../wire/receipt.js';
import { NOT_CALCULATED } from './refusals.js';
import { SAME_IDS_BIT } from './options.js';
import { withoutKey } from '../../http/api-key.js';
import { PARSED_BYTES_MAX } from '../../http/json-body.js';
import { LookupHeads } from '../lookup/head.js';
import {
  type KeptAsked,
  keptAsked,
  keptRefusal,
  type KeptServices,
  NOTHING_KEPT,
  placeOf,
  receiptOf,
} from '../lookup/kept.js';
import type { LaterReply, MerchantCaller } from '../../http/merchant-route.js';
import { isReply, OWN_HEADERS, type Reply, withField } from '../../http/reply.js';

/** Larger bodies are calculated by the workers of bulk files, so that no lookup waits for them. */
export const SMALL_CART_BYTES_MAX = PARSED_BYTES_MAX;

/** A pool of workers that calculate carts. */
interface CartPool {
  submit(request: CartRequest | BodyRequest): void;
}

/** What carts are calculated with. */
export interface CartWorkers {
  /** Without this, only the active release answers, and there are no receipts. */
  readonly kept?: KeptServices;
  /** Calculates small carts, among lookups. */
  readonly pool: CartPool;
  readonly bulkPool: CartPool;
}

/** Header fields of calculated carts, which are those of lookups. */
const HEADS = new LookupHeads();

/**
 * The reply for an answer. Its head and body are views that are valid until the end of this turn of
 * the event loop.
 */
function replyOf(
  caller: MerchantCaller,
  slice: AnswerSlice,
  release: PinnedRelease,
  receipt: string | null,
): Reply {
  const { status, body, precision, flags } = slice;
  if (status !== SUCCESS.http) return caller.refuse(unpackValue<Problem | Failure>(body));
  const dataset = release.id;
  const numbered = HEADS.get(dataset, caller.key.rate, precision, flags);
  const head = numbered.with(caller.remaining);
  if (receipt === null) return { status, head, joined: numbered.joined, body, precision, dataset };
  return { status, head: withField(head, OWN_HEADERS.receipt, receipt), body, precision, dataset };
}

/** The parameters about kept releases in a query, or the refusal where it may not use them. */
function keptBy({ kept: services }: CartWorkers, caller: MerchantCaller): KeptAsked | Reply {
  const asked = services === undefined ? null : keptAsked(caller.query);
  if (asked === null) return NOTHING_KEPT;
  if (isFailure(asked)) return caller.refuse(keptProblem(asked));
  const unentitled = keptRefusal(caller.key.grants, asked.dataset);
  return unentitled === null ? asked : caller.refuse(unentitled);
}

function keptProblem({ field, detail = '' }: Failure): Problem {
  return invalid({ location: `query.${field ?? 'dataset'}`, message: detail });
}

/** What a body is calculated with: its endpoint, options and release. */
interface Asked {
  readonly endpoint: CartEndpoint;
  readonly bits: number;
  readonly kept: KeptAsked;
  readonly own: OwnTask | undefined;
}

/** Has a worker calculate a body, and calls `take` with the reply. */
function calculated(
  services: CartWorkers,
  caller: MerchantCaller,
  body: Uint8Array,
  { endpoint, bits, kept: { receipt }, own }: Asked,
  take: (reply: Reply) => void,
): void {
  const { pool, bulkPool, kept: made } = services;
  const workers = body.length > SMALL_CART_BYTES_MAX ? bulkPool : pool;
  const bodySha256 = receipt ? sha256Of(body) : null;
  const receiptFor = (slice: AnswerSlice, { id: dataset }: PinnedRelease): string | null =>
    made === undefined || bodySha256 === null || own === undefined
      ? null
      : receiptOf(made, {
          method: 'POST',
          path: caller.instance,
          query: withoutKey(caller.query),
          bodySha256,
          grants: caller.key.grants,
          dataset,
          atMs: own.now,
          status: slice.status,
          body: slice.body,
        });
  workers.submit({
    kind: 'cart',
    endpoint,
    own,
    payload: body,
    gives: body.length > SMALL_CART_BYTES_MAX,
    optionBits: own === undefined ? bits : bits | SAME_IDS_BIT,
    answered: (slice, release) => take(replyOf(caller, slice, release, receiptFor(slice, release))),
    failed: (failure) => take(failedReply(caller, failure)),
  });
}

function failedReply(caller: MerchantCaller, failure: FailureKind): Reply {
  return failure === 'overloaded'
    ? caller.problem(503, 'The service has no dataset or is overloaded.')
    : caller.refuse(NOT_CALCULATED);
}

/** Has a worker calculate a body, with the release and for the moment that the query asks for. */
export function calculate(
  services: CartWorkers,
  caller: MerchantCaller,
  endpoint: CartEndpoint,
  bits: number,
  body: Uint8Array,
): Reply | LaterReply {
  const kept = keptBy(services, caller);
  if (isReply(kept)) return kept;
  const asked = { endpoint, bits, kept, own: undefined };
  const plain = services.kept === undefined || (kept.dataset === null && !kept.receipt);
  if (plain) return (take) => calculated(services, caller, body, asked, take);
  const placed = placeOf(services.kept, kept);
  return (take, failed) => {
    placed
      .then((own) => {
        if (!isFailure(own)) calculated(services, caller, body, { ...asked, own }, take);
        else if (own.failure === 'no-result') take(caller.refuse(keptProblem(own)));
        else take(failedReply(caller, own.failure));
      })
      .catch(failed);
  };
}
