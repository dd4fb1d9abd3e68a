/** What the simulated provider answers on which path of a connection. */
import { Carts } from './carts.js';
import { Certificates } from './certificates.js';
import { refuse, type Fields, type SimulatedReply } from './fields.js';
import { Orders } from './orders.js';
import type { Random } from './random.js';

/** Everything a connection holds. */
export interface Books {
  readonly connectionId: string;
  readonly path: string;
  readonly carts: Carts;
  readonly orders: Orders;
  readonly certificates: Certificates;
}

export interface SimulatedCall {
  readonly method: string;
  /** Segments below the connection, decoded. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Fields;
  /** RFC 3339 */
  readonly now: string;
}

export function newBooks(connectionId: string, random: Random): Books {
  const path = `/tax/connections/${encodeURIComponent(connectionId)}`;
  return {
    connectionId, path,
    carts: new Carts(random),
    orders: new Orders(connectionId, path),
    certificates: new Certificates(connectionId, `${path}/exemption-certificates`, random),
  };
}

type Answer = (books: Books, call: SimulatedCall, id: string) => SimulatedReply;

/** "*" stands for an id. */
const PATHS: Readonly<Record<string, Answer>> = {
  'POST carts': ({ carts, connectionId, path }, { body, now }) =>
    carts.calculate(connectionId, body, now, `${path}/carts`),
  'POST carts/orders': ({ orders, carts }, { body, now }) =>
    orders.createFromCart(body, carts, now),
  'POST orders': ({ orders }, { body }) => orders.create(body),
  'GET orders/*': ({ orders }, { query }, id) =>
    orders.get(id, query.getAll('expand').includes('refunds')),
  'PATCH orders/*': ({ orders }, { body }, id) => orders.update(id, body),
  'POST orders/refunds/*': ({ orders }, { body, now }, id) => orders.refund(id, body, now),
  'POST exemption-certificates': ({ certificates }, { body, now }) =>
    certificates.create(body, now),
  'GET exemption-certificates': ({ certificates }, { query }) => certificates.list(query),
  'GET exemption-certificates/*': ({ certificates }, _call, id) => certificates.get(id),
  'DELETE exemption-certificates/*': ({ certificates }, { now }, id) =>
    certificates.remove(id, now),
};

/** Answers one call of a connection. */
export function answerCall(books: Books, call: SimulatedCall): SimulatedReply {
  const { method, segments } = call;
  const exact = PATHS[`${method} ${segments.join('/')}`];
  if (exact !== undefined) return exact(books, call, '');
  const byId = PATHS[`${method} ${[...segments.slice(0, -1), '*'].join('/')}`];
  return byId?.(books, call, segments.at(-1) ?? '')
    ?? refuse(404, 'Not Found', 'there is no such operation');
}
