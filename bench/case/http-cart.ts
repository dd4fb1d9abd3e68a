/**
 * Carts over HTTP: small ones compared with a bare server, and the largest request beside lookups.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import {
  CART_LINES_MAX,
  type CartPlace,
  type CartQuery,
  type SplitPlace,
} from '../../src/engine/cart/outcome.js';
import { Engine } from '../../src/engine/engine.js';
import { isFailure } from '../../src/failure.js';
import { CARTS_MAX } from '../../src/api/merchant/relay-shape.js';
import { startBareServer } from '../load/bare-server.js';
import type { BareServer } from '../load/child-server.js';
import { runLoad, type LoadResult } from '../load/load.js';
import { BENCH_KEY, startSitus, type SitusServer } from '../load/situs-server.js';
import { addressLines, addressPaths } from './addresses.js';
import { beside, upload } from '../load/upload.js';
import { partsOf } from '../torture/row-pool.js';
import { steady, WORKERS_ANSWER } from './bulk.js';
import { sampleCarts } from './cart.js';
import { type BenchInput, type Figure, median } from './case.js';
import { bareAnswer } from './http.js';

const CART = '/merchant/cart/calculate';
const SHARE = 0.4;
const CONNECTIONS = 64;
const ROUNDS = 5;
const NANO = 1e9;
const QUANTITY_ONE = 10_000;

function splitOf(place: CartPlace): SplitPlace {
  const [line1 = '', city = '', state = '', zip = ''] = partsOf(
    place.kind === 'line' ? place.address : '',
  );
  return { kind: 'split', line1, line2: '', city, state, zip };
}

function addressOf(place: CartPlace): object {
  const { line1, city, state, zip } = splitOf(place);
  return { line1, city, state, zip };
}

function sentCart({ origin, destination, lines }: CartQuery, count: number): object {
  return {
    customerId: 'customer-453',
    currency: { currencyCode: 'USD' },
    origin: addressOf(origin),
    destination: addressOf(destination),
    lineItems: Array.from({ length: count }, (_, index) => {
      const { price, quantity, tic } = lines[index % lines.length]!;
      return {
        index,
        itemId: `sku-${1000 + index}`,
        price: Number(price) / NANO,
        quantity: quantity / QUANTITY_ONE,
        ...(tic === null ? {} : { tic: Number(tic) }),
      };
    }),
  };
}

/** Carts of ten lines with addresses in parts which can be answered. */
async function answeredCarts({ datasetDir }: BenchInput): Promise<readonly CartQuery[]> {
  const dataset: Dataset = openDataset(datasetDir);
  const engine = new Engine(dataset);
  const now = Date.now();
  // A merchant's address needs a ZIP.
  const lines = (await addressLines(dataset, datasetDir)).filter((line) => /\d{5}$/.test(line));
  const carts = sampleCarts(
    lines,
    false,
    (cart) =>
      !isFailure(
        engine.calculate(
          {
            ...cart,
            origin: splitOf(cart.origin),
            destination: splitOf(cart.destination),
          },
          now,
        ),
      ),
  );
  dataset.close();
  if (carts.length === 0) throw new Error('no sampled cart has an answer');
  return carts;
}

async function post(port: number, path: string, body: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body,
    headers: { 'X-API-KEY': BENCH_KEY, 'Content-Type': 'application/json' },
  });
}

async function newMerchant({ port }: SitusServer): Promise<string> {
  const made = await post(
    port,
    '/merchant/create',
    JSON.stringify({ merchantName: 'Bench', merchantType: 'self-managed' }),
  );
  const { merchantId } = (await made.json()) as { readonly merchantId: string };
  return merchantId;
}

/** A bare server that repeats the service's answer to one body. */
async function bareBeside({ port }: SitusServer, body: string): Promise<BareServer> {
  const response = await post(port, CART, body);
  if (response.status !== 200) throw new Error(await response.text());
  return startBareServer(await bareAnswer(response));
}

/** Measures requests with these bodies, in turns with a bare server that gets the same ones. */
async function cartFigures(
  input: BenchInput,
  situs: SitusServer,
  bodies: readonly string[],
  name: string,
  share?: number,
): Promise<readonly Figure[]> {
  const bare = await bareBeside(situs, bodies[0]!);
  const ours: LoadResult[] = [];
  const limits: LoadResult[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [{ port, pid }, results] of [
        [bare, limits],
        [situs, ours],
      ] as const) {
        results.push(
          await runLoad({
            port,
            pid,
            paths: [CART],
            bodies,
            headers: { 'X-API-KEY': BENCH_KEY },
            connections: CONNECTIONS,
            seconds: input.seconds,
            warmupSeconds: 1,
          }),
        );
      }
    }
  } finally {
    bare.stop();
  }
  const of = (results: readonly LoadResult[], what: 'rps' | 'p99' | 'serverMicroseconds'): number =>
    median(results.map((result) => result[what]));
  const errors = ours.reduce((sum, one) => sum + one.errors, 0);
  return [
    {
      name: `${name} share of bare`,
      unit: '',
      value: median(ours.map(({ rps }, round) => rps / limits[round]!.rps)),
      note: `${CONNECTIONS} connections, ${bodies[0]!.length} byte body, ${errors} errors`,
      ...(share === undefined ? {} : { target: { atLeast: share } }),
    },
    { name, value: of(ours, 'rps'), unit: 'requests/s' },
    { name: `${name} bare`, value: of(limits, 'rps'), unit: 'requests/s' },
    { name: `${name} p99`, value: of(ours, 'p99'), unit: 'ms' },
    {
      name: `${name} processor`,
      value: of(ours, 'serverMicroseconds'),
      unit: 'µs/request',
      note: `bare ${of(limits, 'serverMicroseconds').toFixed(1)}`,
    },
  ];
}

/** Carts of a self-managed merchant, with ten lines and with one. */
export async function httpCartCase(input: BenchInput): Promise<readonly Figure[]> {
  const carts = await answeredCarts(input);
  const situs = await startSitus(input.varDir);
  try {
    const merchantId = await newMerchant(situs);
    const bodies = (lines: number): readonly string[] =>
      carts.map((cart) => JSON.stringify({ merchantId, items: [sentCart(cart, lines)] }));
    return [
      ...(await cartFigures(input, situs, bodies(carts[0]!.lines.length), 'http cart', SHARE)),
      ...(await cartFigures(input, situs, bodies(1), 'http cart of one line')),
    ];
  } finally {
    await situs.stop();
  }
}

/** Sends the largest request again and again, while lookups come at a steady rate. */
export async function cartLargeCase(input: BenchInput): Promise<readonly Figure[]> {
  const carts = await answeredCarts(input);
  const paths = await addressPaths(input.datasetDir);
  const situs = await startSitus(input.varDir, WORKERS_ANSWER);
  const seconds = Math.max(4, input.seconds);
  try {
    const merchantId = await newMerchant(situs);
    const body = JSON.stringify({
      merchantId,
      items: Array.from({ length: CARTS_MAX }, (_, at) =>
        sentCart(carts[at % carts.length]!, CART_LINES_MAX),
      ),
    });
    const dir = mkdtempSync(join(tmpdir(), 'situs-carts-'));
    const file = join(dir, 'carts.json');
    writeFileSync(file, body);
    const largest = { port: situs.port, path: CART, file, type: 'application/json' };
    await upload(largest);
    await steady(situs.port, 2, paths);
    const idle = await steady(situs.port, seconds, paths);
    const { measured, took } = await beside(largest, () => steady(situs.port, seconds, paths));
    rmSync(dir, { recursive: true, force: true });
    return [
      {
        name: 'largest cart request',
        value: median(took),
        unit: 'ms',
        note: `${CARTS_MAX} carts of ${CART_LINES_MAX} lines, ${body.length} bytes, ${
          took.length
        } sent one after another`,
      },
      { name: 'lookup p99 idle', value: idle, unit: 'ms' },
      {
        name: 'lookup p99 beside carts',
        value: measured,
        unit: 'ms',
        target: { atMost: Math.max(2 * idle, 10) },
      },
    ];
  } finally {
    await situs.stop();
  }
}
