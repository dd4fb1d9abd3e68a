/** Boundaries out of the zip archives of shapefiles that the Census Bureau publishes. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readBoundaries } from '../../src/ingest/boundary/overlay.js';
import type { Recipe } from '../../src/ingest/recipe.js';
import { datasetsDir, SourceFiles } from '../../src/ingest/source-files.js';
import { readBoundaryFile } from '../../src/ingest/source/boundary-file.js';
import { dbfOf, type Line, shpOf } from '../support/shape-file.js';
import { zipOf } from '../support/zip-file.js';

const DIR = mkdtempSync(join(tmpdir(), 'situs-shapes-'));

after(() => rmSync(DIR, { recursive: true, force: true }));

function square(lng: number, lat: number): Line {
  return [[lng, lat], [lng, lat + 1], [lng + 1, lat + 1], [lng + 1, lat], [lng, lat]];
}

test('vintages of a layer: columns that end in their year, and a file without one that is asked for', async () => {
  const rows = [{ STATEFP10: '99', GEOID10: '9900010', NAMELSAD10: 'Arden city', CLASSFP10: 'C1', FUNCSTAT10: 'A' },
    { STATEFP10: '99', GEOID10: '9900020', NAMELSAD10: 'Oak CDP', CLASSFP10: 'U1', FUNCSTAT10: 'S' }];
  const archive = (name: string, table: Buffer): void => writeFileSync(join(DIR, `${name}.zip`), zipOf([
    { name: `${name}.shp`, data: shpOf([square(10, 20), square(30, 20)]) }, { name: `${name}.dbf`, data: table }]));
  archive('tl_2010_99_place10', dbfOf(rows));
  archive('cb_2025_99_place_500k', dbfOf(rows.map(({ GEOID10, NAMELSAD10 }) => ({ GEOID: GEOID10, NAMELSAD: NAMELSAD10 }))));
  const fixture = JSON.parse(readFileSync(join(datasetsDir(), 'recipes/fixture.json'), 'utf8')) as Recipe;
  const read = (path: string): ReturnType<typeof readBoundaries> => readBoundaries({
    ...fixture, boundaries: [{ layer: 'place', path, key: 'GEOID', source: 'x', where: { CLASSFP: '^C', FUNCSTAT: '^A' } }],
  }, new SourceFiles(DIR, DIR), () => undefined);
  const { places } = await read('tl_2010_99_place10.zip');
  assert.deepEqual(places.map(({ polygon, properties }) => [polygon.key, properties['NAMELSAD']]), [['9900010', 'Arden city']]);
  await assert.rejects(() => read('cb_2025_99_place_500k.zip'),
    /cb_2025_99_place_500k\.zip: its layout is another: it has no column CLASSFP, FUNCSTAT, but: GEOID, NAMELSAD/);
});

test('places of a shapefile in a zip: keys, names in UTF-8, parts of one key together', async () => {
  const rows = [
    { GEOID: '9900020', NAME: 'Cañada', CLASSFP: 'C1' },
    { GEOID: '9900010', NAME: 'Arden', CLASSFP: 'C5' },
    { GEOID: '9900010', NAME: 'Arden', CLASSFP: 'C5' },
  ];
  const path = join(DIR, 'tl_2025_99_place.zip');
  writeFileSync(path, zipOf([
    { name: 'tl_2025_99_place.shp', data: shpOf([square(10, 20), square(30, 20), square(40, 20)]) },
    { name: 'tl_2025_99_place.dbf', data: dbfOf(rows) },
    { name: 'tl_2025_99_place.cpg', data: 'UTF-8' },
  ]));
  const found = await readBoundaryFile({ path, key: 'GEOID' });
  assert.deepEqual(found.map(({ polygon, properties }) => [polygon.key, properties['NAME']]),
    [['9900010', 'Arden'], ['9900020', 'Cañada']]);
  const geojson = join(DIR, 'places.zip');
  writeFileSync(geojson, zipOf([{ name: 'places.geojson', data: JSON.stringify({
    type: 'FeatureCollection', features: rows.map((properties, at) => ({
      type: 'Feature', properties,
      geometry: { type: 'Polygon', coordinates: [square(10 * [1, 3, 4][at]!, 20)] },
    })),
  }) }]));
  assert.deepEqual(await readBoundaryFile({ path: `${geojson}!*.geojson`, key: 'GEOID' }), found);
});
