/** Messages of lookups and carts for a stream, and what single requests of them are. */
import { seeded } from '../../bench/case/case.js';
import { sentCalculation, sentCart, sentLine } from '../support/sent-carts.js';

export const HERE = '5 Border Ave, Elmton, QA 91011';
const SPLIT = { line1: '5 Border Ave', city: 'Elmton', state: 'QA', zip: '91011' };

export const merchantBody = (merchantId: string | null, change: object = {}): object => ({
  ...(merchantId === null ? {} : { merchantId }),
  items: [
    sentCart({
      cartId: 'c',
      origin: SPLIT,
      destination: SPLIT,
      lineItems: [sentLine(), sentLine({ index: 1, itemId: 'b', price: 10.1, quantity: 1.5 })],
    }),
  ],
  ...change,
});
export const oneBody = (line: object = {}): object =>
  sentCalculation({ origin: { address: HERE }, destination: { address: HERE } }, { ...line });

/** Lookups of each kind, some of which lead nowhere. */
export function mixedLookups(): readonly Readonly<Record<string, string | number>>[] {
  const random = seeded(11);
  return Array.from({ length: 120 }, (_, id): Record<string, string | number> => {
    const kind = random();
    if (kind < 0.4)
      return { id, address: `${Math.floor(random() * 400)} Main St, Elmton, QA 91010` };
    if (kind < 0.6) return { id, postalcode: String(91_000 + Math.floor(random() * 40)) };
    if (kind < 0.8) return { id, lat: String(10 + random()), lng: String(-30 + random()) };
    return {
      id,
      address: HERE,
      taxabilityCode: '20010',
      historical: random() < 0.5 ? '2026-02' : 'x',
    };
  });
}

/** Carts of a merchant and of none, right and wrong, with the endpoint of each. */
export function casesOf(merchantId: string): readonly (readonly [path: string, body: object])[] {
  return [
    ['/merchant/cart/calculate', merchantBody(merchantId)],
    [
      '/merchant/cart/calculate',
      merchantBody(merchantId, { explain: true, rounding: 'half-even,cart' }),
    ],
    [
      '/merchant/cart/calculate',
      merchantBody(merchantId, { transactionDate: '2026-08-07T00:00:00Z' }),
    ],
    [
      '/merchant/cart/calculate',
      merchantBody(merchantId, { items: [sentCart({ currency: { currencyCode: 'CAD' } })] }),
    ],
    ['/merchant/cart/calculate', merchantBody(merchantId, { items: [sentCart()] })],
    ['/merchant/cart/calculate', merchantBody(merchantId, { items: [] })],
    ['/merchant/cart/calculate', merchantBody(merchantId, { rounding: 'up,side' })],
    ['/calculate/cart', oneBody()],
    // biome-ignore lint/correctness/noPrecisionLoss: more digits than a price may have are the point
    ['/calculate/cart', oneBody({ price: 1.123456789012345678 })],
    ['/calculate/cart', oneBody({ taxabilityCode: 20_010 })],
    ['/calculate/cart', { ...oneBody(), explain: true }],
    ['/calculate/cart', oneBody({ quantity: 0 })],
    ['/calculate/cart', { items: [{}] }],
    ['/calculate/cart', { ...oneBody(), other: 1 }],
    [
      '/calculate/cart',
      sentCalculation({ destination: { address: '1 Nowhere Rd, Nowhere, QA 00001' } }),
    ],
  ];
}
