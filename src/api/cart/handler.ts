/**
 * POST /merchant/cart/calculate and POST /calculate/cart. A worker reads the body; the front end
 * only finds out which merchant it is for, and prints refusals.
 */
import { isProblem } from '../../base/problem.js';
import { calculate, type CartWorkers, SMALL_CART_BYTES_MAX } from './cart-pool.js';
import {
  askedOptions,
  type CartOptions,
  optionBits,
  optionsOfQuery,
  PRODUCT_BIT,
} from './options.js';
import { NO_GEO } from './refusals.js';
import type { MerchantRecord } from '../../store/merchants.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import type { Admission, Metered } from '../../store/usage-meter.js';
import { malformationOf } from '../../base/json-object.js';
import { type FindMerchant, MERCHANT_REFUSALS, merchantIdOf } from '../merchant/cart-owner.js';
import { noMerchantId, ownerOfLarge } from '../merchant/checked-body.js';
import { keptNames } from '../lookup/kept.js';
import {
  merchantRoute,
  promised,
  type LaterReply,
  type MerchantCaller,
  type MerchantServices,
} from '../../http/merchant-route.js';
import { isReply, type Reply, type Request } from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';

/** 100 carts of 250 lines are over 1 MiB (decisions, 8). */
export const CART_BODY_BYTES_MAX = 8_388_608;

/** Quotas and counters of lookups: a cart without a merchant counts as one geocoded lookup. */
interface CartUsage {
  admit(key: Metered, geocoded: boolean): Admission | null;
  settle(admission: Admission, counted: boolean, geo: boolean): void;
}

interface CartServices extends MerchantServices, CartWorkers {
  readonly lookups: CartUsage;
  /** How long the compliance provider may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly findMerchant: FindMerchant;
  /** Sends a cart of a provider-connected merchant to the provider. */
  relayCart(
    caller: MerchantCaller,
    merchant: MerchantRecord,
    request: Request,
    body: Uint8Array,
  ): Reply | Promise<Reply>;
}

function withOptions(
  caller: MerchantCaller,
  request: Request,
  use: (options: CartOptions) => Reply | LaterReply,
): Reply | LaterReply {
  const options = optionsOfQuery(request.query);
  return isProblem(options) ? caller.refuse(options) : use(options);
}

function merchantCart(
  services: CartServices,
  caller: MerchantCaller,
  request: Request,
): Reply | Promise<Reply> | LaterReply {
  const { body } = request;
  if (body.length <= SMALL_CART_BYTES_MAX) {
    const merchantId = merchantIdOf(body);
    const malformed = merchantId === null ? malformationOf(body) : null;
    if (malformed !== null) return caller.refuse(malformed);
    return cartOf(services, caller, request, body, merchantId);
  }
  return ownerOfLarge(services.bulkPool, caller, body).then((owner) => {
    if (isReply(owner)) return owner;
    const reply = cartOf(services, caller, request, owner.bytes, owner.told.merchantId);
    return typeof reply === 'function' ? promised(reply) : reply;
  });
}

/**
 * Calculates or relays the carts of the merchant that a body names; `merchantId` is null if it
 * names none.
 */
function cartOf(
  services: CartServices,
  caller: MerchantCaller,
  request: Request,
  body: Uint8Array,
  merchantId: string | null,
): Reply | Promise<Reply> | LaterReply {
  if (merchantId === null) return noMerchantId(caller);
  const merchant = services.findMerchant(caller.account, merchantId);
  if (merchant === null) return caller.refuse(MERCHANT_REFUSALS.foreign);
  if (merchant.type === 'provider') {
    const refused = [...keptNames(request.query), ...askedOptions(request.query)];
    if (refused.length === 0) return services.relayCart(caller, merchant, request, body);
    const message = 'not accepted for provider-connected merchants';
    return caller.problem(
      400,
      'The compliance provider cannot be asked for this.',
      refused.map((name) => ({ location: `query.${name}`, message })),
    );
  }
  return withOptions(caller, request, (options) =>
    calculate(services, caller, 'merchant', optionBits(options), body),
  );
}

/** Calculates a cart of no merchant. */
function ownCart(
  services: CartServices,
  caller: MerchantCaller,
  options: CartOptions,
  body: Uint8Array,
): Reply | LaterReply {
  const { lookups } = services;
  const admission = lookups.admit(caller.key, true);
  if (admission === null || (admission.grants & ENTITLEMENTS.geo_enabled) === 0) {
    if (admission !== null) lookups.settle(admission, false, false);
    return caller.refuse(NO_GEO);
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
    method: 'POST',
    bodyBytesMax: CART_BODY_BYTES_MAX,
    writes: false,
    // Except for refusals, a worker answers.
    isAtOnce: () => false,
  } as const;
  return [
    merchantRoute(
      services,
      {
        ...common,
        path: '/merchant/cart/calculate',
        needs: 'merchants',
        metered: true,
        deadlineMs: DEADLINE_MS + services.timeoutMs,
      },
      (caller, request) => merchantCart(services, caller, request),
    ),
    merchantRoute(
      services,
      { ...common, path: '/calculate/cart', needs: null, metered: false },
      (caller, request) =>
        withOptions(caller, request, (options) => ownCart(services, caller, options, request.body)),
    ),
  ];
}
