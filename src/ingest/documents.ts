/** Fact tables that become documents of a release. */
import { toMicrodegrees } from '../geo/microdegrees.js';
import type { AreaRegistry } from './area-registry.js';
import type { Documents } from './layer/lay.js';
import type { Recipe } from './recipe.js';
import type { SourceFiles } from './source-files.js';
import { splitRows } from './source/rows.js';

/** The tables by the names of their documents, each row by its columns. */
export function documentsOf(recipe: Recipe, files: SourceFiles): Documents {
  return new Map(Object.entries(recipe.documents).map(([name, path]) => {
    const [header = [], ...rows] = splitRows(files.text(path), '\t');
    return [name, rows.map((cells) =>
      Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ''])))];
  }));
}

/** Tax areas of provinces, each with a spot, by the first characters of their postal codes. */
export function postalPrefixes(
  recipe: Recipe, files: SourceFiles, registry: AreaRegistry,
): [string, object][] {
  if (recipe.postalPrefixes === undefined) return [];
  const [, ...rows] = splitRows(files.text(recipe.postalPrefixes), '\t');
  const areas = rows.map(([prefix = '', province = '', lat, lng]): [string, object] => [prefix, {
    area: registry.intern({
      state: `CA-${province}`, county: '', place: '', town: '', districts: [],
    }),
    lat: toMicrodegrees(Number(lat)), lng: toMicrodegrees(Number(lng)),
  }]);
  return [['postal-prefixes', Object.fromEntries(areas)]];
}
