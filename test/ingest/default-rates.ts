/** The rates of the default recipe, and what they tell of a place. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadedRates, loadRates } from '../../src/ingest/rates/load.js';
import type { RatesRecipe } from '../../src/ingest/recipe.js';
import { formatRate, sumRates } from '../../src/tax/rate.js';
import type { DateInt } from '../../src/tax/date.js';

const ROOT = join(import.meta.dirname, '../../..');
export const FACTS = join(ROOT, 'datasets/facts');
export const SOURCES = join(ROOT, '../shared/data');
type Area = ReturnType<LoadedRates['book']['resolve']>;

export const TODAY = 20261121 as DateInt;

export function load(recipe: string, sourcesDir = '', estimated = false): LoadedRates {
  const text = readFileSync(join(ROOT, 'datasets/recipes', `${recipe}.json`), 'utf8');
  const read = JSON.parse(text) as RatesRecipe;
  return loadRates(read, { factsDir: FACTS, sourcesDir, estimated });
}

export const rates = load('rates-default');
const fips = new Map(rates.input.states.map((state) => [state.code, state.fips]));

export function placeOf(state: string, fullName: string): string {
  const found = rates.input.places.filter(
    (place) => place.state === state && place.fullName === fullName && place.geoid.length === 7,
  );
  assert.equal(found.length, 1, `${state} ${fullName}`);
  return found[0]?.geoid ?? '';
}

/** What a book has of a place, which is a code, as all else. */
export function areaAt(
  state: string,
  county: string,
  place = '',
  town = '',
  { book }: Pick<LoadedRates, 'book'> = rates,
): Area {
  return book.resolve({ state, county, place, town, districts: [] });
}

/** What all components of an area sum up to, in percent. */
export function percentOf({ components }: Pick<Area, 'components'>, on: number): string {
  const sum = sumRates(
    components.flatMap(({ periods }) =>
      periods.filter(({ from, to }) => from <= on && to >= on).map((period) => period.sales),
    ),
  );
  return formatRate((sum * 100) as typeof sum);
}

/** Total of an area in percent, or "refused". */
export function percentOrRefused(area: Area, on: number = TODAY): string {
  const isUnknown = area.unknown.some(({ from, to }) => from <= on && to >= on);
  return isUnknown ? 'refused' : percentOf(area, on);
}

/** Total in percent, or "refused". `place` is a full name, "" for none, "?" for not known. */
export function total(
  state: string,
  county: string,
  place = '',
  on: number = TODAY,
  town = '',
): string {
  const geoid = place === '' || place === '?' ? place : placeOf(state, place);
  return percentOrRefused(areaAt(fips.get(state) ?? '', county, geoid, town), on);
}

export function stale(state: string, county: string, place: string): boolean {
  return areaAt(fips.get(state) ?? '', county, placeOf(state, place)).staleAfter < TODAY;
}
