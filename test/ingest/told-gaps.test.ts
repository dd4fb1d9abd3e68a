/** What is told of what lists lack: gaps with their figures, areas with districts that are not listed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { coverage } from '../../src/ingest/coverage.js';
import { loadRates } from '../../src/ingest/rates/load.js';
import type { RatesRecipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { readTable } from '../../src/ingest/source/table-text.js';

const FACTS = join(datasetsDir(), 'facts');
const RECIPE = join(datasetsDir(), 'recipes/rates-default.json');
const rates = loadRates(JSON.parse(readFileSync(RECIPE, 'utf8')) as RatesRecipe, {
  factsDir: FACTS,
  sourcesDir: '',
  estimated: false,
});
const fips = new Map(rates.input.states.map((state) => [state.code, state.fips]));

test('figures in what a list lacks are counted, not written', () => {
  const states = new Map(coverage(rates).map((state) => [state.state, state]));
  const held = (state: string): readonly [number, string] => {
    const { levels, gaps } = states.get(state)!;
    const city = levels.find(({ level }) => level === 'city')!;
    return [city.jurisdictions, gaps.join('; ')];
  };
  for (const state of ['AL', 'AK', 'AZ', 'MO', 'NM']) {
    const [count, gaps] = held(state);
    assert.match(gaps, new RegExp(`\\b${count} of \\d{2,3} (municipalities|cities) are held`));
  }
  const parishes = rates.input.counties.filter(({ state }) => state === 'LA').length;
  assert.match(held('LA')[1], new RegExp(`\\b\\d+ of ${parishes} parishes are held`));
  for (const { gaps } of states.values()) assert.doesNotMatch(gaps.join(), /[{}]/);
  // What a county takes inside a city is another row of the county, not another county.
  const alabama = states.get('AL')!;
  assert.equal(alabama.levels.find(({ level }) => level === 'county')?.jurisdictions, 67);
  assert.match(alabama.gaps.join(), /Tuscaloosa counties levy outside cities is not held/);
  assert.equal(
    rates.input.marks.some(({ fill }) => / (is|are) /.test(fill)),
    false,
  );
  for (const row of readTable(readFileSync(join(FACTS, 'completeness.tsv'), 'utf8'), '\t')) {
    assert.doesNotMatch(
      row.get('gap'),
      /\d+( of \d+)? [a-z ]*(are held|are refused)/,
      `${row.get('state')} ${row.get('level')}`,
    );
  }
});

test('where districts are known not to be listed the area says so', () => {
  const isPartial = (state: string, county: string, complete = false): boolean =>
    rates.book.resolve({
      state: fips.get(state) ?? '',
      county,
      place: '',
      town: '',
      districts: [],
      complete,
    }).partial;
  assert.equal(isPartial('MO', '29091'), true);
  assert.equal(isPartial('KS', '20165'), true);
  assert.equal(isPartial('AL', '01113'), true, 'police jurisdictions');
  assert.equal(isPartial('TX', '48215'), true, 'districts since 2024');
  assert.equal(isPartial('MT', '30031'), true, 'resort areas');
  assert.equal(isPartial('KS', '20165', true), false, 'a boundary file names all districts');
  for (const [state, county] of [
    ['SC', '45049'],
    ['OR', '41051'],
  ] as const) {
    assert.equal(isPartial(state, county), false, state);
  }
});
