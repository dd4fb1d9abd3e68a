/** Districts that a law or an authority says to have all of a county, or a city: facts, held. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadRates } from '../../src/ingest/rates/load.js';
import type { RatesRecipe } from '../../src/ingest/recipe.js';
import type { DateInt } from '../../src/tax/date.js';
import { formatRate, sumRates } from '../../src/tax/rate.js';

const DATASETS = join(import.meta.dirname, '../../../datasets');
const TODAY = 20261121 as DateInt;
const COLORADO = '08';

const recipe = readFileSync(join(DATASETS, 'recipes/rates-default.json'), 'utf8');
const rates = loadRates(JSON.parse(recipe) as RatesRecipe, {
  factsDir: join(DATASETS, 'facts'),
  sourcesDir: '',
  estimated: false,
});

/** In percent, or "refused"; `place` is the code of a city, "" outside all. */
function total(county: string, place = ''): string {
  const area = rates.book.resolve({ state: COLORADO, county, place, town: '', districts: [] });
  if (area.unknown.some(({ from, to }) => from <= TODAY && to >= TODAY)) return 'refused';
  const sum = sumRates(
    area.components.flatMap(({ periods }) =>
      periods.filter(({ from, to }) => from <= TODAY && to >= TODAY).map(({ sales }) => sales),
    ),
  );
  return formatRate((sum * 100) as typeof sum);
}

test('all of Boulder and Jefferson counties lies in the districts of the metropolis', () => {
  assert.equal(total('08013'), '5.185', 'a local improvement district has only shops of Niwot');
  assert.equal(total('08013', '0807850'), '9.045', 'Boulder, once each');
  assert.equal(total('08013', '0875640'), '8.96', 'Superior');
  assert.equal(total('08059', '0843000'), '7.5', 'Lakewood');
  assert.notEqual(total('08059', '0823135'), 'refused', 'Edgewater');
  assert.equal(total('08059'), '4.5', 'outside the boxes about districts with rates of their own');
  assert.equal(total('08059', '?'), 'refused', 'in one of them');
});

test("Adams County's cities are in them by its own list, its land east of a creek is not", () => {
  assert.equal(total('08001', '0877290'), '8.5', 'Thornton');
  assert.equal(total('08001', '0816495'), '9.25', 'Commerce City');
  assert.equal(total('08001', '0808675'), '8.5', 'Brighton');
  assert.equal(total('08001', '0806090'), '8.75', 'Bennett');
  assert.equal(total('08005', '0806090'), 'refused', 'Bennett beyond the county line');
  assert.equal(total('08005', '0813845'), '7.75', 'Cherry Hills Village');
  assert.equal(total('08001'), '4.75', 'west of the creek');
  assert.equal(total('08001', '?'), 'refused', 'where it may lie east of it');
});

test('public safety taxes of Mesa and Montrose counties hold in towns and outside them', () => {
  assert.equal(total('08077'), '5.27');
  assert.equal(total('08077', '0831660'), '8.66', 'Grand Junction');
  assert.equal(total('08085'), '4.65');
  assert.equal(total('08085', '0851745'), '8.53', 'Montrose');
});
