/** A hash of all that a release is made of: the program's code, the recipe and every file. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HeldRecipe } from './held-recipe.js';
import { listFiles } from './recipe.js';
import { packageFile, type SourceFiles } from './source-files.js';

/** Folders of code, besides this file's, that reading depends on. */
export const READING_CODE = ['address', 'base', 'dataset', 'geo', 'ingest', 'tax'];

/**
 * Packages that reading or writing depends on, since a newer version may produce other bytes from
 * the same files. Files of data packages are hashed like other sources.
 */
export const READING_PACKAGES = [
  'fastest-validator',
  'lmdb',
  'msgpackr',
  'papaparse',
  'piscina',
  'proj4',
  'sax',
  'shapefile',
  'topojson-client',
  'undici',
  'unpdf',
  'yauzl',
];

let codeHash = '';

/** Installed version of a package; "" where it is not installed. */
function installed(name: string): string {
  const file = packageFile(`${name}/package.json`);
  if (!existsSync(file)) return '';
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/**
 * A hash of everything that reads sources and builds releases: compiled code, packages, and Node.js
 * with its own Unicode tables and decompression.
 */
export function codeVersion(): string {
  if (codeHash !== '') return codeHash;
  const hash = createHash('sha256')
    .update(process.version)
    .update(JSON.stringify(READING_PACKAGES.map((name) => [name, installed(name)])));
  const walk = (folder: string): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.name.endsWith('.js')) hash.update(entry.name).update(readFileSync(path));
    }
  };
  for (const name of READING_CODE) walk(join(import.meta.dirname, '..', name));
  codeHash = hash.digest('hex');
  return codeHash;
}

/** Files of a shapefile that recipes do not name: attributes, projection and encoding. */
export function companions(path: string): readonly string[] {
  return ['dbf', 'prj', 'cpg'].flatMap((own) =>
    /\.shp$/i.test(path) ? [path.replace(/shp$/i, own)] : [],
  );
}

/**
 * Hash of everything that a release is made of, except for an operator's layers. Without layers,
 * the same hash means the same release.
 * @throws Error naming a file that the recipe needs and that is missing.
 */
export function inputHash(
  { recipe, rates, lists }: Pick<HeldRecipe, 'recipe' | 'rates' | 'lists'>,
  files: SourceFiles,
  layers: readonly string[],
): string {
  files.noteFacts();
  const { points, delivered, tabulated, cities } = recipe.zips;
  const named = [
    ...listFiles(rates, layers.includes('estimated')),
    points,
    delivered,
    tabulated,
    cities,
    ...Object.values(recipe.documents),
    recipe.postalPrefixes,
    ...recipe.boundaries.flatMap(({ path, states = [] }) =>
      path.includes('{fips}') ? states.map((fips) => path.replace('{fips}', fips)) : [path],
    ),
    ...[...recipe.points, ...recipe.ranges, ...recipe.sst].map(({ file }) => file),
  ].filter((path) => path !== undefined);
  const paths = named
    .flatMap((path) => files.filesOf(path))
    .flatMap((path) => {
      files.note(path);
      return [path, ...companions(path).filter((own) => existsSync(files.resolve(own)))];
    });
  const facts = files.list().filter(({ path }) => path.startsWith('facts/'));
  return createHash('sha256')
    .update(
      JSON.stringify([
        codeVersion(),
        recipe,
        rates,
        lists,
        layers,
        facts,
        paths.map((path) => [path, files.sha256(path)]),
      ]),
    )
    .digest('hex');
}
