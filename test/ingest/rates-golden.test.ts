/** Real places of every state against the recipe that ships with the project. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadRates } from '../../src/ingest/rates/load.js';
import type { RatesRecipe } from '../../src/ingest/recipe.js';
import { formatRate, sumRates, type Rate } from '../../src/tax/rate.js';
import type { AreaTuple, RateBook } from '../../src/ingest/model.js';
import type { DateInt } from '../../src/tax/date.js';

const ROOT = join(import.meta.dirname, '../../..');
const GOLDENS = join(ROOT, 'test/golden/places');
const SOURCES = join(ROOT, '../shared/data');

interface Jurisdiction {
  readonly level: string;
  readonly name: string;
  readonly code: string | null;
  readonly kind?: string;
  readonly rate: string;
}

/** One place: its jurisdictions and total, or why it is refused. */
interface Golden {
  readonly location: string;
  readonly tuple: AreaTuple;
  readonly on: DateInt;
  readonly source: string;
  readonly total?: string;
  readonly incorporated?: boolean;
  readonly jurisdictions?: readonly Jurisdiction[];
  readonly refused?: readonly string[];
}

function bookOf(recipe: string, sourcesDir: string): RateBook {
  const text = readFileSync(join(ROOT, 'datasets/recipes', `${recipe}.json`), 'utf8');
  return loadRates(JSON.parse(text) as RatesRecipe, {
    factsDir: join(ROOT, 'datasets/facts'),
    sourcesDir,
    estimated: false,
  }).book;
}

function goldens(file: string): readonly Golden[] {
  return JSON.parse(readFileSync(join(GOLDENS, file), 'utf8')) as readonly Golden[];
}

/** `names`: whether the recipe has the estimated layer that goldens name, and says so. */
function check(book: RateBook, golden: Golden, names: boolean): void {
  const area = book.resolve(golden.tuple);
  const day = golden.on;
  const refused = area.unknown.filter((span) => span.from <= day && span.to >= day);
  const expected = (golden.refused ?? []).map((reason) =>
    names ? reason : reason.replace(' or the estimated layer would fill', ' would fill'),
  );
  assert.deepEqual([...new Set(refused.map((span) => span.reason))], expected);
  if (golden.refused) return;
  const found = area.components.flatMap((component): (Jurisdiction & { value: Rate })[] => {
    const period = component.periods.find(({ from, to }) => from <= day && to >= day);
    const { level, jurName: name, jurCode: code, kind } = component;
    if (!period) return [];
    const rate = formatRate(period.sales);
    return [{ level, name, code, ...(kind ? { kind } : {}), rate, value: period.sales }];
  });
  assert.deepEqual(
    found.map(({ value: _, ...rest }) => rest),
    golden.jurisdictions,
  );
  assert.equal(formatRate(sumRates(found.map(({ value }) => value))), golden.total);
  assert.equal(area.incorporated, golden.incorporated);
}

const shipped = bookOf('rates-default', '');

for (const file of readdirSync(GOLDENS).sort()) {
  for (const golden of goldens(file)) {
    test(`golden ${golden.location}`, () => check(shipped, golden, false));
  }
}

test('every state, territory and province has a golden', () => {
  const states = readFileSync(join(ROOT, 'datasets/facts/states.tsv'), 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
  const expected = states.map(([code = '', , , country]) =>
    country === 'CAN' ? 'canada.json' : `${code.toLowerCase()}.json`,
  );
  assert.deepEqual([...new Set(expected)].sort(), readdirSync(GOLDENS).sort());
});

test("the publishers' files give the same answers as the facts carried from them", (t) => {
  if (!existsSync(join(SOURCES, 'local-rates-more'))) {
    t.skip("no publishers' files beside the project");
    return;
  }
  const reference = bookOf('rates-reference', SOURCES);
  for (const file of readdirSync(GOLDENS)) {
    for (const golden of goldens(file)) check(reference, golden, true);
  }
});
