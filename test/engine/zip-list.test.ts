/** The areas of a ZIP, as a postal lookup lists them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RatesByArea } from '../../src/engine/rate/on-day.js';
import { ZipLists, type PostalQuery } from '../../src/engine/rate/zip-list.js';
import { isFailure } from '../../src/failure.js';
import { DARK, dateOf, dataset, DIM, IN_OAK, REST } from '../support/postal-world.js';

const RATES = new RatesByArea(dataset);

const LISTS = new ZipLists(dataset, RATES);

function listed(fields: Partial<PostalQuery>, lists = LISTS): readonly string[] | string {
  const query = { zip: '10003', state: '', stateCode: '', city: '', county: '', ...fields };
  const found = lists.list(query, dateOf);
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

test('land outside cities whose rate is unknown refuses the list of a ZIP that reaches it', () => {
  const reaching = (area: number, land: number): ZipLists => {
    const zip: typeof dataset.zip = (number) => {
      const record = dataset.zip(number);
      return record === null ? null : { ...record, reach: [{ area, land }] };
    };
    return new ZipLists({ ...dataset, zip }, RATES);
  };
  assert.equal(listed({}, reaching(DIM, 5_000)), 'no-result');
  assert.deepEqual(listed({ city: 'Saint Oak' }, reaching(DIM, 5_000)), ['ST. OAK']);
  assert.deepEqual(listed({}, reaching(DIM, 4_999)), ['ST. OAK', 'ELM']);
  // Land that is taxed as told, and a city, which an address would name.
  for (const area of [REST, DARK]) {
    assert.deepEqual(listed({}, reaching(area, 900_000)), ['ST. OAK', 'ELM']);
  }
});

test('a county and an independent city of one name are told apart by their kind', () => {
  const named: typeof dataset = {
    ...dataset,
    area: (id) => {
      const area = dataset.area(id);
      const kind = id === IN_OAK ? 'city' : 'County';
      return { ...area, countyFullName: `${area.countyName} ${kind}` };
    },
  };
  const lists = new ZipLists(named, new RatesByArea(named));
  assert.deepEqual(listed({ county: 'C001 County' }, lists), ['ELM']);
  assert.deepEqual(listed({ county: 'c001 city' }, lists), ['ST. OAK']);
  assert.deepEqual(listed({ county: 'C001' }, lists), ['ST. OAK', 'ELM']);
  assert.deepEqual(listed({ county: 'C001 Parish' }, lists), ['ST. OAK', 'ELM']);
});

test("a city is narrowed to by its own name, which other answers give, as by its post office's", () => {
  const renamed: typeof dataset = {
    ...dataset,
    area: (id) => {
      const area = dataset.area(id);
      return id === IN_OAK ? { ...area, placeName: 'St. Oak-Alder' } : area;
    },
  };
  const lists = new ZipLists(renamed, new RatesByArea(renamed));
  assert.deepEqual(listed({ city: 'Saint Oak-Alder' }, lists), ['ST. OAK']);
  assert.deepEqual(listed({ city: 'ST. OAK' }, lists), ['ST. OAK']);
});
