/** How recipes take boundary files with the rate files beside them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type HeldRecipe, withHeld } from '../../src/ingest/held-recipe.js';
import { readCatalogue, wantedOf } from '../../src/ingest/publisher/catalogue.js';
import type { HeldFile } from '../../src/ingest/publisher/held-files.js';
import { type RatesRecipe, readRecipe, type Recipe } from '../../src/ingest/recipe.js';
import { ratesFaults } from '../../src/ingest/recipe-check.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import type { DateInt } from '../../src/tax/date.js';

test('a list beside boundary files is checked like any other', () => {
  const { rates } = readRecipe('fixture');
  const faults = ratesFaults({ ...rates, stated: [{ reader: 'ssst', path: 'x', state: 'QA' }] });
  assert.match(faults.join(), /ssst/);
});

function heldFile(key: string): readonly [string, HeldFile] {
  const wanted =
    readCatalogue()
      .flatMap(wantedOf)
      .find((one) => one.key === key) ?? assert.fail(key);
  return [
    key,
    {
      key,
      source: wanted.source,
      state: wanted.state,
      fips: '',
      path: `${key}.csv`,
      asOf: 20261001 as DateInt,
      until: 20261231 as DateInt,
    },
  ];
}

test("the recipes read a state's boundary file where its rate file was fetched too", () => {
  const json = (file: string): unknown =>
    JSON.parse(readFileSync(join(datasetsDir(), 'recipes', file), 'utf8'));
  const own = {
    recipe: json('default.json') as Recipe,
    rates: json('rates-default.json') as RatesRecipe,
  };
  const held = (...keys: readonly string[]): HeldRecipe =>
    withHeld(own, new Map(keys.map(heldFile)));
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
