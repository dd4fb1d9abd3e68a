/** Addresses to places of US states, in the invented country. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { fail, failAmbiguous, isFailure } from '../../src/failure.js';
import { answerFrame } from '../../src/worker.js';
import { packLocated, readLocated, type LocateOutcome } from '../../src/api/lookup/located.js';
import { buildRecipe, type Built } from '../support/built-dataset.js';
import { engineOf } from '../support/engine-of.js';

const NOW = Date.UTC(2026, 5, 15);

let built: Built;
let dataset: Dataset;

before(() => {
  built = buildRecipe('fixture');
  dataset = openDataset(built.dir);
});

after(() => {
  dataset.close();
  built.remove();
});

/** Through the frame, as the pool does it. */
function locate(...addresses: readonly string[]): readonly (LocateOutcome | null)[] {
  const frame = new RequestFrame();
  for (const address of addresses) frame.add({ kind: 'locate' }, address);
  const outcomes: (LocateOutcome | null)[] = [];
  readAnswers(answerFrame(engineOf(dataset), frame.bytes(), NOW), addresses.length, (_, slice) => {
    outcomes.push(readLocated(slice));
  });
  return outcomes;
}

test('an address of a state is normalized, others say why not', () => {
  const [found, nowhere, blank] = locate(
    '120 Main Street, Elmton, Aldermark 91010',
    '1 Nowhere Rd, Nowhere, QA 00001',
    '\u00e4',
  );
  assert.ok(found !== null && found !== undefined && !isFailure(found));
  assert.equal(found.state, 'QA');
  assert.match(found.normalizedAddress, /^120 Main St, Elmton, QA 91010/);
  for (const outcome of [nowhere, blank]) {
    assert.ok(outcome !== null && outcome !== undefined && isFailure(outcome));
    assert.notEqual(outcome.detail, '');
  }
});

test('an address of Canada is in no US state', () => {
  const found = engineOf(dataset).locateInState('100 Queen St W, Toronto, ON M5H 2N2, Canada', NOW);
  assert.ok(isFailure(found));
});

test('a line longer than any address is refused and not cut', () => {
  const [outcome] = locate(`120 ${'Main '.repeat(200)}St, Elmton, QA 91010`);
  assert.ok(outcome !== null && outcome !== undefined && isFailure(outcome));
});

test('an outcome comes out of its bytes as it went in, and bytes that are none are refused', () => {
  const place = {
    normalizedAddress: '1 Caf\u00e9 St',
    state: 'QA',
    postalCode: '',
    lat: -1,
    lng: 2e8,
  };
  const outcomes: readonly LocateOutcome[] = [
    place,
    { ...place, normalizedAddress: '', lat: 0, postalCode: '91010-0042' },
    fail('no-result'),
    fail('address-incomplete', '\u00e4 \u{1f3e0}'),
    fail('invalid-format', '', null),
    failAmbiguous('it is in two places'),
  ];
  const read = (body: Uint8Array): LocateOutcome | null =>
    readLocated({ status: 200, code: 100, precision: 0, flags: 0, body });
  for (const outcome of outcomes) {
    assert.deepEqual(read(packLocated(outcome)), outcome);
  }
  assert.throws(() => read(Buffer.alloc(8)), RangeError);
  assert.throws(() => read(Buffer.alloc(64, 0xff)), RangeError);
});
