/**
 * POST /merchant/cart/calculate and POST /calculate/cart. The body goes to a worker as it came; the
 * front end only looks for whose cart it is, and renders refusals.
 */
import type {
  AnswerSlice, BodyRequest, CartEndpoint, CartRequest, OwnTask, PinnedRelease, PoolFailure,
} from '../../pool/types.js';
import { isFailure, type Failure } from '../../failure.js';
import { invalid, isProblem, type Problem } from '../../base/problem.js';
import { unpackValue } from '../../pool/value.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import { RECEIPT_HEADER, sha256Of } from '../../wire/receipt.js';
import {
  optionBits, optionsOfQuery, PRODUCT_BIT, SAME_IDS_BIT, type CartOptions,
} from './options.js';
import { merchantIdOf } from './cart-text.js';
import type { MerchantRecord } from '../../store/merchants.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import type { Admission, Metered } from '../../store/usage-meter.js';
import { withoutKey } from '../../http/api-key.js';
import { codedProblem } from '../../http/problem-reply.js';
import { malformationOf } from '../../base/json-object.js';
import { PARSED_BYTES_MAX } from '../../http/json-body.js';
import { ownerOfLarge } from '../merchant/checked-body.js';
import { LookupHeads } from '../lookup/head.js';
import {
  keptAsked, NOTHING_KEPT, placeOf, receiptOf, type KeptAsked, type KeptServices,
} from '../lookup/kept.js';
import {
  merchantRoute, promised, type LaterReply, type MerchantCaller, type MerchantServices,
} from '../../http/merchant-route.js';
import { LIMIT_HEADER, REMAINING_HEADER } from '../../http/rate-limit.js';
import { isReply, withField, type Reply, type Request } from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';

/** 100 carts of 250 lines are over 1 MiB (decisions, 8). */
export const CART_BODY_BYTES_MAX = 8_388_608;

/** Bodies above it are calculated in the lane of bulk work, where no lookup waits for them. */
export const SMALL_CART_BYTES_MAX = PARSED_BYTES_MAX;

interface Lane {
  submit(request: CartRequest | BodyRequest): void;
}

/** Quotas and counters of lookups: a cart without a merchant counts as a geocoded one. */
export interface CartUsage {
  admit(key: Metered, geocoded: boolean): Admission | null;
  settle(admission: Admission, counted: boolean, geo: boolean): void;
}

export interface CartServices extends MerchantServices {
  readonly lookups: CartUsage;
  /** Longest time of the compliance provider, in milliseconds. */
  readonly timeoutMs: number;
  /** Without it no release but the active one answers, and there are no receipts. */
  readonly kept?: KeptServices;
  /** Small carts travel with lookups. */
  readonly pool: Lane;
  readonly bulkPool: Lane;
  /** A live merchant of the account; null for an unknown, foreign or deleted one alike. */
  findMerchant(account: string, merchantId: string): MerchantRecord | null;
  /** Carts of provider-connected merchants. */
  relayCart(
    caller: MerchantCaller, merchant: MerchantRecord, request: Request, body: Uint8Array,
  ): Reply | Promise<Reply>;
}

/** The header fields of amounts: those of lookups. */
const HEADS = new LookupHeads();

/** The reply to a slice: head and body are views that are good until the turn is over. */
function replyOf(
  { baseUrl }: CartServices, caller: MerchantCaller, slice: AnswerSlice, release: PinnedRelease,
  receipt: string | null,
): Reply {
  const { status, code, body, precision, flags } = slice;
  if (code === RESPONSE_CODES['product-rules-not-enabled'].code) {
    return codedProblem('product-rules-not-enabled', caller.instance, baseUrl, caller.fields);
  }
  if (status !== SUCCESS.http) return caller.refuse(unpackValue<Problem>(body));
  const { [LIMIT_HEADER]: limit, [REMAINING_HEADER]: remaining } = caller.fields;
  const head = HEADS.get(release.id, Number(limit), precision, flags).with(Number(remaining));
  return { status, head: receipt === null ? head : withField(head, RECEIPT_HEADER, receipt), body };
}

/** What is asked of kept releases, or why that may not be asked. */
function keptBy({ kept: services }: CartServices, caller: MerchantCaller): KeptAsked | Reply {
  const asked = services === undefined ? null : keptAsked(caller.query);
  if (asked === null) return NOTHING_KEPT;
  if (isFailure(asked)) return caller.refuse(keptProblem(asked));
  const may = asked.dataset === null || (caller.key.grants & ENTITLEMENTS.historical) !== 0;
  return may ? asked : caller.problem(403, 'Kept datasets need the entitlement historical.');
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
  services: CartServices, caller: MerchantCaller, body: Uint8Array,
  { endpoint, bits, kept: { receipt }, own }: Asked, take: (reply: Reply) => void,
): void {
  const { pool, bulkPool, kept: made } = services;
  const lane = body.length > SMALL_CART_BYTES_MAX ? bulkPool : pool;
  const bodySha256 = receipt ? sha256Of(body) : null;
  const receiptFor = (slice: AnswerSlice, { id: dataset }: PinnedRelease): string | null =>
    (made === undefined || bodySha256 === null || own === undefined ? null
      : receiptOf(made, {
        method: 'POST', path: caller.instance, query: withoutKey(caller.query), bodySha256,
        grants: caller.key.grants, dataset, atMs: own.now, status: slice.status, body: slice.body,
      }));
  lane.submit({
    kind: 'cart', endpoint, own, payload: body, gives: body.length > SMALL_CART_BYTES_MAX,
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
function calculate(
  services: CartServices, caller: MerchantCaller, endpoint: CartEndpoint, bits: number,
  body: Uint8Array,
): Reply | LaterReply {
  const kept = keptBy(services, caller);
  if (isReply(kept)) return kept;
  const asked = { endpoint, bits, kept, own: undefined };
  const plain = services.kept === undefined || (kept.dataset === null && !kept.receipt);
  if (plain) return (take) => calculated(services, caller, body, asked, take);
  const placed = placeOf(services.kept, kept);
  return (take, failed) => {
    placed.then((own) => {
      if (own === 'internal' || own === 'overloaded') take(failedReply(caller, own));
      else if (isFailure(own)) take(caller.refuse(keptProblem(own)));
      else calculated(services, caller, body, { ...asked, own }, take);
    }).catch(failed);
  };
}

function withOptions(
  caller: MerchantCaller, request: Request, use: (options: CartOptions) => Reply | LaterReply,
): Reply | LaterReply {
  const options = optionsOfQuery(request.query);
  return isProblem(options) ? caller.refuse(options) : use(options);
}

function merchantCart(
  services: CartServices, caller: MerchantCaller, request: Request,
): Reply | Promise<Reply> | LaterReply {
  const { body } = request;
  if (body.length <= SMALL_CART_BYTES_MAX) {
    const merchantId = merchantIdOf(body);
    if (merchantId !== null) return cartOf(services, caller, request, body, merchantId);
    const malformed = malformationOf(body);
    return malformed === null ? noMerchant(caller) : caller.refuse(malformed);
  }
  return ownerOfLarge(services.bulkPool, caller, body).then((owner) => {
    if (isReply(owner)) return owner;
    const { told: { merchantId }, bytes } = owner;
    if (merchantId === null) return noMerchant(caller);
    const reply = cartOf(services, caller, request, bytes, merchantId);
    return typeof reply === 'function' ? promised(reply) : reply;
  });
}

function noMerchant(caller: MerchantCaller): Reply {
  return caller.problem(400, 'merchantId must be a UUID.', [
    { location: 'body.merchantId', message: 'expected a UUID' },
  ]);
}

/** The carts of a merchant. */
function cartOf(
  services: CartServices, caller: MerchantCaller, request: Request, body: Uint8Array,
  merchantId: string,
): Reply | Promise<Reply> | LaterReply {
  const merchant = services.findMerchant(caller.account, merchantId);
  if (merchant === null) {
    return caller.problem(403, 'The merchant is not one of this account.');
  }
  if (merchant.type === 'provider') return services.relayCart(caller, merchant, request, body);
  return withOptions(caller, request, (options) =>
    calculate(services, caller, 'merchant', optionBits(options), body));
}

/** A cart of no merchant. */
function ownCart(
  services: CartServices, caller: MerchantCaller, options: CartOptions, body: Uint8Array,
): Reply | LaterReply {
  const { lookups, baseUrl } = services;
  const admission = lookups.admit(caller.key, true);
  if (admission === null || (admission.grants & ENTITLEMENTS.geo_enabled) === 0) {
    if (admission !== null) lookups.settle(admission, false, false);
    return codedProblem('feature-not-enabled', caller.instance, baseUrl, caller.fields,
      'The plan has no geocoded lookups, or their quota of this month is used up.');
  }
  const mayCode = (admission.grants & ENTITLEMENTS.product_rates) !== 0;
  const bits = optionBits(options) | (mayCode ? PRODUCT_BIT : 0);
  const settled = (reply: Reply): Reply => {
    lookups.settle(admission, reply.status === 200, true);
    return reply;
  };
  const reply = calculate(services, caller, 'calculation', bits, body);
  if (typeof reply !== 'function') return settled(reply);
  return (take, failed) => reply((given) => take(settled(given)), failed);
}

/** The routes of carts. */
export function cartRoutes(services: CartServices): readonly Route[] {
  const common = {
    method: 'POST', bodyBytesMax: CART_BODY_BYTES_MAX, writes: false,
  } as const;
  return [
    merchantRoute(
      services,
      {
        ...common, path: '/merchant/cart/calculate', needs: 'merchants', metered: true,
        deadlineMs: DEADLINE_MS + services.timeoutMs,
      },
      (caller, request) => merchantCart(services, caller, request),
    ),
    merchantRoute(
      services, { ...common, path: '/calculate/cart', needs: null, metered: false },
      (caller, request) => withOptions(caller, request, (options) =>
        ownCart(services, caller, options, request.body)),
    ),
  ];
}
