/** The areas of a ZIP, as a postal lookup lists them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RatesByArea } from '../../src/engine/rate/on-day.js';
import { ZipLists, type PostalQuery } from '../../src/engine/rate/zip-list.js';
import { isFailure } from '../../src/failure.js';
import { dateOf, dataset } from '../support/postal-world.js';

const RATES = new RatesByArea(dataset);

const LISTS = new ZipLists(dataset, RATES);

function listed(fields: Partial<PostalQuery>): readonly string[] | string {
  const query = { zip: '10003', state: '', stateCode: '', city: '', county: '', ...fields };
  const found = LISTS.list(query, dateOf);
  return isFailure(found) ? found.failure : found.map((row) => row.city);
}

test('a postal lookup lists every area of the ZIP and narrows', () => {
  assert.deepEqual(listed({}), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ city: 'Saint Oak' }), ['ST. OAK']);
  assert.deepEqual(listed({ state: 'exaland', county: 'c001' }), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ stateCode: 'XA', county: '001' }), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ zip: '10004', state: 'Wyeland' }), ['HILLS']);
  assert.deepEqual(listed({ zip: '10002', city: 'SAINT OAK' }), ['ST. OAK', 'SAINT OAK']);
});

test('a postal lookup that cannot be complete is refused', () => {
  assert.equal(listed({ zip: '10005' }), 'no-result');
  assert.deepEqual(listed({ zip: '10005', city: 'HILLS' }), ['HILLS']);
  assert.equal(listed({ zip: '10007' }), 'no-result');
  assert.equal(listed({ zip: '99999' }), 'no-result');
  assert.equal(listed({ county: 'Other' }), 'no-result');
  assert.equal(listed({ state: 'Nowhere' }), 'invalid-state');
  assert.equal(listed({ stateCode: 'ZZ' }), 'invalid-state');
});
