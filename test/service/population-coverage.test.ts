/** The tables of how surely people are answered, and the README's headline, are what is measured. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDataset } from '../../src/dataset/open.js';
import { Engine } from '../../src/engine/engine.js';
import {
  type StateCoverage,
  zipCoverage,
  zipCoverageTable,
} from '../../src/engine/release-survey.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe, publishersFiles } from '../support/built-dataset.js';

/** The day of the tables; staleness depends on it. */
const NOW_MS = Date.UTC(2026, 10, 22, 18);
const sources = publishersFiles();
const skip = sources === null ? "the publishers' files are not at hand" : false;

function covered(recipe: string): readonly StateCoverage[] {
  const built = buildRecipe(recipe, recipe === 'reference' ? ['--sources', sources ?? ''] : []);
  const dataset = openDataset(built.dir);
  try {
    return zipCoverage(new Engine(dataset), dataset, NOW_MS);
  } finally {
    dataset.close();
    built.remove();
  }
}

/** A share of all people, in whole percent. */
function percent(states: readonly StateCoverage[], name: 'certain' | 'assumed' | 'points'): string {
  const people = states.reduce((sum, { population }) => sum + population, 0);
  const share = states.reduce((sum, state) => sum + state[name] * state.population, 0);
  return `${Math.round(share / people / 10_000)} %`;
}

function sentence(what: string, states: readonly StateCoverage[]): string {
  return (
    `${what}: an address that only its ZIP and city are known of has a certain answer for ` +
    `${percent(states, 'certain')} of the US population and an assumed one, which says so, for ` +
    `${percent(states, 'assumed')}; a point has one for ${percent(states, 'points')}.`
  );
}

/** Compares what stands between the marks of a page, or writes it. */
function assertPage(file: string, mark: string, text: string): void {
  const path = join(packageRoot(), file);
  const page = readFileSync(path, 'utf8');
  const between = new RegExp(`<!-- ${mark} -->\n([\\s\\S]*?)\n?<!-- /${mark} -->`);
  if (process.env['SITUS_DOCS'] === 'write') {
    writeFileSync(
      path,
      page.replace(between, () => `<!-- ${mark} -->\n${text}\n<!-- /${mark} -->`),
    );
    return;
  }
  assert.equal(between.exec(page)?.[1]?.trim(), text, 'SITUS_DOCS=write npm test renews it');
}

test('the coverage of both recipes by population, and the headline', { skip }, () => {
  const own = covered('default');
  const reference = covered('reference');
  assertPage('docs/datasets.md', 'population-default', zipCoverageTable(own));
  assertPage('docs/datasets.md', 'population-reference', zipCoverageTable(reference));
  assertPage(
    'README.md',
    'headline',
    [
      sentence('With the dataset that comes with it', own),
      sentence("With publishers' files (`reference`, doors apart)", reference),
    ].join('\n'),
  );
});
