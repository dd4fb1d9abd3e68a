/** Names of the recipes that come with the program. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isRecipeFile } from '../ingest/recipe.js';
import { datasetsDir } from '../ingest/source-files.js';
import { UsageError } from './command-line.js';

const DOWNLOADS = 'downloads-';
const PARTS = /^(?:rates|downloads)-/;

function jsonNames(): readonly string[] {
  return readdirSync(join(datasetsDir(), 'recipes'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort();
}

function recipeNames(): readonly string[] {
  return jsonNames().filter((file) => !PARTS.test(file));
}

/** Whether a recipe of this name comes with the program. */
export function hasRecipe(name: string): boolean {
  return recipeNames().includes(name);
}

/** @throws UsageError where there is no such recipe; it names all recipes. */
export function requireRecipe(name: string): void {
  if (isRecipeFile(name)) return;
  const names = recipeNames();
  if (names.includes(name)) return;
  throw new UsageError(`there is no recipe "${name}"; there are: ${names.join(', ')}`);
}

/** @throws UsageError where the recipe has no list of downloads; it names those that have one. */
export function requireDownloads(name: string): void {
  const names = jsonNames()
    .filter((file) => file.startsWith(DOWNLOADS))
    .map((file) => file.slice(DOWNLOADS.length));
  if (names.includes(name)) return;
  throw new UsageError(
    `recipe "${name}" has no list of downloads; these have: ` + names.join(', '),
  );
}
