/** Carts on their way through the pool, and what their answers become. */
import type {
  AnswerSlice,
  BodyRequest,
  CartEndpoint,
  CartRequest,
  OwnTask,
  PinnedRelease,
  PoolFailure,
} from '../../pool/types.js';
import { isFailure, type Failure } from '../../failure.js';
import { invalid, type Problem } from '../../base/problem.js';
import { unpackValue } from '../../pool/value.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import { sha256Of } from '../../wire/receipt.js';
import { SAME_IDS_BIT } from './options.js';
import { withoutKey } from '../../http/api-key.js';
import { codedProblem } from '../../http/problem-reply.js';
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
import type { LaterReply, MerchantCaller, MerchantServices } from '../../http/merchant-route.js';
import { isReply, OWN_HEADERS, type Reply, withField } from '../../http/reply.js';

/** Bodies above it are calculated by the workers of bulk files, for which no lookup waits. */
export const SMALL_CART_BYTES_MAX = PARSED_BYTES_MAX;

/** Workers that calculate carts. */
interface CartPool {
  submit(request: CartRequest | BodyRequest): void;
}

/** What carts are calculated with. */
export interface CartWorkers extends Pick<MerchantServices, 'baseUrl'> {
  /** Without it no release but the active one answers, and there are no receipts. */
  readonly kept?: KeptServices;
  /** Small carts travel with lookups. */
  readonly pool: CartPool;
  readonly bulkPool: CartPool;
}

/** The header fields of amounts: those of lookups. */
const HEADS = new LookupHeads();

/** The reply to a slice: head and body are views that are good until the turn is over. */
function replyOf(
  { baseUrl }: CartWorkers,
  caller: MerchantCaller,
  slice: AnswerSlice,
  release: PinnedRelease,
  receipt: string | null,
): Reply {
  const { status, code, body, precision, flags } = slice;
  if (code === RESPONSE_CODES['product-rules-not-enabled'].code) {
    return codedProblem('product-rules-not-enabled', caller.instance, baseUrl, caller.fields);
  }
  if (status !== SUCCESS.http) return caller.refuse(unpackValue<Problem>(body));
  const dataset = release.id;
  const numbered = HEADS.get(dataset, caller.key.rate, precision, flags);
  const head = numbered.with(caller.remaining);
  if (receipt === null) return { status, head, joined: numbered.joined, body, precision, dataset };
  return { status, head: withField(head, OWN_HEADERS.receipt, receipt), body, precision, dataset };
}

/** What is asked of kept releases, or why that may not be asked. */
function keptBy({ kept: services }: CartWorkers, caller: MerchantCaller): KeptAsked | Reply {
  const asked = services === undefined ? null : keptAsked(caller.query);
  if (asked === null) return NOTHING_KEPT;
  if (isFailure(asked)) return caller.refuse(keptProblem(asked));
  const refusal = keptRefusal(caller.key.grants, asked.dataset);
  return refusal === null ? asked : caller.problem(403, refusal);
}

function keptProblem({ field, detail = '' }: Failure): Problem {
  return invalid({ location: `query.${field ?? 'dataset'}`, message: detail });
}

/** What a body is calculated for and with. */
interface Asked {
  readonly endpoint: CartEndpoint;
  readonly bits: number;
  readonly kept: KeptAsked;
  readonly own: OwnTask | undefined;
}

/** Has a worker calculate a body. */
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
    answered: (slice, release) =>
      take(replyOf(services, caller, slice, release, receiptFor(slice, release))),
    failed: (failure) => take(failedReply(caller, failure)),
  });
}

function failedReply(caller: MerchantCaller, failure: PoolFailure): Reply {
  return failure === 'overloaded'
    ? caller.problem(503, 'The service has no dataset or is overloaded.')
    : caller.problem(500, 'The service failed to calculate the cart.');
}

/** Has a worker calculate a body with the release and at the moment that are asked for. */
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
        if (own === 'internal' || own === 'overloaded') take(failedReply(caller, own));
        else if (isFailure(own)) take(caller.refuse(keptProblem(own)));
        else calculated(services, caller, body, { ...asked, own }, take);
      })
      .catch(failed);
  };
}
