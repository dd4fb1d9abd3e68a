/**
 * Writes datasets/facts/places/<STATE>.tsv from Census boundary files, names and codes only: `node
 * dist/scripts/write-places.js <sources> <facts>`. Rows that a file has from other publishers'
 * lists stay. It is kept for newer vintages; a build never runs it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoundaryFeature } from '../src/ingest/boundary/overlay.js';
import { type CountyShare, placeCounties } from '../src/ingest/boundary/place-counties.js';
import { readBoundaryFile } from '../src/ingest/source/boundary-file.js';
import { readGeometryFile } from '../src/ingest/source/geometry-file.js';
import { splitRows } from '../src/ingest/source/table-text.js';
import { writeTable } from './fact-tables.js';
import { readStates } from '../src/ingest/rates/facts.js';

/**
 * TIGER classes of incorporated places. C8 is that of consolidated cities, without the places
 * inside.
 */
const INCORPORATED = /^(C[125678]A|C8F|C5N|C1B)$/;

/** The name in sources.tsv and the vintage of the boundaries. */
const SOURCE = ['census-places', '2019-01-01'];

/**
 * With a smaller share of a place, land in a county may only lie between lines drawn in different
 * years.
 */
const OTHER_SHARE_MIN = 0.02;

/** With a larger share of a place, a county is one of those in which its name is looked up. */
const SLIGHT_SHARE_MAX = 0.005;

function load(path: string, object: string, key = 'GEOID'): Promise<readonly BoundaryFeature[]> {
  return readBoundaryFile({ path, object, key });
}

/** A row of the state's file: geoid, name, full_name, class, counties, source, as_of, slight. */
type Row = readonly string[];

/** The rows that a state's file has so far, by place. */
function earlierRows(path: string): ReadonlyMap<string, Row> {
  if (!existsSync(path)) return new Map();
  return new Map(
    splitRows(readFileSync(path, 'utf8'), '\t')
      .slice(1)
      .map((row) => [row[0] ?? '', row]),
  );
}

/** The counties, beginning with the one that was first before: most of some places is water. */
function inOrder(counties: readonly string[], earlier: Row | undefined): string {
  const first = earlier?.[4]?.split(' ')[0] ?? '';
  return [
    ...counties.filter((county) => county === first),
    ...counties.filter((county) => county !== first),
  ].join(' ');
}

/** The counties in which a name is looked up, and those with too little land for that. */
function parted(
  shares: readonly CountyShare[],
  earlier: Row | undefined,
): readonly [counties: string, slight: string] {
  const first = earlier?.[4]?.split(' ')[0] ?? shares[0]?.county;
  const isSlight = ({ county, share }: CountyShare): boolean =>
    share < SLIGHT_SHARE_MAX && county !== first;
  const names = (some: readonly CountyShare[]): readonly string[] =>
    some.map(({ county }) => county);
  return [
    inOrder(names(shares.filter((one) => !isSlight(one))), earlier),
    names(shares.filter(isSlight)).join(' '),
  ];
}

/** Boundaries in the repository, in which places and counties share lines. */
interface Held {
  readonly counties: readonly BoundaryFeature[];
  readonly places: readonly BoundaryFeature[];
}

/**
 * The counties of places: by the boundary in the repository if there is one, as it shares the lines
 * of counties; otherwise by the place's own boundary.
 */
function countiesOf(
  held: Held,
  places: readonly BoundaryFeature[],
): (geoid: string) => readonly CountyShare[] {
  const state = places[0]?.polygon.key.slice(0, 2) ?? '-';
  const shared = held.places.filter(({ polygon }) => polygon.key.startsWith(state));
  const exact = placeCounties(shared, held.counties);
  const rest = placeCounties(
    places.filter(({ polygon }) => !exact.has(polygon.key)),
    held.counties,
  );
  return (geoid) =>
    exact.get(geoid) ?? (rest.get(geoid) ?? []).filter(({ share }) => share >= OTHER_SHARE_MIN);
}

async function writePlaces(sources: string, facts: string): Promise<void> {
  const states = new Map(
    readStates(readFileSync(join(facts, 'states.tsv'), 'utf8')).map((state) => [
      state.fips,
      state.code,
    ]),
  );
  const layers = readGeometryFile(join(facts, '../geometry/us.geometry.gz'));
  const held = { counties: layers.get('counties') ?? [], places: layers.get('places') ?? [] };
  const folder = join(sources, 'places-us-tiger2019');
  mkdirSync(join(facts, 'places'), { recursive: true });
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.gz'))
    .sort()) {
    const fips = /(\d\d)\.topojson/.exec(file)?.[1] ?? '';
    const state = states.get(fips);
    if (!state) continue;
    const path = join(facts, 'places', `${state}.tsv`);
    const earlier = earlierRows(path);
    const places = (await load(join(folder, file), 'places')).filter(({ properties }) =>
      INCORPORATED.test(`${properties['CLASSFP'] ?? ''}${properties['FUNCSTAT'] ?? ''}`),
    );
    const counties = countiesOf(held, places);
    const rows: Row[] = places.map(({ polygon: { key }, properties }) => {
      const [own, slight] = parted(counties(key), earlier.get(key));
      return [
        key,
        properties['NAME'] ?? '',
        properties['NAMELSAD'] ?? '',
        properties['CLASSFP'] ?? '',
        own,
        ...SOURCE,
        slight,
      ];
    });
    // Cities that the Census file lacks, from other publishers' lists.
    for (const row of earlier.values()) {
      const [geoid = '', name = '', full = '', kind = '', , source = '', asOf = ''] = row;
      if (source === SOURCE[0] || geoid.length !== 7) continue;
      const [own, slight] = parted(counties(geoid), row);
      rows.push([geoid, name, full, kind, own, source, asOf, slight]);
    }
    rows.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
    if (rows.length === 0) continue;
    const header = ['geoid', 'name', 'full_name', 'class', 'counties', 'source', 'as_of', 'slight'];
    writeFileSync(path, writeTable(header, rows));
  }
}

/**
 * "BARRE CITY" to Barre and Barre city. A bare name means a city where the places include such a
 * city.
 */
function townNames(
  listed: string,
  cities: ReadonlySet<string>,
  towns: ReadonlySet<string>,
): readonly [string, string] {
  const proper = listed.toLowerCase().replace(/(^|[\s'.-])\p{L}/gu, (start) => start.toUpperCase());
  const [, base = proper, kind = ''] = /^(.*) (City|Town)$/.exec(proper) ?? [];
  const alone = kind === '' && !towns.has(`${listed} CITY`);
  const city = kind === 'City' || (alone && cities.has(`${base} city`));
  return [base, `${base} ${city ? 'city' : 'town'}`];
}

/**
 * Writes the towns of Vermont, which levy taxes. Their code here is state, county and the state's
 * town number.
 */
async function writeTowns(sources: string, facts: string): Promise<void> {
  const file = join(facts, 'places/VT.tsv');
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const places = lines.filter((line) => !/^\d{10}\t/.test(line));
  const cities = new Set(places.map((line) => line.split('\t')[2] ?? ''));
  const areas = await load(join(sources, 'towns-vt/vt_towns.topojson.gz'), 'towns', 'FIPS6');
  const towns = new Set(areas.map((area) => area.properties['TOWNNAME'] ?? ''));
  const rows = areas.map((area) => {
    const number = String(area.properties['FIPS6'] ?? '').padStart(6, '0');
    const county = `50${number.slice(0, 3)}`;
    const [name, full] = townNames(area.properties['TOWNNAME'] ?? '', cities, towns);
    const code = `${county}00${number.slice(3)}`;
    return [code, name, full, 'T1', county, 'vt-towns', '2018-01-01', ''].join('\t');
  });
  writeFileSync(file, `${[...places, ...[...new Set(rows)].sort()].join('\n')}\n`);
}

const [, , sources, facts] = process.argv;
if (!sources || !facts) throw new Error('usage: write-places <sources folder> <facts folder>');
if (!process.argv.includes('--towns')) await writePlaces(sources, facts);
await writeTowns(sources, facts);
