/** The example of an own layer in docs/datasets.md, done as it says on the data of its state. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { LAYER_COLUMNS } from '../../src/ingest/layer/checked-cells.js';
import { datasetsDir, packageRoot, SourceFiles } from '../../src/ingest/source-files.js';
import { readGeometryFile } from '../../src/ingest/source/geometry-file.js';
import { CLI } from '../support/built-dataset.js';
import { pageCommands, runPage, withoutVolatile } from '../support/page-commands.js';
import type { Polygon } from '../../src/geo/polygon.js';

const PAGE = readFileSync(join(packageRoot(), 'docs', 'datasets.md'), 'utf8');
const FIPS = '22';
const STATE = 'LA';

/** The block below a mark. */
function block(mark: string): string {
  return /```\w+\n[\s\S]*?```\n/.exec(PAGE.split(`<!-- ${mark} -->`)[1] ?? '')?.[0] ?? '';
}

interface DefaultRecipe {
  readonly boundaries: readonly { readonly layer: string; readonly object?: string }[];
  readonly zips: Readonly<Record<string, string>>;
}
interface DefaultRates {
  readonly lists: readonly { readonly path: string }[];
}

/** The default recipe of one state alone, which is built in a second. */
/** A polygon as GeoJSON, in degrees. */
function featureOf({ key, coords, rings }: Polygon): object {
  return {
    type: 'Feature',
    id: key,
    properties: {},
    geometry: {
      type: 'Polygon',
      coordinates: Array.from(rings.subarray(0, -1), (start, at) =>
        Array.from({ length: rings[at + 1]! - start }, (_, step) => [
          coords[2 * (start + step)]! / 1e6,
          coords[2 * (start + step) + 1]! / 1e6,
        ]),
      ),
    },
  };
}

function writeStateRecipe(folder: string): string {
  const read = (name: string): object =>
    JSON.parse(readFileSync(join(datasetsDir(), 'recipes', name), 'utf8')) as object;
  const recipe = read('default.json') as DefaultRecipe;
  const rates = read('rates-default.json') as DefaultRates;
  const layers = readGeometryFile(join(datasetsDir(), 'geometry', 'us.geometry.gz'));
  const files = new SourceFiles(datasetsDir(), null);
  const boundaries = recipe.boundaries.flatMap(({ object, ...more }) => {
    // Those of Canada are another file's.
    if (object === undefined) return [];
    const features = layers
      .get(object)!
      .filter(({ polygon }) => polygon.key.startsWith(FIPS))
      .map(({ polygon }) => featureOf(polygon));
    const collection = { type: 'FeatureCollection', features };
    writeFileSync(join(folder, `${object}.geojson`), JSON.stringify(collection));
    return { ...more, path: `${object}.geojson` };
  });
  const zips = Object.fromEntries(
    Object.entries(recipe.zips).map(([name, path]) => {
      // What stands behind the bar is read where nothing was fetched.
      const lines = files.text(path.slice(path.lastIndexOf('|') + 1)).split('\n');
      const own = new RegExp(`\\b${STATE}\\b|^zip`);
      const kept = lines.filter((line) => own.test(line));
      writeFileSync(join(folder, `${name}.txt`), `${kept.join('\n')}\n`);
      return [name, `${name}.txt`];
    }),
  );
  writeFileSync(
    join(folder, 'rates-state.json'),
    JSON.stringify({
      ...rates,
      lists: rates.lists.filter(({ path }) => path.includes(`/${STATE}.tsv`)),
    }),
  );
  const path = join(folder, 'state.json');
  writeFileSync(
    path,
    JSON.stringify({
      ...recipe,
      name: 'default',
      rates: 'rates-state.json',
      boundaries,
      zips,
    }),
  );
  return path;
}

test('one parish with its rate is answered as the page says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'situs-parish-'));
  try {
    const recipe = writeStateRecipe(folder);
    const table = block('layer').split('\n').slice(1, -2).join('\n');
    writeFileSync(join(folder, 'feliciana.csv'), table);
    const commands = pageCommands(block('layer-run'));
    const situs = `'${process.execPath}' '${CLI}'`;
    const build = `--recipe '${recipe}' --sources '${folder}'`;
    const outputs = await runPage(commands, {
      cwd: folder,
      env: { PATH: dirname(process.execPath), SITUS_VAR: join(folder, 'var'), HOME: folder },
      // What the page's default recipe has of the state is what this one has.
      before: `npx() {
          shift
          if [ "$2" = build ]; then ${situs} "$@" ${build}; else ${situs} "$@"; fi
        }
        npx situs dataset build --quiet --activate > /dev/null`,
    });
    assert.equal(commands.length, 3);
    commands.forEach(({ command, output }, at) =>
      assert.equal(withoutVolatile(outputs[at]!), withoutVolatile(output), command),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every column of the table is told', () => {
  for (const column of LAYER_COLUMNS) {
    assert.ok(PAGE.split('## Own layers')[1]!.split('\n## ')[0]!.includes(`\`${column}\``), column);
  }
});
