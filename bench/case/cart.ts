/** What a cart costs inside a worker: two addresses are located, and ten lines are taxed. */
import { Bench } from 'tinybench';
import { openDataset } from '../../src/dataset/open.js';
import type { CartQuery } from '../../src/engine/cart/outcome.js';
import { Engine } from '../../src/engine/engine.js';
import { isFailure } from '../../src/failure.js';
import { addressLines } from './addresses.js';
import { seeded, sink, type BenchInput, type Figure } from './case.js';

/** How many microseconds the engine may take for a cart of ten lines. */
const CART_MICROSECONDS = 60;
const LINES = 10;
const CARTS = 2_000;
const TRIES = 40_000;
const CENTS = 10_000_000n;
/** General goods, clothing, groceries, a drug, a download, shipping. */
const TICS = [null, '20010', null, '40030', null, '51020', null, '31000', null, '10001'] as const;

const STATE = /, ([A-Z]{2})\b/;

/** How many doors orders come from. */
const ORIGINS = 40;

/** Carts of ten lines within a state, so that both addresses have to be found. */
export function sampleCarts(
  addresses: readonly string[],
  explain: boolean,
  isAnswered: (cart: CartQuery) => boolean,
): readonly CartQuery[] {
  const next = seeded(19);
  const carts: CartQuery[] = [];
  const origins = Array.from(
    { length: ORIGINS },
    () => addresses[Math.floor(next() * addresses.length)]!,
  );
  for (let tries = 0; tries < TRIES && carts.length < CARTS; tries += 1) {
    const address = (): string => addresses[Math.floor(next() * addresses.length)]!;
    const origin = origins[Math.floor(next() * ORIGINS)]!;
    const destination = address();
    if (STATE.exec(origin)?.[1] !== STATE.exec(destination)?.[1]) continue;
    const cart: CartQuery = {
      instantMs: null,
      origin: { kind: 'line', address: origin },
      destination: { kind: 'line', address: destination },
      lines: Array.from({ length: LINES }, (_, index) => ({
        index,
        itemId: `item-${index}`,
        tic: TICS[index] ?? null,
        price: BigInt(1 + Math.floor(next() * 20_000)) * CENTS,
        quantity: 10_000 * (1 + Math.floor(next() * 4)),
      })),
      rounding: { mode: 'half-up', level: 'line', digits: 2 },
      explain,
    };
    if (isAnswered(cart)) carts.push(cart);
  }
  return carts;
}

/** The kinds measured: carts to new doors, to the same doors again, and with explanations. */
const KINDS = [
  { name: 'engine cart', known: false, explain: false },
  { name: 'engine cart, known doors', known: true, explain: false },
  { name: 'engine cart, explained', known: true, explain: true },
] as const;

/** After this time the engine forgets places that it remembered. */
const SLOT_MS = 15 * 60 * 1000;

export async function cartCase(input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const engine = new Engine(dataset);
  const addresses = await addressLines(dataset, input.datasetDir);
  const figures: Figure[] = [];
  for (const { name, known, explain } of KINDS) {
    let now = Date.now();
    const carts = sampleCarts(
      addresses,
      explain,
      (cart) => !isFailure(engine.calculate(cart, now)),
    );
    if (carts.length === 0) throw new Error('no sampled cart has an answer');
    const bench = new Bench({ time: input.seconds * 1000, warmupTime: 500 });
    let at = 0;
    bench.add(
      'cart',
      () => {
        sink.value = engine.calculate(carts[at]!, now);
        at = (at + 1) % carts.length;
        if (at === 0 && !known) now += SLOT_MS;
      },
      { async: false },
    );
    await bench.run();
    const { result } = bench.tasks[0]!;
    if (result.state !== 'completed') throw new Error('the cart case did not finish');
    figures.push({
      name,
      value: result.latency.p50 * 1000,
      unit: 'µs',
      note: `${ORIGINS} origins, ten lines`,
      ...(known ? {} : { target: { atMost: CART_MICROSECONDS } }),
    });
  }
  dataset.close();
  return figures;
}
