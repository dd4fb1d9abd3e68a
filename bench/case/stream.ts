/**
 * Carts a second over one WebSocket, in turns with a bare server that has messages of the same
 * size.
 */
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { WebSocket } from 'ws';
import { openDataset } from '../../src/dataset/open.js';
import { BATCH_MESSAGES_MAX, CREDIT_MESSAGES } from '../../src/bulk/stream/session-options.js';
import { startBareSocketServer } from '../load/bare-socket-server.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { addressLines } from './addresses.js';
import { processorTime } from '../load/processor-time.js';
import { type BenchInput, type Figure, median, seeded } from './case.js';

const LINES = 5;
const BATCHES = 300;
/** How many warehouses orders come from. */
const ORIGINS = 40;
/** How often to draw a destination until it is in the state of the origin. */
const TRIES = 200;
const ROUNDS = 3;
const TARGET = 10_000;
const ACKNOWLEDGE_EVERY = 8;
const STATE = /, ([A-Z]{2})\b/;

/** Carts within a state, as a client sends them. */
export async function sampleCarts(
  { datasetDir }: BenchInput,
  count: number,
): Promise<readonly object[]> {
  const dataset = openDataset(datasetDir);
  const lines = await addressLines(dataset, datasetDir);
  dataset.close();
  const next = seeded(23);
  const address = (): string => lines[Math.floor(next() * lines.length)]!;
  const origins = Array.from({ length: ORIGINS }, address);
  const cart = (id: number): object => {
    const origin = origins[id % ORIGINS]!;
    let destination = address();
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (STATE.exec(origin)?.[1] === STATE.exec(destination)?.[1]) break;
      destination = address();
    }
    return {
      id,
      items: [
        {
          customerId: 'bench',
          currency: { currencyCode: 'USD' },
          origin: { address: origin },
          destination: { address: destination },
          lineItems: Array.from({ length: LINES }, (_, index) => ({
            itemId: `item-${index}`,
            price: Math.floor(next() * 20_000 + 1) / 100,
            quantity: 1 + Math.floor(next() * 4),
            ...(index === 0 ? { taxabilityCode: 20010 } : {}),
          })),
        },
      ],
    };
  };
  return Array.from({ length: count }, (_, index) => cart(index));
}

/** Carts in batches, each a message of a WebSocket. */
export function batchesOf(carts: readonly object[]): readonly string[] {
  return Array.from({ length: carts.length / BATCH_MESSAGES_MAX }, (_, batch) =>
    JSON.stringify(carts.slice(batch * BATCH_MESSAGES_MAX, (batch + 1) * BATCH_MESSAGES_MAX)),
  );
}

interface Measured {
  /** Carts answered in a second. */
  readonly rate: number;
  readonly carts: number;
  /** Mean bytes of the answers to a batch. */
  readonly answerBytes: number;
  readonly last: string;
}

/** Sends batches for some seconds, as many at a time as the credit allows. */
export async function measureSocket(
  port: number,
  batches: readonly string[],
  seconds: number,
  greeted: boolean,
): Promise<Measured> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`, {
    headers: { 'X-API-KEY': BENCH_KEY },
    perMessageDeflate: false,
  });
  const open = once(socket, 'open');
  const greeting = greeted ? once(socket, 'message') : null;
  await Promise.all([open, greeting]);
  const [inFlightMax, until] = [CREDIT_MESSAGES / BATCH_MESSAGES_MAX, seconds * 1000];
  let [sent, answered, bytes, last] = [0, 0, 0, ''];
  const from = performance.now();
  await new Promise<void>((resolve, reject) => {
    const send = (): void => {
      socket.send(batches[sent % batches.length]!);
      sent += 1;
    };
    socket.on('message', (message: Buffer) => {
      answered += 1;
      bytes += message.length;
      if (performance.now() - from >= until) {
        last = message.toString();
        socket.removeAllListeners();
        socket.on('error', () => undefined);
        resolve();
        return;
      }
      if (greeted && answered % ACKNOWLEDGE_EVERY === 0) {
        socket.send(`{"ack":${answered * BATCH_MESSAGES_MAX}}`);
      }
      send();
    });
    socket.on('close', (code) => reject(new Error(`closed with ${code}`)));
    while (sent < inFlightMax) send();
  });
  const took = performance.now() - from;
  socket.terminate();
  return {
    rate: (answered * BATCH_MESSAGES_MAX * 1000) / took,
    carts: answered * BATCH_MESSAGES_MAX,
    answerBytes: bytes / answered,
    last,
  };
}

/** Figures for carts of five lines over one WebSocket. */
export async function streamCartsCase(input: BenchInput): Promise<readonly Figure[]> {
  const batches = batchesOf(await sampleCarts(input, BATCHES * BATCH_MESSAGES_MAX));
  const situs = await startSitus(input.varDir);
  try {
    const warm = await measureSocket(situs.port, batches, input.seconds, true);
    const bare = await startBareSocketServer(Buffer.alloc(Math.round(warm.answerBytes), 'x'));
    const rates: number[] = [];
    const bares: number[] = [];
    const costs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = processorTime(situs.pid);
      const { rate, carts } = await measureSocket(situs.port, batches, input.seconds, true);
      costs.push((processorTime(situs.pid) - before) / carts);
      rates.push(rate);
      bares.push((await measureSocket(bare.port, batches, input.seconds, false)).rate);
    }
    bare.stop();
    const answers = JSON.parse(warm.last) as readonly { readonly items?: object }[];
    const share = answers.filter(({ items }) => items !== undefined).length / answers.length;
    return [
      {
        name: 'stream carts',
        value: median(rates),
        unit: 'carts/s',
        target: { atLeast: TARGET },
        note: `one WebSocket, ${LINES} lines, batches of ${BATCH_MESSAGES_MAX}, ${Math.round(
          share * 100,
        )} % calculated`,
      },
      {
        name: 'stream carts processor',
        value: median(costs),
        unit: 'µs/cart',
        note: 'of the whole service',
      },
      { name: 'bare WebSocket server', value: median(bares), unit: 'carts/s' },
      { name: 'stream carts share', value: median(rates) / median(bares), unit: '' },
    ];
  } finally {
    await situs.stop();
  }
}
