/** How recipes take boundary files with the rate files beside them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldRecipe } from '../../src/ingest/held-recipe.js';
import { ratesFaults } from '../../src/ingest/recipe-check.js';
import { readRecipe } from '../../src/ingest/recipe.js';
import { recipeOver } from './recipe-over-files.js';

test('a list beside boundary files is checked like any other', () => {
  const { rates } = readRecipe('fixture');
  const faults = ratesFaults({ ...rates, stated: [{ reader: 'ssst', path: 'x', state: 'QA' }] });
  assert.match(faults.join(), /ssst/);
});

test("the recipes read a state's boundary file where its rate file was fetched too", () => {
  const held = (...keys: readonly string[]): HeldRecipe => recipeOver('default', 'csv', ...keys);
  const both = held('sst-rates/UT', 'sst-boundaries/UT', 'sst-boundaries/WI');
  assert.deepEqual(
    both.recipe.sst.map(({ state }) => state),
    ['UT', 'WI'],
  );
  assert.deepEqual(
    both.rates.stated?.map(({ state, path }) => [state, path]),
    [['UT', 'sst-rates/UT.csv']],
  );
  assert.deepEqual(
    both.lists.map((list) => [list.name, list.stated]),
    [['sst-rates/UT', true]],
  );
  assert.deepEqual(held('sst-boundaries/UT').recipe.sst, []);
});
