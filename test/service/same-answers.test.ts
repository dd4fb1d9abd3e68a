/** Figures depend on what is asked, and neither on the way there nor on the number of threads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Papa from 'papaparse';
import { seeded } from '../../bench/case/case.js';
import {
  askFile,
  askLines,
  askSingly,
  askStream,
  type Lookup,
  merchantCart,
  plainCart,
  randomLookups,
  type SingleAnswer,
  type Target,
  withoutCartIds,
} from '../support/same-items.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import {
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import type { Sent } from '../support/sent-carts.js';

const THREADS = [1, 4];
const LOOKUPS = randomLookups(600, 41);
const random = seeded(43);
const CARTS = Array.from({ length: 160 }, (_, index) => merchantCart(random, `cart ${index}`));
const PLAIN = Array.from({ length: 160 }, () => plainCart(random));

let built: Built;
const services: MerchantService[] = [];
const targets: (Target & { readonly merchantId: string })[] = [];

before(async () => {
  built = buildRecipe('fixture');
  for (const threads of THREADS) {
    const settings = { SITUS_WORKERS: String(threads), SITUS_BULK_WORKERS: String(threads) };
    const service = await startMerchants(await newMerchantDir(built.varDir), {}, settings);
    services.push(service);
    const merchant = { merchantName: 'A', merchantType: 'self-managed' };
    const made = await service.post('/merchant/create', merchant);
    targets.push({
      port: Number(new URL(service.base).port),
      key: KEYS.alpha,
      merchantId: String(made.body['merchantId']),
    });
  }
});

after(async () => {
  for (const service of services) await service.stop();
  removeDirs(...services.map(({ varDir }) => varDir));
  built.remove();
});

/** What every service answers; the same, whatever its threads. */
async function fromAll<T>(ask: (target: (typeof targets)[number]) => Promise<T>): Promise<T> {
  const answers: T[] = [];
  for (const target of targets) answers.push(await ask(target));
  const [first, ...others] = answers;
  for (const other of others) assert.deepEqual(other, first);
  return first!;
}

/** A row or message is the single answer; a refused one has an error before the same members. */
function assertSame(lines: readonly string[], singles: readonly SingleAnswer[]): void {
  assert.equal(lines.length, singles.length);
  for (const [index, { status, text }] of singles.entries()) {
    const line = lines[index]!;
    const isRefused = line.startsWith('{"error":{') && line.endsWith(text.slice(1));
    if (status === 200) assert.equal(line, text);
    else assert.ok(isRefused, `${line}\n${text}`);
  }
}

interface Rate {
  readonly rate: number;
  readonly jurType: string;
}

interface LookupBody {
  readonly metadata: { readonly response: { readonly code: number } };
  readonly baseRates?: readonly Rate[];
  readonly addressDetail?: { readonly normalizedAddress: string };
}

const LEVELS = ['state', 'county', 'city', 'district'] as const;

function sumOf(rates: readonly Rate[], jurType: RegExp): number {
  return (
    Math.round(
      1e9 * rates.reduce((sum, each) => sum + (jurType.test(each.jurType) ? each.rate : 0), 0),
    ) / 1e9
  );
}

/** The columns of a row say what the single answer says. */
function assertFigures(row: Readonly<Record<string, string>>, { text }: SingleAnswer): void {
  const { metadata, baseRates = [], addressDetail } = JSON.parse(text) as LookupBody;
  assert.equal(Number(row['situs_code']), metadata.response.code, JSON.stringify(row));
  if (metadata.response.code !== 100) return;
  assert.equal(Number(row['situs_rate']), sumOf(baseRates, /SALES_TAX$/), text);
  assert.equal(Number(row['situs_use_rate']), sumOf(baseRates, /USE_TAX$/), text);
  for (const level of LEVELS) {
    const rate = sumOf(baseRates, new RegExp(`^US_${level}_SALES_TAX$`, 'i'));
    assert.equal(Number(row[`situs_${level}_rate`]), rate, text);
  }
  assert.equal(row['situs_address'], addressDetail?.normalizedAddress);
}

function tableOf(text: string): readonly Readonly<Record<string, string>>[] {
  return Papa.parse<Record<string, string>>(text.trimEnd(), { header: true }).data;
}

test('lookups: one thread and four; alone, as lines, as a table, over both streams', async () => {
  const asked = LOOKUPS.map((lookup) => ({
    path: `/request/v60?${new URLSearchParams(lookup)}`,
  }));
  const singles = await fromAll((target) => askSingly(target, asked));
  const answered = singles.filter(({ status }) => status === 200).length;
  assert.ok(
    answered > LOOKUPS.length / 3 && answered < LOOKUPS.length - 40,
    `${answered} were answered`,
  );
  assertSame(await fromAll((target) => askLines(target, '/bulk/lookup', LOOKUPS)), singles);
  for (const transport of ['socket', 'post'] as const) {
    assertSame(await fromAll((target) => askStream(target, transport, LOOKUPS)), singles);
  }
  const columns = [...new Set(LOOKUPS.flatMap((lookup) => Object.keys(lookup)))].filter(
    (name) => name !== 'addressDetailExtended',
  );
  const table = Papa.unparse({
    fields: ['id', ...columns],
    data: LOOKUPS.map((lookup, id) => [id, ...columns.map((name) => lookup[name] ?? '')]),
  });
  const rows = tableOf(
    await fromAll((target) =>
      askFile(target, '/bulk/lookup?map=zip:postalcode', 'text/csv', table),
    ),
  );
  assert.equal(rows.length, LOOKUPS.length);
  for (const [index, row] of rows.entries()) {
    // A table reads "x" as a ZIP or day its own way, and has no room for several areas of a ZIP.
    if (isForTables(LOOKUPS[index]!)) assertFigures(row, singles[index]!);
  }
});

function isForTables({ address, lat }: Lookup): boolean {
  return address !== undefined || lat !== undefined;
}

interface CartBody {
  readonly items: readonly {
    readonly lineItems: readonly {
      readonly tax: { readonly amount: number; readonly rate: number };
    }[];
  }[];
}

/** The answer of an endpoint as a row of a file has it. */
function itemText(text: string): string {
  // A row has the note of the body as its own last member.
  const [item = '', note = ''] = text.slice('{"items":['.length, -'}'.length).split('],"situs":');
  return withoutCartIds(
    note === '' ? item.slice(0, -']'.length) : `${item.slice(0, -'}'.length)},"situs":${note}}`,
  );
}

/** Rows and messages of carts against their endpoint; refusals say the same in both. */
function assertCarts(
  rows: readonly string[],
  streams: readonly (readonly string[])[],
  singles: readonly SingleAnswer[],
): void {
  assert.equal(rows.length, singles.length);
  for (const [index, { status, text }] of singles.entries()) {
    const row = withoutCartIds(rows[index]!);
    if (status === 200) assert.equal(row, itemText(text));
    else assert.match(row, /^\{"error":\{/);
    for (const messages of streams) {
      const message = withoutCartIds(messages[index]!);
      if (status === 200) assert.equal(message, withoutCartIds(text));
      else assert.match(message, /^\{"error":\{/);
    }
  }
}

/** Carts asked in every way but as tables. */
async function askCarts(
  path: string,
  carts: readonly Sent[],
  bodyOf: (cart: Sent, merchantId: string) => object,
): Promise<readonly SingleAnswer[]> {
  const withId = (text: string): string => withoutCartIds(text);
  const singles = await fromAll(async (target) => {
    const answers = await askSingly(
      target,
      carts.map((cart) => ({
        path,
        body: JSON.stringify(bodyOf(cart, target.merchantId)),
      })),
    );
    return answers.map(({ status, text }) => ({ status, text: withId(text) }));
  });
  const ofMerchant = path.startsWith('/merchant');
  const rows = await fromAll(async (target) =>
    (
      await askLines(
        target,
        `/bulk/cart${ofMerchant ? `?merchantId=${target.merchantId}` : ''}`,
        carts.map((cart) => ({ items: [cart] })),
      )
    ).map(withId),
  );
  const streams: (readonly string[])[] = [];
  for (const transport of ['socket', 'post'] as const) {
    streams.push(
      await fromAll(async (target) =>
        (
          await askStream(
            target,
            transport,
            carts.map((cart) => bodyOf(cart, target.merchantId)),
          )
        ).map(withId),
      ),
    );
  }
  assertCarts(rows, streams, singles);
  const answered = singles.filter(({ status }) => status === 200).length;
  assert.ok(answered > carts.length / 4 && answered < carts.length, `${answered} were answered`);
  return singles;
}

test('carts of a merchant: one thread and four; alone, as lines and over both streams', async () => {
  await askCarts('/merchant/cart/calculate', CARTS, (cart, merchantId) => ({
    merchantId,
    items: [cart],
  }));
});

test('carts of no merchant: one thread and four; alone, as lines and over both streams', async () => {
  await askCarts('/calculate/cart', PLAIN, (cart) => ({ items: [cart] }));
});

test('carts in a table have the figures of their endpoint', async () => {
  const next = seeded(47);
  const carts = Array.from({ length: 120 }, (_, index) => merchantCart(next, `cart ${index}`, 1));
  const singles = await fromAll((target) =>
    askSingly(
      target,
      carts.map((cart) => ({
        path: '/merchant/cart/calculate',
        body: JSON.stringify({ merchantId: target.merchantId, items: [cart] }),
      })),
    ),
  );
  const places = ['street', 'city', 'state', 'zip'];
  const table = Papa.unparse({
    fields: [...places, ...places.map((name) => `from ${name}`), 'price', 'quantity', 'tic'],
    data: carts.map(({ destination, origin, lineItems }) => {
      const [line] = lineItems as readonly Sent[];
      const parts = (place: unknown): readonly unknown[] =>
        ['line1', ...places.slice(1)].map((name) => (place as Sent)[name]);
      return [
        ...parts(destination),
        ...parts(origin),
        line?.['price'],
        line?.['quantity'],
        line?.['tic'] ?? '',
      ];
    }),
  });
  const rows = tableOf(
    await fromAll((target) =>
      askFile(target, `/bulk/cart?merchantId=${target.merchantId}`, 'text/csv', table),
    ),
  );
  assert.equal(rows.length, carts.length);
  for (const [index, { status, text }] of singles.entries()) {
    const row = rows[index]!;
    assert.equal(row['situs_code'] === '100', status === 200, `${JSON.stringify(row)}\n${text}`);
    if (status !== 200) continue;
    const tax = (JSON.parse(text) as CartBody).items[0]?.lineItems[0]?.tax;
    assert.equal(Number(row['situs_tax_amount']), tax?.amount);
    assert.equal(Number(row['situs_tax_rate']), tax?.rate);
  }
});
