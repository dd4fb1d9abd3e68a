/** How many people a ZIP stands for. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { ZipPart, ZipRecord } from '../../src/dataset/records.js';
import { peopleByZip, POPULATION } from '../../src/engine/zip-people.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { readTable } from '../../src/ingest/source/table-text.js';
import { dataset } from '../support/postal-world.js';

/** Areas are numbered as their counties are. */
function worldOf(rows: readonly object[]): Dataset {
  return {
    ...dataset,
    document: (name: string) => (name === POPULATION ? rows : null),
    area: (id: number) => ({
      ...dataset.area(0),
      state: 'XA',
      countyFips: String(id).padStart(3, '0'),
    }),
  };
}

/** A part of a ZIP in a county; `spot` tells ZIPs of the same land apart. */
function part(county: number, land: number | null, spot: number): ZipPart {
  return {
    area: county,
    weight: null,
    land,
    city: 'ANY',
    incorporated: false,
    lat: spot,
    lng: 1,
  };
}

function zip(number: number, city: string, ...parts: ZipPart[]): ZipRecord {
  return { zip: number, state: 'XA', cities: [city], parts, reach: [] };
}

function rounded(rows: readonly object[], ...records: readonly ZipRecord[]): readonly number[] {
  return [...peopleByZip(worldOf(rows), records).values()].map((people) => Math.round(people));
}

const COUNTIES = [{ state: 'XA', population: '2000', counties: '600 200 010:100 100' }];

test('people of a county are shared out among its ZIPs, by how much of each lies there', () => {
  // Counties 001 with 600, 003 with 200, 010 and 012 with 100 each: doubled, for the state has 2,000.
  assert.deepEqual(
    rounded(
      COUNTIES,
      zip(1, 'A', part(1, 1_000_000, 1)),
      zip(2, 'B', part(1, 500_000, 2), part(3, 500_000, 2)),
      zip(3, 'C', part(10, 1, 3)),
      zip(4, 'D', part(12, 9, 4)),
    ),
    [800, 800, 200, 200],
  );
});

test('boxes at the middle of a city count nothing beside a ZIP of its own, else as one', () => {
  assert.deepEqual(
    rounded(
      COUNTIES,
      zip(1, 'A', part(1, 9, 1)),
      zip(2, 'A', part(1, 9, 2)),
      zip(3, 'A', part(1, 9, 2)),
      zip(4, 'B', part(10, 9, 3)),
      zip(5, 'B', part(10, 9, 3)),
    ),
    [1714, 0, 0, 143, 143],
  );
});

test('a county whose people are not held counts as an average one, and so does a state', () => {
  assert.deepEqual(
    rounded(
      COUNTIES,
      zip(1, 'A', part(1, 9, 1)),
      zip(2, 'B', part(3, 9, 2)),
      zip(3, 'C', part(99, 9, 3)),
    ),
    [1000, 333, 667],
  );
  assert.deepEqual(
    rounded(
      [{ state: 'XA', population: '90' }],
      zip(1, 'A', part(1, 9, 1)),
      zip(2, 'B', part(1, null, 2)),
      zip(3, 'C', part(1, 9, 3)),
    ),
    [30, 30, 30],
  );
  assert.deepEqual(rounded([], zip(1, 'A', part(1, 9, 1)), zip(2, 'B', part(1, 9, 2))), [1, 1]);
});

test('the people of counties that are held are about those of their states', () => {
  const rows = readTable(
    readFileSync(join(packageRoot(), 'datasets/facts/state_population.tsv'), 'utf8'),
    '\t',
  );
  const held = rows.filter((row) => row.get('counties') !== '');
  assert.equal(held.length, 51);
  let counties = 0;
  for (const row of held) {
    const items = row.get('counties').split(' ');
    counties += items.length;
    const sum = items.reduce((all, item) => all + Number(item.split(':').at(-1)), 0);
    const years = Math.abs(sum / Number(row.get('population')) - 1);
    assert.ok(years < 0.05, `${row.get('state')}: ${sum}`);
  }
  assert.equal(counties, 3_142);
});
