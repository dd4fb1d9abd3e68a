/** Recipes of the project over files that are said to have been fetched. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HeldRecipe, withHeld } from '../../src/ingest/held-recipe.js';
import { readCatalogue, wantedOf } from '../../src/ingest/publisher/catalogue.js';
import type { HeldFile } from '../../src/ingest/publisher/held-files.js';
import type { RatesRecipe, Recipe } from '../../src/ingest/recipe.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import type { DateInt } from '../../src/tax/date.js';

function json(file: string): unknown {
  return JSON.parse(readFileSync(join(datasetsDir(), 'recipes', file), 'utf8'));
}

function heldFile(key: string, ending: 'csv' | 'zip'): HeldFile {
  const wanted =
    readCatalogue()
      .flatMap(wantedOf)
      .find((one) => one.key === key) ?? assert.fail(key);
  return {
    key,
    source: wanted.source,
    state: wanted.state,
    fips: '',
    path: `${key}.${ending}`,
    asOf: 20261001 as DateInt,
    until: 20261231 as DateInt,
  };
}

/** A recipe by its name with what files of the catalogue's keys add to it. */
export function recipeOver(
  recipe: string,
  ending: 'csv' | 'zip',
  ...keys: readonly string[]
): HeldRecipe {
  const own = {
    recipe: json(`${recipe}.json`) as Recipe,
    rates: json(`rates-${recipe}.json`) as RatesRecipe,
  };
  return withHeld(own, new Map(keys.map((key) => [key, heldFile(key, ending)])));
}
