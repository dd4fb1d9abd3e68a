/** Ids of carts in files: numbers of rows, and ids in cells. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Papa from 'papaparse';
import { runBulk } from '../support/bulk-bodies.js';
import { CA, linesOf, NY, NY_PARTS, OF_MERCHANT, RUN } from '../support/bulk-carts.js';
import { sentCart, sentLine } from '../support/sent-carts.js';

test('an id of sixteen digits is told again; another number as long refuses the cart', () => {
  const id = 1_234_567_890_123_456;
  const cart = sentCart({ origin: NY_PARTS, destination: NY_PARTS });
  const [told, refused] = linesOf(
    [
      { id, ...cart },
      { id: 7, ...cart, id2: id, lineItems: [{ ...sentLine(), price: 1.234567890123456 }] },
    ],
    { defaults: OF_MERCHANT },
  );
  assert.match(told!, new RegExp(`^\\{"line":\\d+,"id":${id},"cartId"`));
  assert.match(refused!, /more than 15 significant digits/);
});

test('ids in cells are counted in characters, as those of bodies are', () => {
  const messageOf = (itemId: string): string | undefined => {
    const table = `origin,destination,price,item id\n"${NY}","${CA}",10,${itemId}\n`;
    const { output } = runBulk('csv', [Buffer.from(table)], { ...RUN, output: 'csv' });
    const { data } = Papa.parse<Record<string, string>>(output.toString('utf8'), { header: true });
    return data[0]?.['situs_message'];
  };
  assert.equal(messageOf('😀'.repeat(50)), '');
  assert.match(messageOf('😀'.repeat(51)) ?? '', /itemId: up to 50 characters/);
});
