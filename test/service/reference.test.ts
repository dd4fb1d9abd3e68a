/** The reference dataset, built from publishers' files: real places, real traps. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { askAddress, askQuery } from '../support/ask-dataset.js';
import { buildRecipe, publishersFiles, type Built } from '../support/built-dataset.js';

interface Golden {
  readonly location: string;
  readonly total?: string;
  readonly jurisdictions?: readonly {
    readonly level: string; readonly name: string; readonly code: string | null; readonly rate: string;
  }[];
  readonly refused?: readonly string[];
}

const sources = publishersFiles();
const skip = sources === null ? 'the publishers\' files are not at hand' : false;
if (skip !== false) process.stdout.write(`# skipped: ${skip}\n`);

let built: Built | null = null;
let dataset: Dataset;

before(() => {
  if (sources === null) return;
  built = buildRecipe('reference', ['--sources', sources]);
  dataset = openDataset(built.dir);
});

after(() => {
  if (built === null) return;
  dataset.close();
  built.remove();
});

const folder = join(packageRoot(), 'test/golden/places');

/** Locations that are written as an address could be, one line for each. */
function addressOf(location: string): string | null {
  if (!/^[^()]+, [A-Z]{2} \d{5}$/.test(location)) return null;
  return /^\d/.test(location) ? location : `1 Main St, ${location}`;
}

for (const file of readdirSync(folder).sort()) {
  const goldens = JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Golden[];
  for (const golden of goldens) {
    const address = addressOf(golden.location);
    if (address === null) continue;
    test(`${address}: as the authority publishes it`, { skip }, () => {
      const asked = askAddress(dataset, address);
      if (golden.refused !== undefined) {
        // 109 where the ZIP holds other tax areas too: no answer either, and no guess.
        assert.ok(asked.code === 110 || asked.code === 109, asked.text);
        if (asked.code === 110) {
          assert.ok(golden.refused.some((reason) => asked.message.includes(reason)), asked.message);
        }
        return;
      }
      assert.equal(asked.code, 100, asked.message);
      assert.equal(asked.total, Number(golden.total));
      assert.deepEqual(
        asked.rows.map(({ jurName, jurTaxCode, rate }) => [jurName, jurTaxCode, rate]),
        golden.jurisdictions?.map(({ name, code, rate }) => [name, code, Number(rate)]),
      );
    });
  }
}

test('a Vermont rooftop', { skip }, () => {
  const asked = askAddress(dataset, '149 Church St, Burlington, VT 05401');
  assert.deepEqual([asked.code, asked.precision, asked.total], [100, 'point', 0.07]);
});

test('a point in the Aleutians west of the antimeridian is in Alaska', { skip }, () => {
  const asked = askQuery(dataset, 'lat=52.87&lng=173.17');
  assert.match(asked.message + asked.normalizedAddress, /Alaska|AK/);
});

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

for (const [query, names, total] of COUNTY_LINES) {
  test(`${query}: ${names}`, { skip }, () => {
    const asked = askQuery(dataset, query);
    const found = asked.rows.filter(({ jurType }) => /_(COUNTY|CITY)_/.test(jurType));
    assert.equal(found.map(({ jurName }) => jurName).join(' '), names);
    assert.equal(asked.total, total);
  });
}

/** No ZIP is needed where all of a city lies in one county. */
const ONE_COUNTY: readonly (readonly [city: string, total: number])[] = [
  ['Denver, CO', 0.0915], ['St. Paul, MN', 0.09875], ['Minneapolis, MN', 0.09025],
  ['Mount Vernon, NY', 0.08375], ['Mount Vernon, NY 10550', 0.08375],
];

for (const [city, total] of ONE_COUNTY) {
  test(`1 Main St, ${city}: one county`, { skip }, () => {
    const asked = askAddress(dataset, `1 Main St, ${city}`);
    assert.deepEqual([asked.code, asked.total], [100, total]);
  });
}
