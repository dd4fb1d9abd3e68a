/** The answers of the simulated provider for each path of a connection. */
import { Carts, numberOfUnits, shareOf, unitsOf } from './carts.js';
import { Certificates } from './certificates.js';
import {
  addressOf,
  currencyOf,
  exemptionOf,
  type Fields,
  fieldsOf,
  type Json,
  listOf,
  numberOf,
  refuse,
  type SimulatedReply,
  textOf,
} from './fields.js';
import type { Random } from './faults.js';

/* The orders of a connection, and their refunds. */

/** How many orders are kept; further ones are refused. */
const ORDERS_MAX = 100_000;

interface Order {
  fields: Fields;
  readonly refunds: Fields[];
  /** The quantity refunded of each line, in units. */
  readonly refunded: Map<number, bigint>;
}

function badRequest(detail: string): SimulatedReply {
  return refuse(400, 'Bad Request', detail);
}

function orderFields(connectionId: string, orderId: string, body: Fields): Fields {
  const { channel = null, batchId, completedDate } = body;
  return {
    connectionId,
    orderId,
    kind: textOf(body['kind']) || 'order',
    customerId: textOf(body['customerId']),
    transactionDate: textOf(body['transactionDate']),
    ...(textOf(completedDate) === '' ? {} : { completedDate: textOf(completedDate) }),
    origin: addressOf(body['origin']),
    destination: addressOf(body['destination']),
    currency: currencyOf(body['currency']),
    lineItems: listOf(body['lineItems']),
    deliveredBySeller: body['deliveredBySeller'] === true,
    exemption: exemptionOf(body['exemption']),
    channel,
    excludeFromFiling: body['excludeFromFiling'] === true,
    ...(batchId === undefined ? {} : { batchId }),
  };
}

function indexOf(line: Fields): number {
  return numberOf(line['index']);
}

/** One line of a refund, with price and tax of the order. */
function refundLine(line: Fields, quantity: bigint): Fields {
  const { index = 0, itemId = '', price = 0, tic = null } = line;
  const tax = unitsOf(numberOf(fieldsOf(line['tax'])['amount']));
  const amount = shareOf(tax, quantity, unitsOf(numberOf(line['quantity'])));
  return {
    index,
    itemId,
    price,
    quantity: numberOfUnits(quantity),
    tax: { amount: numberOfUnits(amount) },
    tic,
  };
}

class Orders {
  readonly #orders = new Map<string, Order>();
  readonly #connectionId: string;
  /** Path of the connection. */
  readonly #path: string;

  constructor(connectionId: string, path: string) {
    this.#connectionId = connectionId;
    this.#path = path;
  }

  create(body: Fields): SimulatedReply {
    const orderId = textOf(body['orderId']);
    if (orderId === '') return badRequest('orderId is required');
    if (this.#orders.has(orderId)) return badRequest(`order ${orderId} already exists`);
    if (this.#orders.size >= ORDERS_MAX) return badRequest('the simulator holds no more orders');
    const fields = orderFields(this.#connectionId, orderId, body);
    this.#orders.set(orderId, { fields, refunds: [], refunded: new Map() });
    const location = `${this.#path}/orders/${encodeURIComponent(orderId)}`;
    return { status: 201, body: fields, location };
  }

  createFromCart(body: Fields, carts: Carts, now: string): SimulatedReply {
    const found = carts.find(textOf(body['cartId']));
    if (found === null) return refuse(404, 'Not Found', 'no such cart');
    const { cart, date } = found;
    const { orderId = '', kind = 'order' } = body;
    const given = textOf(body['completedDate']);
    const completedDate = given === '' && body['completed'] === true ? now : given;
    return this.create({ ...cart, orderId, kind, transactionDate: date, completedDate });
  }

  get(orderId: string, withRefunds: boolean): SimulatedReply {
    const order = this.#orders.get(orderId);
    if (order === undefined) return refuse(404, 'Not Found', 'no such order');
    const body = withRefunds ? { ...order.fields, refunds: order.refunds } : order.fields;
    return { status: 200, body };
  }

  update(orderId: string, body: Fields): SimulatedReply {
    const order = this.#orders.get(orderId);
    if (order === undefined) return refuse(404, 'Not Found', 'no such order');
    const completedDate = textOf(body['completedDate']);
    if (completedDate !== '') order.fields = { ...order.fields, completedDate };
    return { status: 200, body: order.fields };
  }

  /** Refunds the quantities in the body, or all that is left where it has no items. */
  refund(orderId: string, body: Fields, now: string): SimulatedReply {
    const order = this.#orders.get(orderId);
    if (order === undefined) return refuse(404, 'Not Found', 'no such order');
    if (order.fields['completedDate'] === undefined) return badRequest('order is not completed');
    const items = this.#refundItems(order, listOf(body['items']));
    if (items === null) return badRequest('more is refunded than was ordered');
    const { returnedDate, batchId } = body;
    const refund: Fields = {
      connectionId: this.#connectionId,
      items,
      createdDate: now,
      ...(returnedDate === undefined ? {} : { returnedDate }),
      ...(batchId === undefined ? {} : { batchId }),
    };
    order.refunds.push(refund);
    return { status: 201, body: refund };
  }

  #refundItems(order: Order, asked: readonly Fields[]): readonly Json[] | null {
    const lines = listOf(order.fields['lineItems']);
    const left = (line: Fields): bigint =>
      unitsOf(numberOf(line['quantity'])) - (order.refunded.get(indexOf(line)) ?? 0n);
    const wanted =
      asked.length === 0
        ? lines.map((line) => ({ line, quantity: left(line) }))
        : asked.map((item) => ({
            line: lines.find(({ itemId }) => itemId === item['itemId']),
            quantity: unitsOf(numberOf(item['quantity'])),
          }));
    const before = new Map(order.refunded);
    const items: Json[] = [];
    for (const { line, quantity } of wanted) {
      if (line === undefined || quantity <= 0n || quantity > left(line)) {
        order.refunded.clear();
        for (const [index, units] of before) order.refunded.set(index, units);
        return null;
      }
      order.refunded.set(indexOf(line), (order.refunded.get(indexOf(line)) ?? 0n) + quantity);
      items.push(refundLine(line, quantity));
    }
    return items;
  }
}

/** Everything that is kept for a connection. */
export interface Books {
  readonly connectionId: string;
  readonly path: string;
  readonly carts: Carts;
  readonly orders: Orders;
  readonly certificates: Certificates;
}

interface SimulatedCall {
  readonly method: string;
  /** Segments of the path below the connection, decoded. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Fields;
  /** RFC 3339 */
  readonly now: string;
}

/** The empty books of a new connection. */
export function newBooks(connectionId: string, random: Random): Books {
  const path = `/tax/connections/${encodeURIComponent(connectionId)}`;
  return {
    connectionId,
    path,
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

/** Answers a call of a connection. */
export function answerCall(books: Books, call: SimulatedCall): SimulatedReply {
  const { method, segments } = call;
  const exact = PATHS[`${method} ${segments.join('/')}`];
  if (exact !== undefined) return exact(books, call, '');
  const byId = PATHS[`${method} ${[...segments.slice(0, -1), '*'].join('/')}`];
  return (
    byId?.(books, call, segments.at(-1) ?? '') ??
    refuse(404, 'Not Found', 'there is no such operation')
  );
}
