/** Codes that no rule is held for: told in every body, or refused where the server is set to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRODUCT_BIT } from '../../src/api/cart/options.js';
import { openWire, type WireContext } from '../../src/api/lookup/context.js';
import { loadConfig } from '../../src/config.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { answerFrame } from '../../src/worker.js';
import { ask } from '../lookup/ask.js';
import { runBulk, type BulkRun } from '../support/bulk-bodies.js';
import { linesOf, RUN } from '../support/bulk-carts.js';
import { cartWorld, NOW } from '../support/cart-world.js';
import { engineOf } from '../support/engine-of.js';
import { factDataset, type FactPlace, levies } from '../support/product-facts.js';

/** A flag: no table has a rule for it. The second is below no code that covers it either. */
const FLAG = '90103';
const BLANK = '90102';
const LEVIED: readonly FactPlace[] = [
  { state: 'OH', county: '049', percents: levies('state 5.75, county 1.25') },
  { state: 'DE', county: '003', percents: [['state', '0']] },
];
const DATASET = cartWorld(LEVIED);
const TELLING = openWire({ baseUrl: 'https://rates.example' });
const REFUSING = openWire({ baseUrl: 'https://rates.example', refuseUnruled: true });

interface Body {
  readonly items?: readonly {
    readonly lineItems: readonly { readonly tax: { readonly amount: number } }[];
  }[];
  readonly situs?: {
    readonly precision: string;
    readonly dataset: string;
    readonly unruled?: readonly string[];
    readonly partial?: true;
  };
  readonly detail?: string;
  readonly errors?: readonly { readonly location: string; readonly message: string }[];
}

interface Told {
  readonly status: number;
  readonly body: Body;
}

const OHIO = { line1: '1 Main St', city: 'Ashford', state: 'OH', zip: '10001' };
const DELAWARE = { line1: '1 Main St', city: 'Birchton', state: 'DE', zip: '10002' };

function cart(tics: readonly string[], place: typeof OHIO = OHIO): object {
  return {
    customerId: 'c',
    currency: {},
    origin: place,
    destination: place,
    lineItems: tics.map((tic, index) => ({
      index,
      itemId: `i${index}`,
      price: 100,
      quantity: 1,
      tic: Number(tic),
    })),
  };
}

function bareCart(tics: readonly string[]): object {
  const address = '1 Main St, Ashford, OH 10001';
  return {
    customerId: 'c',
    currency: {},
    origin: { address },
    destination: { address },
    lineItems: tics.map((tic, index) => ({
      itemId: `i${index}`,
      price: 100,
      quantity: 1,
      taxabilityCode: Number(tic),
    })),
  };
}

function told(
  items: readonly object[],
  context: WireContext = TELLING,
  endpoint: 'merchant' | 'calculation' = 'merchant',
  dataset = DATASET,
): Told {
  const frame = new RequestFrame();
  frame.add(
    { kind: 'cart', endpoint, optionBits: PRODUCT_BIT },
    Buffer.from(JSON.stringify({ items })),
  );
  const found: Told[] = [];
  readAnswers(
    answerFrame(engineOf(dataset), frame.bytes(), NOW, context),
    1,
    (_, { status, body }) => {
      const text = Buffer.from(body).toString('utf8');
      // A refusal travels packed; the front end prints it.
      found.push({
        status,
        body: text.startsWith('{"items"') ? (JSON.parse(text) as Body) : { detail: text },
      });
    },
  );
  return found[0]!;
}

test('a cart says which codes were taxed as general goods, each once', () => {
  const { status, body } = told([cart([FLAG, '51050', BLANK, FLAG, '00000'])]);
  assert.equal(status, 200);
  assert.deepEqual(body.situs, { precision: 'point', dataset: DATASET.id, unruled: [FLAG, BLANK] });
  assert.deepEqual(
    body.items?.[0]?.lineItems.map(({ tax }) => tax.amount),
    [7, 0, 7, 7, 7],
  );
});

test('an answer of several carts names the codes of all; one with rules alone names none', () => {
  assert.deepEqual(told([cart([BLANK]), cart(['30100']), cart([FLAG])]).body.situs, {
    precision: 'point',
    dataset: DATASET.id,
    unruled: [BLANK, FLAG],
  });
  assert.deepEqual(told([cart(['30100', '10001']), cart(['20013'])]).body.situs, {
    precision: 'point',
    dataset: DATASET.id,
  });
  assert.deepEqual(told([bareCart([FLAG])], TELLING, 'calculation').body.situs, {
    precision: 'point',
    dataset: DATASET.id,
    unruled: [FLAG],
  });
});

test('where nothing is levied a rule would change nothing, and its want is not told', () => {
  assert.deepEqual(told([cart([FLAG], DELAWARE)]).body.situs, {
    precision: 'point',
    dataset: DATASET.id,
  });
  assert.equal(told([cart([FLAG], DELAWARE)], REFUSING).status, 200);
});

test('a server that refuses such codes names line and code, at both endpoints', () => {
  for (const [items, endpoint, location] of [
    [[cart(['30100']), cart(['30100', FLAG])], 'merchant', 'body.items[1].lineItems[1]'],
    [[bareCart([FLAG])], 'calculation', 'body.items[0].lineItems[0]'],
  ] as const) {
    const { status, body } = told(items, REFUSING, endpoint);
    assert.equal(status, 422);
    assert.ok(body.detail?.includes(location), body.detail);
    assert.ok(
      body.detail?.includes(`No rule is held for product code ${FLAG} in Ohio`),
      body.detail,
    );
  }
  assert.equal(told([cart(['30100', '51050', '00000'])], REFUSING).status, 200);
});

const ROWS: BulkRun = { ...RUN, dataset: DATASET };

test('carts say where districts are known not to be listed, alone and as lines', () => {
  const partial: typeof DATASET = {
    ...DATASET,
    area: (id) => ({ ...DATASET.area(id), partial: true as const }),
  };
  const situs = { precision: 'point', dataset: DATASET.id, partial: true };
  assert.deepEqual(told([cart(['30100'])], TELLING, 'merchant', partial).body.situs, situs);
  const [line] = linesOf([cart(['30100'])], { ...ROWS, dataset: partial });
  assert.deepEqual((JSON.parse(line!) as Body).situs, situs);
});

test('lines of carts end with what they rest on, or are refused', () => {
  for (const shape of [cart, bareCart]) {
    const [unruled, ruled] = linesOf([shape([FLAG]), shape(['30100'])], ROWS).map(
      (line) => JSON.parse(line) as Body,
    );
    assert.deepEqual(unruled?.situs, { precision: 'point', dataset: DATASET.id, unruled: [FLAG] });
    assert.deepEqual(ruled?.situs, { precision: 'point', dataset: DATASET.id });
  }
  const [refused, answered] = linesOf([bareCart([FLAG]), bareCart(['30100'])], {
    ...ROWS,
    context: REFUSING,
  });
  assert.match(
    refused!,
    /"error":\{"code":110,.*No rule is held for product code 90103 in Ohio.*"field":"lineItems\[0\]"/,
  );
  assert.match(answered!, /"situs":\{"precision":"point","dataset":/);
});

function csv(run: Partial<BulkRun>, text: string): readonly string[] {
  return runBulk('csv', [Buffer.from(text)], { ...ROWS, output: 'csv', ...run })
    .output.toString('utf8')
    .split('\n');
}

test('rows of carts have the word in their note', () => {
  const place = '"1 Main St, Ashford, OH 10001"';
  const table = `origin,destination,price,tic\n${place},${place},100,${FLAG}\n${place},${place},100,30100\n`;
  const [, unruled, ruled] = csv({}, table);
  assert.match(unruled!, /,7\.00,OH,[0-9-]+,[ODM],unruled,point,100,/);
  assert.match(ruled!, /,7\.00,OH,[0-9-]+,[ODM],,point,100,/);
  const [, refused] = csv({ context: REFUSING }, table);
  assert.match(refused!, /,110,.*No rule is held for product code 90103/);
});

const PLACES = factDataset(LEVIED);

function lookup(query: string, context = TELLING): ReturnType<typeof ask> {
  return ask(60, query, { dataset: PLACES, context });
}

test('a lookup says it beside T01, in JSON and XML, and not of the same place without the code', () => {
  for (const _again of [1, 2]) {
    const { text } = lookup(`lat=10.5&lng=0.5&taxabilityCode=${FLAG}`);
    assert.match(
      text,
      new RegExp(
        `"situs":\\{"precision":"polygon","dataset":"${PLACES.id}","unruled":\\["${FLAG}"\\]\\}\\},`,
      ),
    );
    assert.match(text, /"rateActionCode":"T01"/);
  }
  assert.match(
    lookup(`lat=10.5&lng=0.5&taxabilityCode=${FLAG}&format=xml`).text,
    new RegExp(
      `<situs><precision>polygon</precision><dataset>${PLACES.id}</dataset><unruled>${FLAG}</unruled></situs></metadata>`,
    ),
  );
  for (const query of [
    'lat=10.5&lng=0.5',
    'lat=10.5&lng=0.5&taxabilityCode=30100',
    'lat=10.5&lng=0.5&taxabilityCode=99900',
    `lat=10.5&lng=1.5&taxabilityCode=${FLAG}`,
  ]) {
    assert.match(
      lookup(query).text,
      new RegExp(`"situs":\\{"precision":"polygon","dataset":"${PLACES.id}"\\}\\},`),
      query,
    );
  }
});

test('a lookup for such a code is refused with 110 where the server is set to', () => {
  for (const _again of [1, 2]) {
    const { code, text } = lookup(`lat=10.5&lng=0.5&taxabilityCode=${FLAG}`, REFUSING);
    assert.equal(code, 110);
    assert.match(text, /No rule is held for product code 90103 in Ohio/);
  }
  for (const query of [
    'lat=10.5&lng=0.5',
    'lat=10.5&lng=0.5&taxabilityCode=30100',
    `lat=10.5&lng=1.5&taxabilityCode=${FLAG}`,
  ]) {
    assert.equal(lookup(query, REFUSING).code, 100, query);
  }
});

test("a lookup for shipping, handling or goods without a code says nothing of the kind: their rules are no products'", () => {
  for (const code of ['10001', '11000', '00000']) {
    for (const context of [TELLING, REFUSING]) {
      const { code: answered, text } = lookup(`lat=10.5&lng=0.5&taxabilityCode=${code}`, context);
      assert.equal(answered, 100, text);
      assert.match(
        text,
        new RegExp(`"situs":\\{"precision":"polygon","dataset":"${PLACES.id}"\\}\\},`),
        code,
      );
    }
  }
});

test('rows of lookups have the word in their note, whatever their neighbours', () => {
  const run = { dataset: PLACES, kind: 'lookup' } as const;
  const table = `lat,lng,tic\n10.5,0.5,30100\n10.5,0.5,${FLAG}\n10.5,0.5,\n`;
  const notes = csv(run, table)
    .slice(1, 4)
    .map((row) => /,[DO],([a-z]*),/.exec(row)?.[1]);
  assert.deepEqual(notes, ['', 'unruled', '']);
  const codes = csv({ ...run, context: REFUSING }, table)
    .slice(1, 4)
    .map((row) => /,(100|110),/.exec(row)?.[1]);
  assert.deepEqual(codes, ['100', '110', '100']);
});

test('the setting is read; any other word is refused', () => {
  assert.equal(loadConfig({}).refuseUnruled, false);
  assert.equal(loadConfig({ SITUS_UNRULED: 'tell' }).refuseUnruled, false);
  assert.equal(loadConfig({ SITUS_UNRULED: 'refuse' }).refuseUnruled, true);
  assert.throws(
    () => loadConfig({ SITUS_UNRULED: 'yes' }),
    /SITUS_UNRULED must be one of tell, refuse/,
  );
});
