/**
 * Every city of every rate list, asked by address, by spots inside it and by ZIP: the answer is the
 * list's rate or a refusal, or says that it is assumed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import type { DateInt } from '../../src/tax/date.js';
import { buildRecipe, publishersFiles } from '../support/built-dataset.js';
import { walkCities } from '../support/city-walk.js';
import { listedCities } from '../support/listed-cities.js';

const DAY = 20261121 as DateInt;
const NOW_MS = Date.UTC(2026, 10, 21, 18);
/** Of some 7,000 cities; fewer would say that they were not asked. */
const RIGHT_MIN = 40_000;

async function assertWalk(recipe: string, sources: string | null): Promise<void> {
  const built = buildRecipe(recipe, sources === null ? [] : ['--sources', sources]);
  try {
    const dataset = openDataset(built.dir);
    try {
      const listed = await listedCities(recipe, sources, DAY);
      assert.ok(
        listed.cities.some(({ polygon }) => polygon === null),
        'one without boundary',
      );
      const walk = walkCities(dataset, listed, NOW_MS);
      assert.deepEqual(walk.wrong, []);
      assert.ok(walk.right >= RIGHT_MIN, `${walk.right} answers at the listed rate`);
    } finally {
      dataset.close();
    }
  } finally {
    built.remove();
  }
}

test('default: no listed city is answered with another rate', () => assertWalk('default', null));

const sources = publishersFiles();

test(
  'reference: no listed city is answered with another rate',
  {
    skip: sources === null ? "the publishers' files are not at hand" : false,
  },
  () => assertWalk('reference', sources),
);
