/** How surely a country is answered, ZIP by ZIP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../../src/engine/engine.js';
import { zipCoverage, zipCoverageTable } from '../../src/engine/release-survey.js';
import { POPULATION } from '../../src/engine/zip-people.js';
import { DAY, dataset } from '../support/postal-world.js';

const NOW_MS = Date.UTC(2026, 6, 1, 12);

test('every ZIP counts once, as it is answered', () => {
  const world = {
    ...dataset,
    document: (name: string) =>
      name === POPULATION ? [{ state: 'XA', population: '100' }] : dataset.document(name),
  };
  const told: number[] = [];
  const states = zipCoverage(new Engine(world), world, NOW_MS, (done) => told.push(done));
  const [xa] = states;
  assert.equal(DAY, 20260701);
  assert.deepEqual(
    states.map(({ state }) => state),
    ['XA'],
  );
  assert.ok(xa !== undefined);
  assert.deepEqual(told, [0]);
  // 10001 to 10026 but for 10007, which has no parts.
  assert.deepEqual([xa.zips, xa.population], [25, 100]);
  const { certain, assumed, refused, unknown } = xa;
  assert.ok(Math.abs(certain + assumed + refused + unknown - 1_000_000) <= 2);
  const count = (ppm: number): number => Math.round((ppm * xa.zips) / 1e6);
  assert.deepEqual([certain, assumed, refused, unknown].map(count), [5, 11, 7, 2]);
  const lines = zipCoverageTable(states).split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines[3]!, /^\| \*\*all, by population\*\* \| 100 \| 25 \| 20\.0 %/);
});
