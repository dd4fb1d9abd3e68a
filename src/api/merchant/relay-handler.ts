/**
 * Orders, refunds, exemption certificates and carts of provider-connected merchants. A request is
 * checked and sent to the compliance provider with the merchant's credentials, and the provider's
 * bytes are the answer.
 */
import type { Log } from '../../log.js';
import {
  callPath,
  PROVIDER_ENDPOINTS,
  RELAYED_NAMES,
  type EndpointName,
  type ProviderEndpoint,
} from '../../provider/operation-call.js';
import type { Provider, ProviderCall } from '../../provider/provider.js';
import { credentialsOf, type Credentials, type CredentialsVault } from '../../store/credentials.js';
import type { MerchantRecord } from '../../store/merchants.js';
import { PLAN_FEATURES } from '../../store/plan.js';
import type { Store } from '../../store/store.js';
import { bodyBytesMax } from '../../base/body-size.js';
import { UUID } from '../../base/uuid.js';
import {
  type BodyWorkers,
  faultReply,
  type RelayLook,
  relayReply,
  summarized,
} from './relay-answer.js';
import { noCredentials, ownMerchant } from './services.js';
import { relayedShape } from './relay-shape.js';
import { BODY_BYTES_MAX } from '../../http/body.js';
import type { JsonObject } from '../../base/json-object.js';
import { PARSED_BYTES_MAX } from '../../http/json-body.js';
import { noMerchantId, withLook } from './checked-body.js';
import { IDEMPOTENCY_HEADER } from '../../http/idempotency-key.js';
import {
  merchantRoute,
  type MerchantCaller,
  type MerchantServices,
} from '../../http/merchant-route.js';
import { isReply, type Reply, type Request } from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';

/** What a relayed call needs. */
interface RelayCallServices {
  /** Null when no provider is configured. */
  readonly provider: Provider | null;
  readonly store: Pick<Store, 'get' | 'write' | 'vouchForNone'>;
  readonly vault: Pick<CredentialsVault, 'open'>;
  readonly log: Log;
  readonly bodyWorkers: BodyWorkers;
}

interface RelayServices extends RelayCallServices, MerchantServices {
  readonly store: Store;
  /** How long the provider may take, in milliseconds. */
  readonly timeoutMs: number;
}

const WELL_FORMED = /^\P{Cs}*$/u;

function callOf(
  endpoint: ProviderEndpoint,
  credentials: Credentials,
  members: JsonObject,
  bytes: Uint8Array,
): ProviderCall {
  const { method } = endpoint;
  const hasBody = method === 'POST' || method === 'PATCH';
  return {
    method,
    path: callPath(endpoint, credentials.connectionId, members),
    apiKey: credentials.apiKey,
    body: hasBody ? bytes : null,
  };
}

/**
 * A signal that fires when the caller closes the connection. A request with an Idempotency-Key is
 * carried out in any case, since its answer is kept for the caller to ask for again.
 */
function watch(request: Request, isKept: boolean): AbortSignal {
  const gone = new AbortController();
  if (!isKept) request.onClosed?.(() => gone.abort());
  return gone.signal;
}

/**
 * The provider call for a body with the merchant's credentials, or the refusal where there are none
 * to use.
 */
function makeCall(
  services: RelayCallServices,
  caller: MerchantCaller,
  merchant: MerchantRecord,
  endpoint: ProviderEndpoint,
  members: JsonObject,
  bytes: Uint8Array,
): ProviderCall | Reply {
  const { store, vault } = services;
  const credentials = credentialsOf(store, vault, caller.account, merchant.merchantId);
  if (credentials === null) {
    store.vouchForNone();
    return noCredentials(caller);
  }
  if (!WELL_FORMED.test(credentials.connectionId)) {
    return faultReply(caller, 'unusable-credentials');
  }
  return callOf(endpoint, credentials, members, bytes);
}

/**
 * Sends a call to the provider and waits for the answer; meanwhile only the bytes of the call are
 * kept in memory.
 */
async function send(
  services: RelayCallServices,
  caller: MerchantCaller,
  request: Request,
  name: EndpointName,
  call: ProviderCall,
): Promise<Reply> {
  const { provider, log, bodyWorkers } = services;
  const endpoint: ProviderEndpoint = PROVIDER_ENDPOINTS[name];
  if (provider === null) {
    return caller.problem(503, 'This service has no compliance provider configured.');
  }
  const isKept = endpoint.writes && request.header(IDEMPOTENCY_HEADER) !== '';
  // Recorded before sending, so that a second order cannot result when the process is killed or the
  // store takes no writes.
  if (isKept) await caller.begin();
  const sent = await provider.send(call, watch(request, isKept));
  const outcome = await summarized(bodyWorkers, sent);
  const { reply, trouble, changed } = relayReply(caller, endpoint, outcome);
  if (trouble !== null) log.warn('provider call failed', { operation: name, trouble });
  if (isKept && changed !== 'unknown') await caller.settle(changed === 'yes' ? reply : null);
  return reply;
}

/** Relays a cart of a provider-connected merchant with its bytes unchanged but for `merchantId`. */
export function relayCart(
  services: RelayCallServices,
  caller: MerchantCaller,
  merchant: MerchantRecord,
  request: Request,
  body: Uint8Array,
): Reply | Promise<Reply> {
  if (!PLAN_FEATURES[caller.key.plan].provider) {
    return caller.problem(403, 'Carts of provider-connected merchants need the Enterprise plan.');
  }
  return withLook(services, caller, body, 'cart/calculate', (look, bytes) =>
    relay(services, caller, merchant, request, 'cart/calculate', look, bytes),
  );
}

function relay(
  services: RelayCallServices,
  caller: MerchantCaller,
  merchant: MerchantRecord,
  request: Request,
  name: EndpointName,
  { problem, members }: RelayLook,
  bytes: Uint8Array,
): Reply | Promise<Reply> {
  if (problem !== null) return caller.refuse(problem);
  const call = makeCall(services, caller, merchant, PROVIDER_ENDPOINTS[name], members, bytes);
  return isReply(call) ? call : send(services, caller, request, name, call);
}

/** Checks whose merchant a body is about before any of its other faults is reported. */
function relayOwn(
  services: RelayCallServices,
  caller: MerchantCaller,
  request: Request,
  name: EndpointName,
): Reply | Promise<Reply> {
  return withLook(services, caller, request.body, name, (look, bytes) => {
    const { merchantId } = look;
    if (merchantId === null || !UUID.test(merchantId)) {
      return noMerchantId(caller);
    }
    const merchant = ownMerchant(caller, services.store, merchantId.toLowerCase());
    if (isReply(merchant)) return merchant;
    if (merchant.type === 'self-managed') {
      return caller.problem(403, 'This operation is for merchants of the provider type.');
    }
    return relay(services, caller, merchant, request, name, look, bytes);
  });
}

/** Minimum of the body limit, which leaves room for members that only the provider knows. */
const RELAYED_BYTES_MIN = 16_384;

/** Operations whose documented bodies may be longer than the main thread reads. */
const LONG_BODIES: ReadonlySet<EndpointName> = new Set(['order/create', 'refund/create']);

/** The routes of orders, refunds and exemption certificates. */
export function relayRoutes(services: RelayServices): readonly Route[] {
  return RELAYED_NAMES.map((name) => {
    const { writes } = PROVIDER_ENDPOINTS[name];
    return merchantRoute(
      services,
      {
        method: 'POST',
        path: `/merchant/${name}`,
        needs: 'provider',
        bodyBytesMax: bodyBytesMax(
          relayedShape(name),
          LONG_BODIES.has(name) ? BODY_BYTES_MAX : PARSED_BYTES_MAX,
          RELAYED_BYTES_MIN,
        ),
        metered: writes,
        writes,
        deadlineMs: DEADLINE_MS + services.timeoutMs,
      },
      (caller, request) => relayOwn(services, caller, request, name),
    );
  });
}
