/**
 * POST /merchant/cart/calculate and POST /calculate/cart. The body goes to a worker as it came; the
 * front end only looks for whose cart it is, and renders refusals.
 */
import { OP_CART, type AnswerSlice } from '../../engine/frame.js';
import type { PinnedRelease, PoolRequest } from '../../pool.js';
import { memberName, memberValue } from '../../provider/json-member.js';
import { CART_CALCULATE, CART_MERCHANT, CART_RELAYED } from '../../wire/cart-answer.js';
import {
  isBodyError, optionBits, optionsOfQuery, type CartOptions,
} from '../../wire/cart-options.js';
import type { MerchantRecord } from '../../store/merchants.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import type { Admission, Metered } from '../../store/usage-meter.js';
import { codedProblem } from '../coded-problem.js';
import { readJsonObject } from '../json-body.js';
import { LookupHeads } from '../lookup-head.js';
import {
  merchantRoute, type MerchantCaller, type MerchantServices,
} from '../merchant-gate.js';
import type { ProblemError } from '../problem.js';
import { LIMIT_HEADER, REMAINING_HEADER } from '../rate-limit.js';
import type { Reply, Request } from '../reply.js';
import { DEADLINE_MS, type Route } from '../router.js';
import { isStatus } from '../status.js';
import type { LookElsewhere } from './relay.js';

/** 100 carts of 250 lines are over 1 MiB (decisions, 8). */
export const CART_BODY_BYTES_MAX = 8_388_608;

/** Bodies above it are calculated in the lane of bulk work, where no lookup waits for them. */
export const SMALL_CART_BYTES_MAX = 65_536;

interface Lane {
  submit(request: PoolRequest): void;
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
  /** Small carts travel with lookups. */
  readonly pool: Lane;
  readonly bulkPool: Lane;
  /** A live merchant of the account; null for an unknown, foreign or deleted one alike. */
  findMerchant(account: string, merchantId: string): MerchantRecord | null;
  /** Carts of provider-connected merchants. */
  relayCart(
    caller: MerchantCaller, merchant: MerchantRecord, request: Request,
    look: LookElsewhere | null,
  ): Reply | Promise<Reply>;
}

/** A UUID in quotes, each of its characters written as an escape. */
const MERCHANT_ID_BYTES_MAX = 218;

const MERCHANT_ID = memberName('merchantId');
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const QUOTED_UUID = /^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/;

/** The merchant that a body names; null when it names none. */
function merchantIdOf(body: Uint8Array): string | null {
  const value = memberValue(body, MERCHANT_ID);
  if (value === null || value.length > MERCHANT_ID_BYTES_MAX) return null;
  const text = Buffer.from(value.buffer, value.byteOffset, value.length).toString('utf8');
  if (QUOTED_UUID.test(text)) return text.slice(1, -1);
  try {
    const id: unknown = JSON.parse(text);
    return typeof id === 'string' && UUID.test(id) ? id.toLowerCase() : null;
  } catch {
    return null;
  }
}

interface Refused {
  readonly detail: string;
  readonly errors: readonly ProblemError[];
}

/** The worker's refusal; it made this JSON itself. */
function refusedOf(body: Uint8Array): Refused {
  const refused: Refused = JSON.parse(Buffer.from(body).toString('utf8'));
  return refused;
}

/** The header fields of amounts: those of lookups. */
const HEADS = new LookupHeads();

function replyOf(caller: MerchantCaller, slice: AnswerSlice, release: PinnedRelease): Reply {
  const { status, body, precision, flags } = slice;
  if (status !== 200) {
    const { detail, errors } = refusedOf(body);
    return caller.problem(isStatus(status) ? status : 500, detail, errors);
  }
  const { [LIMIT_HEADER]: limit, [REMAINING_HEADER]: remaining } = caller.fields;
  const head = HEADS.get(release.id, Number(limit), precision, flags).with(Number(remaining));
  // The bytes of both are shared with other answers and not kept after this call.
  return { status, head: Buffer.from(head), body: Buffer.from(body) };
}

/** Has a worker calculate a body. */
function calculate(
  services: CartServices, caller: MerchantCaller, endpoint: number, options: CartOptions,
  body: Uint8Array,
): Promise<Reply> {
  const lane = body.length > SMALL_CART_BYTES_MAX ? services.bulkPool : services.pool;
  return new Promise((resolve) => {
    lane.submit({
      op: OP_CART,
      version: endpoint,
      grants: optionBits(options),
      payload: body,
      answered: (slice, release) => resolve(replyOf(caller, slice, release)),
      failed: (failure) => resolve(failure === 'overloaded'
        ? caller.problem(503, 'The service has no dataset or is overloaded.')
        : caller.problem(500, 'The service failed to calculate the cart.')),
    });
  });
}

/** Has a worker look at a large body that is relayed, so that nobody waits for the parser. */
function lookAt(
  services: CartServices, caller: MerchantCaller, body: Uint8Array,
): Promise<Reply | null | 'nowhere'> {
  return new Promise((resolve) => {
    services.bulkPool.submit({
      op: OP_CART,
      version: CART_RELAYED,
      grants: 0,
      payload: body,
      answered: (slice, release) => {
        resolve(slice.status === 200 ? null : replyOf(caller, slice, release));
      },
      // Relaying needs no dataset, so it goes on without workers.
      failed: () => resolve('nowhere'),
    });
  });
}

function withOptions(
  caller: MerchantCaller, request: Request, use: (options: CartOptions) => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  const options = optionsOfQuery(request.query);
  return isBodyError(options)
    ? caller.problem(422, 'validation failed', [options]) : use(options);
}

function merchantCart(
  services: CartServices, caller: MerchantCaller, request: Request,
): Reply | Promise<Reply> {
  const merchantId = merchantIdOf(request.body);
  if (merchantId === null) {
    const read = readJsonObject(request.body);
    if ('malformed' in read) return caller.problem(400, read.malformed);
    return caller.problem(400, 'merchantId must be a UUID.', [
      { location: 'body.merchantId', message: 'expected a UUID' },
    ]);
  }
  const merchant = services.findMerchant(caller.account, merchantId);
  if (merchant === null) {
    return caller.problem(403, 'The merchant is not one of this account.');
  }
  if (merchant.type === 'provider') {
    const look = request.body.length > SMALL_CART_BYTES_MAX
      ? () => lookAt(services, caller, request.body) : null;
    return services.relayCart(caller, merchant, request, look);
  }
  return withOptions(caller, request, (options) =>
    calculate(services, caller, CART_MERCHANT, options, request.body));
}

/** A cart of no merchant. */
async function ownCart(
  services: CartServices, caller: MerchantCaller, options: CartOptions, body: Uint8Array,
): Promise<Reply> {
  const { lookups, baseUrl } = services;
  const admission = lookups.admit(caller.key, true);
  if (admission === null || (admission.grants & ENTITLEMENTS.geo_enabled) === 0) {
    if (admission !== null) lookups.settle(admission, false, false);
    return codedProblem('feature-not-enabled', caller.instance, baseUrl, caller.fields,
      'The plan has no geocoded lookups, or their quota of this month is used up.');
  }
  const reply = await calculate(services, caller, CART_CALCULATE, options, body);
  lookups.settle(admission, reply.status === 200, true);
  return reply;
}

/** The routes of carts. */
export function cartRoutes(services: CartServices): readonly Route[] {
  const terms = {
    method: 'POST', bodyBytesMax: CART_BODY_BYTES_MAX, writes: false,
  } as const;
  return [
    merchantRoute(
      services,
      {
        ...terms, path: '/merchant/cart/calculate', needs: 'merchants', metered: true,
        deadlineMs: DEADLINE_MS + services.timeoutMs,
      },
      (caller, request) => merchantCart(services, caller, request),
    ),
    merchantRoute(
      services, { ...terms, path: '/calculate/cart', needs: null, metered: false },
      (caller, request) => withOptions(caller, request, (options) =>
        ownCart(services, caller, options, request.body)),
    ),
  ];
}
