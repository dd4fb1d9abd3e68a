/** Carts as clients send them, to be changed member by member. */

export type Sent = Record<string, unknown>;

/** A line of a merchant cart. */
export function sentLine(change: Sent = {}): Sent {
  return { index: 0, itemId: 'sku-1', price: 49.99, quantity: 2, ...change };
}

/** A cart of POST /merchant/cart/calculate. */
export function sentCart(change: Sent = {}): Sent {
  const address = { line1: '1 Main St', city: 'Oldport', state: 'QA', zip: '90001' };
  return {
    customerId: 'customer-1',
    currency: {},
    origin: address,
    destination: address,
    lineItems: [sentLine()],
    ...change,
  };
}

/** A body of POST /calculate/cart. */
export function sentCalculation(change: Sent = {}, line: Sent = {}): Sent {
  const place = { address: '1 Main St, Oldport, QA 90001' };
  return {
    items: [
      {
        customerId: 'customer-1',
        currency: { currencyCode: 'USD' },
        origin: place,
        destination: place,
        lineItems: [{ itemId: 'sku-1', price: 10.75, quantity: 1.5, ...line }],
        ...change,
      },
    ],
  };
}
