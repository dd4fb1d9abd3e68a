/**
 * Writes datasets/facts/places/<STATE>.tsv from Census boundary files, names and codes only:
 * `node dist/src/ingest/rates/write-places.js <sources> <facts>`.
 * Kept so that a newer vintage can be taken over; a build never runs it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { feature } from 'topojson-client';
import { readStates } from './fact-tables.js';
import { writeTable } from './table.js';
import type { Feature, MultiPolygon, Polygon } from 'geojson';
import type { GeometryCollection, Topology } from 'topojson-specification';

/** Points a side of the grid laid over a place to see which counties share it. */
const GRID = 24;
/** A county with less of a place than this is an error of the coarser county borders. */
const SHARE_MIN = 0.01;
/** TIGER classes of incorporated places; C8 carries consolidated cities without their own parts. */
const INCORPORATED = /^(C[125678]A|C8F|C5N|C1B)$/;

/** Name in sources.tsv and vintage of the boundaries. */
const SOURCE = ['census-places', '2019-01-01'];

type Area = Feature<Polygon | MultiPolygon, Readonly<Record<string, string>>>;
type Ring = readonly (readonly number[])[];

function load(path: string, object: string): readonly Area[] {
  const topology = JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as Topology<
    Record<string, GeometryCollection<Readonly<Record<string, string>>>>>;
  const collection = topology.objects[object];
  if (!collection) return [];
  return feature(topology, collection).features.filter((area): area is Area =>
    area.geometry.type === 'Polygon' || area.geometry.type === 'MultiPolygon');
}

function rings(area: Area): readonly Ring[] {
  const { geometry } = area;
  return geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat();
}

function inside(all: readonly Ring[], x: number, y: number): boolean {
  let odd = false;
  for (const ring of all) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
      const [ax = 0, ay = 0] = ring[i] ?? [];
      const [bx = 0, by = 0] = ring[j] ?? [];
      if ((ay > y) !== (by > y) && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
    }
  }
  return odd;
}

interface Boxed {
  readonly id: string;
  readonly rings: readonly Ring[];
  readonly box: readonly [number, number, number, number];
}

function boxed(id: string, area: Area): Boxed {
  const all = rings(area);
  const points = all.flat();
  const xs = points.map((point) => point[0] ?? 0);
  const ys = points.map((point) => point[1] ?? 0);
  const low = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
  const high = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
  return { id, rings: all, box: [low(xs), low(ys), high(xs), high(ys)] };
}

/** Counties of a place, largest share first. */
function countiesOf(place: Boxed, counties: readonly Boxed[]): readonly string[] {
  const [west, south, east, north] = place.box;
  const near = counties.filter(({ box }) =>
    box[0] <= east && box[2] >= west && box[1] <= north && box[3] >= south);
  const counts = new Map<string, number>();
  let total = 0;
  for (let row = 0; row < GRID; row += 1) {
    for (let column = 0; column < GRID; column += 1) {
      const x = west + ((east - west) * (column + 0.5)) / GRID;
      const y = south + ((north - south) * (row + 0.5)) / GRID;
      if (!inside(place.rings, x, y)) continue;
      const county = near.find((candidate) => inside(candidate.rings, x, y));
      if (!county) continue;
      counts.set(county.id, (counts.get(county.id) ?? 0) + 1);
      total += 1;
    }
  }
  return [...counts].filter(([, count]) => count / total >= SHARE_MIN)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([id]) => id);
}

function writePlaces(sources: string, facts: string): void {
  const states = new Map(readStates(readFileSync(join(facts, 'states.tsv'), 'utf8'))
    .map((state) => [state.fips, state.code]));
  const counties = load(join(sources, 'counties-us-cb2015-5m/counties.topojson.gz'), 'counties')
    .map((area) => boxed(area.properties['GEOID'] ?? '', area));
  const folder = join(sources, 'places-us-tiger2019');
  mkdirSync(join(facts, 'places'), { recursive: true });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.gz')).sort()) {
    const fips = /(\d\d)\.topojson/.exec(file)?.[1] ?? '';
    const own = counties.filter((county) => county.id.startsWith(fips));
    const rows: string[][] = [];
    for (const area of load(join(folder, file), 'places')) {
      const { GEOID = '', NAME = '', NAMELSAD = '', CLASSFP = '', FUNCSTAT = '' } = area.properties;
      if (!INCORPORATED.test(CLASSFP + FUNCSTAT)) continue;
      const lies = countiesOf(boxed(GEOID, area), own).join(' ');
      rows.push([GEOID, NAME, NAMELSAD, CLASSFP, lies, ...SOURCE]);
    }
    rows.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
    const state = states.get(fips);
    if (!state || rows.length === 0) continue;
    const header = ['geoid', 'name', 'full_name', 'class', 'counties', 'source', 'as_of'];
    writeFileSync(join(facts, 'places', `${state}.tsv`), writeTable(header, rows));
  }
}

/** "BARRE CITY" to Barre, Barre city; a bare name is a city where such a city is a place. */
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

/** Vermont's towns levy; their code here is state, county and the state's town number. */
function writeTowns(sources: string, facts: string): void {
  const file = join(facts, 'places/VT.tsv');
  const lines = readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
  const places = lines.filter((line) => !/^\d{10}\t/.test(line));
  const cities = new Set(places.map((line) => line.split('\t')[2] ?? ''));
  const areas = load(join(sources, 'towns-vt/vt_towns.topojson.gz'), 'towns');
  const towns = new Set(areas.map((area) => area.properties['TOWNNAME'] ?? ''));
  const rows = areas.map((area) => {
    const number = String(area.properties['FIPS6'] ?? '').padStart(6, '0');
    const county = `50${number.slice(0, 3)}`;
    const [name, full] = townNames(area.properties['TOWNNAME'] ?? '', cities, towns);
    const code = `${county}00${number.slice(3)}`;
    return [code, name, full, 'T1', county, 'vt-towns', '2018-01-01'].join('\t');
  });
  writeFileSync(file, `${[...places, ...[...new Set(rows)].sort()].join('\n')}\n`);
}

const [, , sources, facts] = process.argv;
if (!sources || !facts) throw new Error('usage: write-places <sources folder> <facts folder>');
if (!process.argv.includes('--towns')) writePlaces(sources, facts);
writeTowns(sources, facts);
