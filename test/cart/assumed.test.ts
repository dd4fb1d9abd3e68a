/** Carts to a place whose rate is assumed tell what it may be instead, however they are asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionBits } from '../../src/api/cart/options.js';
import { openWire } from '../../src/api/lookup/context.js';
import { widest, type RateRange } from '../../src/engine/situs.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { parseRate } from '../../src/tax/rate.js';
import { answerFrame } from '../../src/worker.js';
import { ask } from '../lookup/ask.js';
import { runBulk } from '../support/bulk-bodies.js';
import { linesOf, RUN } from '../support/bulk-carts.js';
import { engineOf } from '../support/engine-of.js';
import { memoryDataset, NOW_MS } from '../support/memory-dataset.js';

const DATASET = memoryDataset();
const CONTEXT = openWire({ baseUrl: 'https://rates.example' });
const KNOWN = { line1: '200 Spindle Center Dr', city: 'Brookmere', state: 'QZ', zip: '97001' };
const ASSUMED = { ...KNOWN, line1: '999 Nowhere Ln' };

type Place = typeof KNOWN;

interface Assumed {
  readonly lowest: number;
  readonly highest: number;
}

interface Body {
  readonly items: readonly {
    readonly explain?: { readonly destination: { readonly assumed?: object } };
  }[];
  readonly situs: { readonly precision: string; readonly assumed?: Assumed };
}

function cart(place: Place): object {
  const lineItems = [{ index: 0, itemId: 'i', price: 10, quantity: 1 }];
  return { customerId: 'c', currency: {}, origin: place, destination: place, lineItems };
}

function bareCart({ line1, city, state, zip }: Place): object {
  const place = { address: `${line1}, ${city}, ${state} ${zip}` };
  const lineItems = [{ itemId: 'i', price: 10, quantity: 1 }];
  return { customerId: 'c', currency: {}, origin: place, destination: place, lineItems };
}

function told(items: readonly object[], endpoint: 'merchant' | 'calculation' = 'merchant'): Body {
  const frame = new RequestFrame();
  const bits = optionBits({ mode: 'half-up', level: 'line', explain: true });
  frame.add({ kind: 'cart', endpoint, optionBits: bits }, Buffer.from(JSON.stringify({ items })));
  const found: Body[] = [];
  const answers = answerFrame(engineOf(DATASET), frame.bytes(), NOW_MS, CONTEXT);
  readAnswers(answers, 1, (_, { body }) => {
    found.push(JSON.parse(Buffer.from(body).toString('utf8')) as Body);
  });
  return found[0]!;
}

/** What a lookup of the same address says. */
function ofLookup(): Assumed {
  const { text } = ask(60, 'address=999+Nowhere+Ln,+Brookmere,+QZ+97001');
  const { metadata } = JSON.parse(text) as { metadata: { situs: { assumed: Assumed } } };
  return metadata.situs.assumed;
}

test('a cart tells the range that a lookup of its destination tells, and explain the place', () => {
  const assumed = ofLookup();
  assert.ok(assumed.lowest < assumed.highest);
  const { items, situs } = told([cart(ASSUMED)]);
  assert.deepEqual([situs.precision, situs.assumed], ['city', assumed]);
  assert.deepEqual(items[0]?.explain?.destination.assumed, {
    lowest: String(assumed.lowest),
    highest: String(assumed.highest),
  });
  assert.deepEqual(told([bareCart(ASSUMED)], 'calculation').situs.assumed, assumed);
});

test('an answer tells the range of those of its carts that are assumed, and otherwise none', () => {
  for (const items of [
    [cart(KNOWN), cart(ASSUMED)],
    [cart(ASSUMED), cart(KNOWN)],
  ]) {
    assert.deepEqual(told(items).situs.assumed, ofLookup());
  }
  const { items, situs } = told([cart(KNOWN)]);
  assert.deepEqual([situs.precision, situs.assumed], ['point', undefined]);
  assert.equal(items[0]?.explain?.destination.assumed, undefined);
});

test('a place that the tax does not depend on leaves no range', () => {
  const { situs } = told([{ ...cart(KNOWN), origin: ASSUMED }]);
  assert.deepEqual([situs.precision, situs.assumed], ['point', undefined]);
});

test('lines and rows of carts have it as well', () => {
  const run = { ...RUN, dataset: DATASET };
  const { lowest, highest } = ofLookup();
  const [assumed, known] = linesOf([cart(ASSUMED), bareCart(KNOWN)], run).map(
    (line) => JSON.parse(line) as Body,
  );
  assert.deepEqual(assumed?.situs.assumed, { lowest, highest });
  assert.equal(known?.situs.assumed, undefined);
  const row = (line1: string): string => {
    const cell = `"${line1}, Brookmere, QZ 97001"`;
    return `${cell},${cell},10\n`;
  };
  const table = `origin,destination,price\n${row(ASSUMED.line1)}${row(KNOWN.line1)}`;
  const [, first, second] = runBulk('csv', [Buffer.from(table)], { ...run, output: 'csv' })
    .output.toString('utf8')
    .split('\n');
  assert.ok(first?.includes(`,D,assumed ${lowest}-${highest},city,100,`), first);
  assert.ok(second?.includes(',D,,point,100,'), second);
});

test('the range of two places holds what either may have', () => {
  const range = (lowest: string, highest: string, isOpen = false): RateRange => ({
    lowest: parseRate(lowest)!,
    highest: parseRate(highest)!,
    isOpen,
  });
  const one = range('0.05', '0.07');
  assert.equal(widest(null, null), null);
  assert.equal(widest(one, null), one);
  assert.equal(widest(null, one), one);
  assert.deepEqual(widest(one, range('0.06', '0.08')), range('0.05', '0.08'));
  assert.deepEqual(widest(range('0.06', '0.08', true), one), range('0.05', '0.08', true));
});
