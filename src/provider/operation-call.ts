/**
 * The provider's call for each operation of the service. Bodies are passed on as they are, except
 * for `merchantId`; calls without a body take what they need from it.
 */
import type { JsonObject } from '../base/json-object.js';
import type { ProviderMethod } from './provider.js';

export interface ProviderEndpoint {
  readonly method: ProviderMethod;
  /** The path below the connection; names in braces are members of the body. */
  readonly path: string;
  /** Members that are ids of an order, a cart or a certificate. */
  readonly ids: readonly string[];
  /** Members that become the query, in this order. */
  readonly query: readonly string[];
  /** Whether the call changes something, which a second call would change again. */
  readonly writes: boolean;
  /** Whether the provider may answer with a list of one instead of the object. */
  readonly single?: boolean;
}

const CERTIFICATES = 'exemption-certificates';
const NONE: readonly string[] = [];

/** Endpoints by the path of the service's own operation, without "/merchant/". */
export const PROVIDER_ENDPOINTS = {
  'cart/calculate': { method: 'POST', path: 'carts', ids: NONE, query: NONE, writes: false },
  'order/create-from-cart': {
    method: 'POST',
    path: 'carts/orders',
    ids: ['cartId', 'orderId'],
    query: NONE,
    writes: true,
  },
  'order/create': {
    method: 'POST',
    path: 'orders',
    ids: ['orderId'],
    query: NONE,
    writes: true,
  },
  'order/get': {
    method: 'GET',
    path: 'orders/{orderId}',
    ids: ['orderId'],
    query: ['expand'],
    writes: false,
  },
  'order/update': {
    method: 'PATCH',
    path: 'orders/{orderId}',
    ids: ['orderId'],
    query: NONE,
    writes: true,
  },
  'refund/create': {
    method: 'POST',
    path: 'orders/refunds/{orderId}',
    ids: ['orderId'],
    query: NONE,
    writes: true,
    single: true,
  },
  'cert/create': { method: 'POST', path: CERTIFICATES, ids: NONE, query: NONE, writes: true },
  'cert/get': {
    method: 'GET',
    path: `${CERTIFICATES}/{certificateId}`,
    ids: ['certificateId'],
    query: NONE,
    writes: false,
  },
  'cert/delete': {
    method: 'DELETE',
    path: `${CERTIFICATES}/{certificateId}`,
    ids: ['certificateId'],
    query: NONE,
    writes: true,
  },
  'cert/list': {
    method: 'GET',
    path: CERTIFICATES,
    ids: NONE,
    query: ['customerId', 'cursor', 'limit', 'sortBy', 'ascending', 'disabled'],
    writes: false,
  },
} as const satisfies Readonly<Record<string, ProviderEndpoint>>;

export type EndpointName = keyof typeof PROVIDER_ENDPOINTS;

/** The order does not change while the program runs. */
export const ENDPOINT_NAMES = Object.keys(PROVIDER_ENDPOINTS) as readonly EndpointName[];

/** All but carts, for which the route decides first who calculates. */
export const RELAYED_NAMES = ENDPOINT_NAMES.filter((name) => name !== 'cart/calculate');

function plain(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}

function queryOf(names: readonly string[], body: JsonObject): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = body[name];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const each of values) if (plain(each) !== '') query.append(name, plain(each));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/**
 * The path of a call, with its query.
 * @param body of well-formed text (no halves of surrogate pairs) in ids and connection id.
 */
export function callPath(
  endpoint: ProviderEndpoint,
  connectionId: string,
  body: JsonObject,
): string {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(plain(body[name])),
  );
  const query = queryOf(endpoint.query, body);
  return `/tax/connections/${encodeURIComponent(connectionId)}/${path}${query}`;
}
