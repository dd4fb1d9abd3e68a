/**
 * Orders, refunds, exemption certificates and the carts of provider-connected merchants: checked,
 * sent to the compliance provider with the merchant's own credentials, and answered with its bytes.
 */
import type { Log } from '../../log.js';
import {
  callPath, PROVIDER_ENDPOINTS, RELAYED_NAMES, type EndpointName, type ProviderEndpoint,
} from '../../provider/endpoint.js';
import { withoutMember } from '../../provider/json-member.js';
import type { Provider, ProviderCall } from '../../provider/port.js';
import { credentialsOf, type Credentials, type CredentialsVault } from '../../store/credentials.js';
import { findMerchant, type MerchantRecord } from '../../store/merchants.js';
import { PLAN_TERMS } from '../../store/plan.js';
import type { Store } from '../../store/store.js';
import { relayProblem } from '../../wire/relay-body.js';
import { BODY_BYTES_MAX } from '../body.js';
import { readJsonObject, type JsonObject } from '../json-body.js';
import {
  IDEMPOTENCY_HEADER, merchantRoute, type MerchantCaller, type MerchantServices,
} from '../merchant-gate.js';
import type { Reply, Request } from '../reply.js';
import { DEADLINE_MS, type Route } from '../router.js';
import { relayReply } from './relay-reply.js';

/** What a relayed call needs. */
export interface RelayDesk {
  /** Null when no provider is configured. */
  readonly provider: Provider | null;
  readonly store: Pick<Store, 'get' | 'write'>;
  readonly vault: Pick<CredentialsVault, 'open'>;
  readonly log: Log;
}

export interface RelayServices extends RelayDesk, MerchantServices {
  readonly store: Store;
  /** Longest time of the provider, in milliseconds. */
  readonly timeoutMs: number;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const WELL_FORMED = /^\P{Cs}*$/u;

function callOf(
  endpoint: ProviderEndpoint, credentials: Credentials, body: JsonObject, bytes: Uint8Array,
): ProviderCall {
  const { method } = endpoint;
  const hasBody = method === 'POST' || method === 'PATCH';
  return {
    method,
    path: callPath(endpoint, credentials.connectionId, body),
    apiKey: credentials.apiKey,
    body: hasBody ? withoutMember(bytes, 'merchantId') : null,
  };
}

/** Tells when the caller has gone. A request that will be asked for again is carried to its end. */
function watch(request: Request, isKept: boolean): AbortSignal {
  const gone = new AbortController();
  if (!isKept) request.onClosed?.(() => gone.abort());
  return gone.signal;
}

/** Sends a checked body with the merchant's credentials. */
async function send(
  desk: RelayDesk, caller: MerchantCaller, merchant: MerchantRecord, request: Request,
  name: EndpointName, body: JsonObject,
): Promise<Reply> {
  const { store, vault, provider, log } = desk;
  const endpoint: ProviderEndpoint = PROVIDER_ENDPOINTS[name];
  const credentials = credentialsOf(store, vault, caller.account, merchant.merchantId);
  if (credentials === null) {
    return caller.problem(404, 'No credentials are stored for this merchant.');
  }
  if (!WELL_FORMED.test(credentials.connectionId)) {
    return caller.problem(404, 'The credentials stored for this merchant cannot be used.');
  }
  if (provider === null) {
    return caller.problem(503, 'This service has no compliance provider configured.');
  }
  const isKept = endpoint.writes && request.header(IDEMPOTENCY_HEADER) !== '';
  const call = callOf(endpoint, credentials, body, request.body);
  const outcome = await provider.send(call, watch(request, isKept));
  const { reply, trouble } = relayReply(caller, endpoint, outcome);
  if (trouble !== null) log.warn('provider call failed', { operation: name, trouble });
  if (isKept && reply.status < 300) {
    await store.write((transaction) => caller.keep(transaction, reply), { quiet: true });
  }
  return reply;
}

/** Looks at a body elsewhere: the answer that refuses it, null when it may be sent. */
export type LookElsewhere = () => Promise<Reply | null | 'nowhere'>;

/**
 * Relays a cart of a provider-connected merchant. The body is the request's, as it came; it is
 * checked here unless `look` finds another place for that.
 */
export function relayCart(
  desk: RelayDesk, caller: MerchantCaller, merchant: MerchantRecord, request: Request,
  look: LookElsewhere | null,
): Reply | Promise<Reply> {
  if (!PLAN_TERMS[caller.key.plan].provider) {
    return caller.problem(403, 'Carts of provider-connected merchants need the Enterprise plan.');
  }
  if (look === null) return relay(desk, caller, merchant, request, 'cart/calculate');
  return look().then((refused) => {
    if (refused === 'nowhere') return relay(desk, caller, merchant, request, 'cart/calculate');
    // No member of a cart's body is a part of the path.
    return refused ?? send(desk, caller, merchant, request, 'cart/calculate', {});
  });
}

function relay(
  desk: RelayDesk, caller: MerchantCaller, merchant: MerchantRecord, request: Request,
  name: EndpointName,
): Reply | Promise<Reply> {
  const read = readJsonObject(request.body);
  if ('malformed' in read) return caller.problem(400, read.malformed);
  const problem = relayProblem(name, PROVIDER_ENDPOINTS[name].ids, read.object);
  if (problem !== null) return caller.problem(problem.status, problem.detail, problem.errors);
  return send(desk, caller, merchant, request, name, read.object);
}

/** Finds whose request it is before anything else of it is looked at. */
function relayOwn(
  desk: RelayDesk, caller: MerchantCaller, request: Request, name: EndpointName,
): Reply | Promise<Reply> {
  const read = readJsonObject(request.body);
  if ('malformed' in read) return caller.problem(400, read.malformed);
  const { merchantId } = read.object;
  if (typeof merchantId !== 'string' || !UUID.test(merchantId)) {
    return caller.problem(400, 'merchantId must be a UUID.', [
      { location: 'body.merchantId', message: 'expected a UUID' },
    ]);
  }
  const merchant = findMerchant(desk.store, caller.account, merchantId.toLowerCase());
  if (merchant === null) return caller.problem(403, 'The account has no such merchant.');
  if (merchant.type === 'self-managed') {
    return caller.problem(403, 'This operation is for merchants of the provider type.');
  }
  return relay(desk, caller, merchant, request, name);
}

/** The routes of orders, refunds and exemption certificates. */
export function relayRoutes(services: RelayServices): readonly Route[] {
  const { timeoutMs } = services;
  return RELAYED_NAMES.map((name) => {
    const { writes } = PROVIDER_ENDPOINTS[name];
    return merchantRoute(services, {
      method: 'POST', path: `/merchant/${name}`, bodyBytesMax: BODY_BYTES_MAX, needs: 'provider',
      metered: writes, writes, deadlineMs: DEADLINE_MS + timeoutMs,
    }, (caller, request) => relayOwn(services, caller, request, name));
  });
}
