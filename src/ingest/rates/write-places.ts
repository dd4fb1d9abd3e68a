/**
 * Writes datasets/facts/places/<STATE>.tsv from Census boundary files, names and codes only:
 * `node dist/src/ingest/rates/write-places.js <sources> <facts>`. Of places that
 * the file has had, only counties that prove to be slivers change.
 * Kept so that a newer vintage can be taken over; a build never runs it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoundaryFeature } from '../boundary/overlay.js';
import { placeCounties } from '../boundary/place-counties.js';
import { readRecipe } from '../recipe.js';
import { readBoundaryFile } from '../source/boundary-file.js';
import { writeTable } from '../source/rows.js';
import { readStates } from './facts.js';
import { loadRates } from './load.js';

/** TIGER classes of incorporated places; C8 carries consolidated cities without their own parts. */
const INCORPORATED = /^(C[125678]A|C8F|C5N|C1B)$/;

/** Name in sources.tsv and vintage of the boundaries. */
const SOURCE = ['census-places', '2019-01-01'];

function load(path: string, object: string, key = 'GEOID'): readonly BoundaryFeature[] {
  return readBoundaryFile({ path, object, key });
}

/** "<place>/<county>" for every city that a rate list of the recipe names in a county. */
function listedPairs(sources: string, facts: string): ReadonlySet<string> {
  const load = { factsDir: facts, sourcesDir: sources, estimated: false };
  return new Set(loadRates(readRecipe('reference').rates, load).input.rows
    .filter(({ level, place, county }) => level === 'city' && place !== '' && county !== '')
    .map(({ place, county }) => `${place}/${county}`));
}

/** Counties of the places that the state's file has had. */
function earlierCounties(path: string): ReadonlyMap<string, readonly string[]> {
  if (!existsSync(path)) return new Map();
  return new Map(readFileSync(path, 'utf8').split('\n').slice(1).map((line) => {
    const [geoid = '', , , , counties = ''] = line.split('\t');
    return [geoid, counties.split(' ')];
  }));
}

function writePlaces(sources: string, facts: string): void {
  const states = new Map(readStates(readFileSync(join(facts, 'states.tsv'), 'utf8'))
    .map((state) => [state.fips, state.code]));
  const counties = load(join(sources, 'counties-us-cb2015-5m/counties.topojson.gz'), 'counties');
  const listed = listedPairs(sources, facts);
  const folder = join(sources, 'places-us-tiger2019');
  mkdirSync(join(facts, 'places'), { recursive: true });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.gz')).sort()) {
    const fips = /(\d\d)\.topojson/.exec(file)?.[1] ?? '';
    const state = states.get(fips);
    if (!state) continue;
    const path = join(facts, 'places', `${state}.tsv`);
    const places = load(join(folder, file), 'places').filter(({ properties }) =>
      INCORPORATED.test(`${properties['CLASSFP'] ?? ''}${properties['FUNCSTAT'] ?? ''}`));
    const lies = placeCounties(places, counties, { listed, earlier: earlierCounties(path) });
    const rows = places.map(({ polygon: { key }, properties }) => [
      key, properties['NAME'] ?? '', properties['NAMELSAD'] ?? '', properties['CLASSFP'] ?? '',
      (lies.get(key) ?? []).map(({ county }) => county).join(' '), ...SOURCE,
    ]);
    rows.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
    if (rows.length === 0) continue;
    const header = ['geoid', 'name', 'full_name', 'class', 'counties', 'source', 'as_of'];
    writeFileSync(path, writeTable(header, rows));
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
  const areas = load(join(sources, 'towns-vt/vt_towns.topojson.gz'), 'towns', 'FIPS6');
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
