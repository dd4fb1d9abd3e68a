/** Files of each kind for a fleet, and what of an answer is the same whoever gives it. */
import { DOOR, table } from '../support/files-fleet.js';

/** Rows of a chunk, for the files that are asked with several. */
export const CHUNKS: Readonly<Record<string, readonly number[]>> = {
  'rows.csv': [600, 65_536],
  'few.csv': [1],
};

/** Lines that have no name of a job in them. */
export function unnamed(text: string): string {
  return text.replaceAll(/"job":"bulk_[0-9a-f]+"/g, '').replaceAll(/"sha256":"[0-9a-f]{64}"/g, '');
}

/** How many chunks metrics tell of. */
export function chunksOf(told: string, result: string): number {
  return Number(
    new RegExp(`^situs_files_chunks_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(told)?.[1],
  );
}

const CART = {
  cartId: 'c',
  customerId: 'c-7',
  currency: {},
  origin: { address: DOOR },
  destination: { address: DOOR },
  lineItems: [{ itemId: 'sku-1', price: 10.75, quantity: 2 }],
};
const lines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const ORDERS = [
  'destination,price,qty,origin',
  ...Array.from(
    { length: 700 },
    (_, index) =>
      `"${index % 5 === 0 ? '1 Nowhere Rd, Nowhere, QA' : DOOR}",${index}.75,2,"${DOOR}"`,
  ),
].join('\n');
export const FILES: readonly (readonly [name: string, body: string, ...args: readonly string[]])[] =
  [
    ['rows.csv', table(2_000)],
    // A chunk for each row is a message for each row.
    ['few.csv', table(150)],
    ['to-lines.csv', table(700), '--format', 'ndjson'],
    [
      'rows.ndjson',
      lines(
        Array.from({ length: 1_500 }, (_, id) =>
          id % 3 === 0
            ? { id, postalcode: '91010' }
            : { id, address: id % 5 === 0 ? 'nowhere' : DOOR },
        ),
      ),
    ],
    ['orders.csv', ORDERS, '--kind', 'cart'],
    [
      'carts.ndjson',
      lines(
        Array.from({ length: 700 }, (_, id) => ({
          id,
          items: [id % 9 === 0 ? { ...CART, lineItems: 7 } : CART],
        })),
      ),
      '--kind',
      'cart',
    ],
  ];
