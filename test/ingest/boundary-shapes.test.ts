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
import { dbfOf, type Line, shpOf, zipOf } from '../support/made-files.js';

const DIR = mkdtempSync(join(tmpdir(), 'situs-shapes-'));

after(() => rmSync(DIR, { recursive: true, force: true }));

function square(lng: number, lat: number): Line {
  return [
    [lng, lat],
    [lng, lat + 1],
    [lng + 1, lat + 1],
    [lng + 1, lat],
    [lng, lat],
  ];
}

const STATE_PLANE = [
  'PROJCS["NAD_1983_HARN_StatePlane_Washington_South_FIPS_4602_Feet"',
  'GEOGCS["GCS_North_American_1983_HARN"',
  'DATUM["D_North_American_1983_HARN"',
  'SPHEROID["GRS_1980",6378137.0,298.257222101]]',
  'PRIMEM["Greenwich",0.0]',
  'UNIT["Degree",0.0174532925199433]]',
  'PROJECTION["Lambert_Conformal_Conic"]',
  'PARAMETER["False_Easting",1640416.666666667]',
  'PARAMETER["False_Northing",0.0]',
  'PARAMETER["Central_Meridian",-120.5]',
  'PARAMETER["Standard_Parallel_1",45.83333333333334]',
  'PARAMETER["Standard_Parallel_2",47.33333333333334]',
  'PARAMETER["Latitude_Of_Origin",45.33333333333334]',
  'UNIT["Foot_US",0.3048006096012192]]',
].join(',');

test('location codes in feet of the State Plane are brought to degrees', async () => {
  const east = 1640416.666666667;
  const ring: Line = [
    [east, 0],
    [east, 9000],
    [east + 9000, 9000],
    [east + 9000, 0],
    [east, 0],
  ];
  const put = (name: string, prj: string): string => {
    writeFileSync(
      join(DIR, name),
      zipOf([
        { name: 'L.shp', data: shpOf([ring]) },
        { name: 'L.dbf', data: dbfOf([{ LOCCODE: '100' }]) },
        { name: 'L.prj', data: prj },
      ]),
    );
    return join(DIR, name);
  };
  const [found] = await readBoundaryFile({
    path: put('LOCCODE_PUBLIC_26Q4.zip', STATE_PLANE),
    key: 'LOCCODE',
    width: 4,
  });
  assert.equal(found?.polygon.key, '0100');
  // The origin lies where the projection says; 9,000 feet are 2,743 metres, a fortieth of a degree.
  const { minY: south, minX: west, maxY: north } = found!.polygon;
  assert.equal(west, -120_500_000);
  assert.ok(Math.abs(south - 45_333_333) < 10, String(south));
  assert.ok(Math.abs(north - south - 24_684) < 40, String(north - south));
  await assert.rejects(
    () =>
      readBoundaryFile({
        path: put('x.zip', 'PROJCS["Nowhere",PROJECTION["None"]]'),
        key: 'LOCCODE',
      }),
    /x\.zip: its coordinates are those of Nowhere, which is not known here/,
  );
  await assert.rejects(
    () => readBoundaryFile({ path: put('y.zip', 'GEOGCS["x"]'), key: 'LOCCODE' }),
    /y\.zip: its coordinates are no degrees: 1640416/,
  );
});

test('polygons in metres are brought to degrees', async () => {
  const areas = (crs: string): string => {
    const feature = {
      type: 'Feature',
      properties: { JURIS_NAME: 'ARDEN' },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [111319.49, 0],
            [111319.49, 111325.14],
            [0, 0],
          ],
        ],
      },
    };
    const path = join(DIR, 'areas.geojson');
    writeFileSync(
      path,
      `\uFEFF${JSON.stringify({
        type: 'FeatureCollection',
        features: [feature],
        crs: { type: 'name', properties: { name: crs } },
      })}`,
    );
    return path;
  };
  const [arden] = await readBoundaryFile({ path: areas('EPSG:3857'), key: 'JURIS_NAME' });
  assert.deepEqual([arden?.polygon.maxX, arden?.polygon.maxY], [1_000_000, 1_000_000]);
  await assert.rejects(
    () => readBoundaryFile({ path: areas('EPSG:2927'), key: 'JURIS_NAME' }),
    /those of EPSG:2927, which is not known/,
  );
});

/** Rows of a layer of 2010. */
const VINTAGE = [
  {
    STATEFP10: '99',
    GEOID10: '9900010',
    NAMELSAD10: 'Arden city',
    CLASSFP10: 'C1',
    FUNCSTAT10: 'A',
  },
  {
    STATEFP10: '99',
    GEOID10: '9900020',
    NAMELSAD10: 'Oak CDP',
    CLASSFP10: 'U1',
    FUNCSTAT10: 'S',
  },
];

test(
  'vintages of a layer: columns that end in their year, and a file without one that is asked ' +
    'for',
  async () => {
    const archive = (name: string, table: Buffer): void =>
      writeFileSync(
        join(DIR, `${name}.zip`),
        zipOf([
          { name: `${name}.shp`, data: shpOf([square(10, 20), square(30, 20)]) },
          { name: `${name}.dbf`, data: table },
        ]),
      );
    archive('tl_2010_99_place10', dbfOf(VINTAGE));
    archive(
      'cb_2025_99_place_500k',
      dbfOf(VINTAGE.map(({ GEOID10, NAMELSAD10 }) => ({ GEOID: GEOID10, NAMELSAD: NAMELSAD10 }))),
    );
    const fixture = JSON.parse(
      readFileSync(join(datasetsDir(), 'recipes/fixture.json'), 'utf8'),
    ) as Recipe;
    const read = (
      path: string,
      where: Readonly<Record<string, string>> = { CLASSFP: '^C', FUNCSTAT: '^A' },
    ): ReturnType<typeof readBoundaries> =>
      readBoundaries(
        {
          ...fixture,
          boundaries: [{ layer: 'place', path, key: 'GEOID', source: 'x', where }],
        },
        new SourceFiles(DIR, DIR),
        () => undefined,
      );
    const { places } = await read('tl_2010_99_place10.zip');
    assert.deepEqual(
      places.map(({ polygon, properties }) => [polygon.key, properties['NAMELSAD']]),
      [['9900010', 'Arden city']],
    );
    await assert.rejects(
      () => read('cb_2025_99_place_500k.zip'),
      /500k\.zip: its layout is another: it has no column CLASSFP, FUNCSTAT, but: GEOID, NAMELSAD/,
    );
    await assert.rejects(
      () => read('tl_2010_99_place10.zip', { CLASFP: '^C', LSAD: '25' }),
      /has no column CLASFP \(did you mean "CLASSFP"\?\), LSAD, but: /,
    );
    const point = { type: 'Feature', properties: { GEOID: '9900010' }, geometry: null };
    for (const features of [[], [point]]) {
      const text = JSON.stringify({ type: 'FeatureCollection', features });
      writeFileSync(join(DIR, 'none.geojson'), text);
      await assert.rejects(() => read('none.geojson', {}), /none\.geojson: it has no polygons/);
    }
  },
);

test('places of a shapefile in a zip: keys, names in UTF-8, parts of one key together', async () => {
  const rows = [
    { GEOID: '9900020', NAME: 'Cañada', CLASSFP: 'C1' },
    { GEOID: '9900010', NAME: 'Arden', CLASSFP: 'C5' },
    { GEOID: '9900010', NAME: 'Arden', CLASSFP: 'C5' },
  ];
  const path = join(DIR, 'tl_2025_99_place.zip');
  const pack = (cpg: string): void =>
    writeFileSync(
      path,
      zipOf([
        {
          name: 'tl_2025_99_place.shp',
          data: shpOf([square(10, 20), square(30, 20), square(40, 20)]),
        },
        { name: 'tl_2025_99_place.dbf', data: dbfOf(rows) },
        { name: 'tl_2025_99_place.cpg', data: cpg },
      ]),
    );
  pack('UTF-8');
  const found = await readBoundaryFile({ path, key: 'GEOID' });
  // An empty one says nothing.
  pack('');
  assert.deepEqual(await readBoundaryFile({ path, key: 'GEOID' }), found);
  assert.deepEqual(
    found.map(({ polygon, properties }) => [polygon.key, properties['NAME']]),
    [
      ['9900010', 'Arden'],
      ['9900020', 'Cañada'],
    ],
  );
  const geojson = join(DIR, 'places.zip');
  writeFileSync(
    geojson,
    zipOf([
      {
        name: 'places.geojson',
        data: JSON.stringify({
          type: 'FeatureCollection',
          features: rows.map((properties, at) => ({
            type: 'Feature',
            properties,
            geometry: { type: 'Polygon', coordinates: [square(10 * [1, 3, 4][at]!, 20)] },
          })),
        }),
      },
    ]),
  );
  assert.deepEqual(await readBoundaryFile({ path: `${geojson}!*.geojson`, key: 'GEOID' }), found);
});
