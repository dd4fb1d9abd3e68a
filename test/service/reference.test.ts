/** The reference dataset, built from publishers' files: real places, real traps. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { askAddress, askQuery } from '../support/ask-dataset.js';
import { buildRecipe, publishersFiles, type Built } from '../support/built-dataset.js';
import {
  assertGolden,
  assertOneCounty,
  goldenAddresses,
  ONE_COUNTY,
} from '../support/golden-places.js';

const sources = publishersFiles();
const skip = sources === null ? "the publishers' files are not at hand" : false;

/** Spots of a city that lie beyond the coarser border of its county, and spots that really do. */
const COUNTY_LINES: readonly (readonly [query: string, names: string, total: number])[] = [
  ['lat=39.7548&lng=-104.8784', 'DENVER DENVER', 0.0915],
  ['lat=44.8982&lng=-93.0348', 'RAMSEY ST. PAUL', 0.09875],
  ['lat=44.9372&lng=-93.201', 'HENNEPIN MINNEAPOLIS', 0.09025],
  ['lat=40.894&lng=-73.838', 'WESTCHESTER MOUNT VERNON', 0.08375],
  ['lat=40.590899&lng=-73.747907', 'NASSAU', 0.08625],
  ['lat=29.6&lng=-95.47', 'FORT BEND HOUSTON', 0.0825],
  ['lat=39.745&lng=-104.83', 'ADAMS AURORA', 0.085],
];

/** Where most of the ZIP's land lies outside the city, and not enough to assume so. */
const WIDE_ZIPS: ReadonlySet<string> = new Set(['1 Main St, Seldovia, AK 99663']);

describe('the reference dataset', { skip }, () => {
  let built: Built;
  let dataset: Dataset;

  before(() => {
    built = buildRecipe('reference', ['--sources', sources ?? '']);
    dataset = openDataset(built.dir);
  });

  after(() => {
    dataset.close();
    built.remove();
  });

  for (const place of goldenAddresses()) {
    const { address } = place;
    if (WIDE_ZIPS.has(address)) {
      test(`${address}: its ZIP is too wide to assume the city`, () => {
        const asked = askAddress(dataset, address);
        assert.equal(asked.code, 109);
        assert.match(asked.message, /overlaps several tax areas with different rates/);
      });
      continue;
    }
    test(`${address}: as the authority publishes it`, () => assertGolden(dataset, place, true));
  }

  test('a Vermont rooftop', () => {
    const asked = askAddress(dataset, '149 Church St, Burlington, VT 05401');
    assert.deepEqual([asked.code, asked.precision, asked.total], [100, 'point', 0.07]);
  });

  test('a point in the Aleutians west of the antimeridian is in Alaska', () => {
    const asked = askQuery(dataset, 'lat=52.87&lng=173.17');
    assert.match(asked.message + asked.normalizedAddress, /Alaska|AK/);
  });

  for (const [query, names, total] of COUNTY_LINES) {
    test(`${query}: ${names}`, () => {
      const asked = askQuery(dataset, query);
      const found = asked.rows.filter(({ jurType }) => /_(COUNTY|CITY)_/.test(jurType));
      assert.equal(found.map(({ jurName }) => jurName).join(' '), names);
      assert.equal(asked.total, total);
    });
  }

  for (const [city, total] of ONE_COUNTY) {
    test(`1 Main St, ${city}: one county`, () => assertOneCounty(dataset, city, total));
  }
});
