/** Boundaries out of the zip archives of shapefiles that the Census Bureau publishes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readBoundaryFile } from '../../src/ingest/source/boundary-file.js';
import { dbfOf, type Line, shpOf } from '../support/shape-file.js';
import { zipOf } from '../support/zip-file.js';

const DIR = mkdtempSync(join(tmpdir(), 'situs-shapes-'));

after(() => rmSync(DIR, { recursive: true, force: true }));

function square(lng: number, lat: number): Line {
  return [[lng, lat], [lng, lat + 1], [lng + 1, lat + 1], [lng + 1, lat], [lng, lat]];
}

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
