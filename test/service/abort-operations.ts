/** A request of each kind of operation, for clients that go away in the midst of it. */
import { seeded } from '../../bench/case/case.js';
import { merchantCart, plainCart, randomLookups } from '../support/same-items.js';
import { NDJSON } from '../support/bulk-client.js';
import { UNKNOWN_ID } from '../support/merchant-service.js';
import { sendable, socketOf, type Sendable } from '../support/vanishing-client.js';

export const random = seeded(59);
export const rows = randomLookups(1_500, 61)
  .map((row) => `${JSON.stringify(row)}\n`)
  .join('');
export const few = randomLookups(40, 67).map((row) => JSON.stringify(row));
const carts = Array.from(
  { length: 300 },
  () => `${JSON.stringify({ items: [plainCart(random)] })}\n`,
).join('');
export const MERCHANT = JSON.stringify({ merchantName: 'Vanished', merchantType: 'self-managed' });

export function fieldsOf(key: string, type = 'application/json'): Record<string, string> {
  return { 'X-API-KEY': key, 'Content-Type': type };
}

/** The keys of merchants that were asked for. */
export const asked: string[] = [];

/** A request of each kind of operation, by its name: of a merchant, and for the result of a job. */
export function operationsOf(
  key: string,
  merchantId: string,
  resultPath: string,
): Readonly<Record<string, () => Sendable>> {
  const json = fieldsOf(key);
  const lines = fieldsOf(key, NDJSON);
  const large = JSON.stringify({
    merchantId,
    items: [
      merchantCart(random, 'large', 240),
      ...Array.from({ length: 8 }, (_, index) => merchantCart(random, `large ${index}`, 200)),
    ],
  });
  return {
    lookup: () =>
      sendable(
        'GET',
        `/request/v60?address=${encodeURIComponent('9 E Main St, Elmton, QA 91010')}`,
        json,
      ),
    cart: () =>
      sendable('POST', '/calculate/cart', json, JSON.stringify({ items: [plainCart(random)] })),
    'large cart': () => sendable('POST', '/merchant/cart/calculate', json, large),
    search: () => sendable('POST', '/search/tic', json, '{"query":"clothing"}'),
    merchant: () => {
      const idempotencyKey = `merchant ${asked.length}`;
      asked.push(idempotencyKey);
      return sendable(
        'POST',
        '/merchant/create',
        { ...json, 'Idempotency-Key': idempotencyKey },
        MERCHANT,
      );
    },
    nexus: () =>
      sendable('POST', '/merchant/nexus/list', json, JSON.stringify({ merchantId: UNKNOWN_ID })),
    upload: () => sendable('POST', '/bulk/lookup', lines, rows),
    'spooled upload': () =>
      sendable('POST', '/bulk/lookup?spool=true', { ...lines, 'Accept-Encoding': 'gzip' }, rows),
    'cart upload': () => sendable('POST', '/bulk/cart', lines, carts),
    job: () =>
      sendable(
        'POST',
        '/bulk/jobs?kind=lookup',
        lines,
        rows.slice(0, rows.indexOf('\n', 9_000) + 1),
      ),
    result: () =>
      sendable('GET', resultPath, {
        ...json,
        ...(random() < 0.5 ? { 'Accept-Encoding': 'gzip' } : {}),
      }),
    stream: () => sendable('POST', '/stream', lines, `${few.join('\n')}\n`),
    socket: () => socketOf('/stream', json, few),
  };
}
