/** A recipe's dataset, open for all the tests of a file. */
import { after } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { buildRecipe, type Built } from './built-dataset.js';

/** Builds and opens it; it is closed, and its folder removed, after the last test of the file. */
export function openRecipe(recipe: string): { readonly built: Built; readonly dataset: Dataset } {
  const built = buildRecipe(recipe);
  const dataset = openDataset(built.dir);
  after(() => {
    dataset.close();
    built.remove();
  });
  return { built, dataset };
}
