/** Bodies of JSON that no shape expects are refused in the documented shape, and never a fault. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { OPERATIONS } from '../../src/describe/operations.js';
import { COMPONENTS } from '../../src/describe/document.js';
import { Simulator } from '../../src/provider/simulator/server.js';
import {
  bodyOperations,
  HOSTILE_NAMES,
  HOSTILE_VALUES,
  mutated,
  placesOf,
  type BodyOperation,
  type Mutation,
} from '../support/body-sample.js';
import {
  inventedCountry,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type MerchantService,
} from '../support/merchant-service.js';
import { CONNECTION_ID, postRaw } from '../support/relay-service.js';
import { checker, faults } from '../support/schema-check.js';

/** Longest time of one answer: further away than any load of the machine. */
const ANSWER_MS_MAX = 30_000;
const RUNS = 120;
const PROPERTY_MS_MAX = 60_000;

let varDir: string;
let service: MerchantService;
let simulator: Simulator;
let operations: readonly BodyOperation[];
// Some operations add members of their own.
const isProblem = checker().compile({ ...COMPONENTS.Problem, additionalProperties: true });

async function merchant(merchantType: string): Promise<string> {
  const made = await service.post('/merchant/create', { merchantName: 'Acme', merchantType });
  assert.equal(made.status, 201);
  return String(made.body['merchantId']);
}

before(async () => {
  simulator = await Simulator.start({});
  varDir = await newMerchantDir(inventedCountry());
  service = await startMerchants(
    varDir,
    {},
    {
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_URL: simulator.url,
      SITUS_BULK_DIR: varDir,
    },
  );
  const own = await merchant('self-managed');
  const connected = await merchant('provider');
  await service.post('/merchant/credentials/set', {
    merchantId: connected,
    apiKey: 'simulated-key',
    connectionId: CONNECTION_ID,
  });
  const document = (await (await fetch(`${service.base}/openapi.json`)).json()) as Parameters<
    typeof bodyOperations
  >[0];
  operations = [own, connected].flatMap((merchantId) => bodyOperations(document, { merchantId }));
});

after(async () => {
  await service.stop();
  await simulator.close();
  removeDirs(varDir);
});

/** Sends a body and tells what is wrong with the answer; null when nothing is. */
async function wrongWith({ path, type }: BodyOperation, body: string): Promise<string | null> {
  const from = performance.now();
  const { status, headers, text } = await postRaw(service, path, body, {
    headers: { 'Content-Type': type },
  });
  const took = performance.now() - from;
  const told = `POST ${path} ${body.slice(0, 300)}: ${status} ${text.slice(0, 300)}`;
  if (took > ANSWER_MS_MAX) return `${took} ms for ${told}`;
  if (OPERATIONS.get(`POST ${path}`)?.responses[String(status)] === undefined) return told;
  if (status < 300) return null;
  if (status >= 500) return told;
  if (headers.get('content-type') !== 'application/problem+json') return null;
  const fault = faults(isProblem, JSON.parse(text));
  return fault === '' ? null : `${fault} of ${told}`;
}

test('every operation with a JSON body has a sample', () => {
  const paths = new Set(operations.map(({ path }) => path));
  const described = [...OPERATIONS].filter(
    ([name, { body, content }]) =>
      name.startsWith('POST ') && (body !== undefined || content !== undefined),
  );
  assert.equal(paths.size, described.length);
  for (const { path, type, sample } of operations) {
    if (type === 'application/json') assert.ok(sample !== undefined, path);
  }
});

test('every hostile value at every place of every body is refused or taken', async () => {
  const wrong: string[] = [];
  // Some values at each place, other ones at the next: all of them everywhere would take minutes.
  let turn = 0;
  for (const operation of operations) {
    const { sample = {} } = operation;
    for (let at = 0; at < placesOf(sample); at += 1) {
      for (const value of HOSTILE_VALUES) {
        turn += 1;
        const isKnown = value.includes('toString');
        if (!isKnown && turn % 47 !== 0) continue;
        const fault = await wrongWith(
          operation,
          mutated(sample, [{ at, kind: 'replace', value, name: '' }]),
        );
        if (fault !== null) wrong.push(fault);
      }
    }
  }
  assert.deepEqual(wrong.slice(0, 10), []);
});

test('bodies with several faults are refused or taken', async () => {
  const mutation = fc.record<Mutation>({
    at: fc.nat(40),
    kind: fc.constantFrom('replace', 'add', 'repeat', 'drop'),
    value: fc.oneof(fc.constantFrom(...HOSTILE_VALUES), fc.json({ maxDepth: 4 })),
    name: fc.oneof(fc.constantFrom(...HOSTILE_NAMES), fc.string()),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.nat(operations.length - 1),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      async (index, mutations) => {
        const operation = operations[index]!;
        const { sample = {} } = operation;
        const places = placesOf(sample);
        const within = mutations.map((each) => ({ ...each, at: each.at % places }));
        assert.equal(await wrongWith(operation, mutated(sample, within)), null);
      },
    ),
    { seed: 1, numRuns: RUNS, interruptAfterTimeLimit: PROPERTY_MS_MAX },
  );
});

test('bodies that are no JSON at all are refused', async () => {
  const texts = [
    '',
    ' ',
    '{',
    '[',
    ']',
    '"',
    '{"a"',
    '{"a":',
    '{"a":1,}',
    '{,}',
    '[1,]',
    '01',
    '1.',
    '+1',
    'NaN',
    'nul',
    '{"a":1}x',
    '\ufeff{}',
    '{"\u0001":1}',
    '{"a":"\n"}',
    '\\',
    '["\\x"]',
  ];
  const wrong: string[] = [];
  for (const operation of operations) {
    for (const text of texts) {
      const fault = await wrongWith(operation, text);
      if (fault !== null) wrong.push(fault);
    }
  }
  assert.deepEqual(wrong.slice(0, 10), []);
});
