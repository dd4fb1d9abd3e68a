/** Binding every ZIP to the tax areas it overlaps. */
import type { CityRecord, ZipRecord } from '../dataset/records.js';
import { PlaceNames } from './city-names.js';
import { cityRecords } from './city-records.js';
import { byZip, layGround, tupleKey, type Ground } from './zip-cities.js';
import { cloudedCounties } from './zip-cloud.js';
import { groundZips, type ZipGround } from './zip-counties.js';
import type { ZipInput, ZipReport } from './zip-model.js';
import { bindZip, countEvidence, type BoundZip } from './zip-parts.js';
import { lookAround, ZipSpacing, type Surroundings } from './zip-surroundings.js';

/** What a build writes of ZIPs and city names. */
export interface ZipBinding {
  readonly zips: readonly ZipRecord[];
  /** By "<state>|<NAME>", in every spelling that folds to the name. */
  readonly cities: ReadonlyMap<string, CityRecord>;
  readonly report: ZipReport;
}

/** Binds ZIPs to areas and city names to both. Pure but for `intern`; the same input, the same. */
export function bindZips(input: ZipInput): ZipBinding {
  const names = new PlaceNames(input.places, input.facts.aliases);
  const ground = layGround(input, names);
  const grounds = groundZips(input, names);
  const counts = byZip(input.counts);
  const surroundings = lookAroundAll(input, grounds);
  const around = (zip: ZipGround): Surroundings | null => surroundings.get(zip.zip) ?? null;
  const context = {
    ground,
    allMunicipal: new Set(input.states.filter((state) => state.allMunicipal)
      .map((state) => state.code)),
    placesLoaded: input.placesLoaded,
    countedStates: input.countedStates,
    countedTuples: new Set(input.counts.map(({ tuple }) => tupleKey(tuple))),
    clouded: cloudedCounties(grounds, (zip) => around(zip)?.point ?? null, input.unplaced),
    around,
    intern: input.intern,
  };
  const bound = grounds.map((zip) => bindZip(context, zip, counts.get(zip.zip) ?? []));
  const zips = grounds.map((zip, index) => recordOf(ground, zip, bound[index]));
  const cities = cityRecords(input, ground, grounds, bound);
  return { zips, cities, report: reportOf(input, ground, grounds, bound, cities.size) };
}

function lookAroundAll(
  input: ZipInput,
  grounds: readonly ZipGround[],
): ReadonlyMap<number, Surroundings> {
  const all = new Map<number, Surroundings>();
  if (input.tupleAt === undefined) return all;
  const points = byZip(input.points);
  const spacing = new ZipSpacing(input.points);
  for (const zip of grounds) {
    const found = lookAround(zip, points.get(zip.zip) ?? [], spacing, input.tupleAt);
    if (found !== null) all.set(zip.zip, found);
  }
  return all;
}

function recordOf(ground: Ground, zip: ZipGround, bound: BoundZip | undefined): ZipRecord {
  const [county = ''] = zip.counties;
  return {
    zip: zip.zip,
    state: zip.state === '' ? ground.stateOf.get(county.slice(0, 2)) ?? '' : zip.state,
    cities: zip.names.map((name) => name.toUpperCase()),
    parts: bound?.parts ?? [],
  };
}

function reportOf(
  input: ZipInput,
  ground: Ground,
  grounds: readonly ZipGround[],
  bound: readonly BoundZip[],
  cities: number,
): ZipReport {
  const counties = new Map(grounds.map((zip) => [zip.zip, zip.counties]));
  const unjoined = new Map<string, number>();
  for (const { zip, state, name } of input.cities) {
    const here = counties.get(zip) ?? [];
    const joined = ground.names.find(state, name).some((named) =>
      named.counties.some((county) => here.includes(county)));
    if (joined) continue;
    const key = `${state}|${name}`;
    unjoined.set(key, (unjoined.get(key) ?? 0) + 1);
  }
  return {
    zips: grounds.length,
    partless: grounds.filter((_, index) => bound[index]?.parts.length === 0)
      .map((zip) => zip.zip),
    parts: bound.reduce((sum, zip) => sum + zip.parts.length, 0),
    divided: bound.filter((zip) => zip.parts.length > 1).length,
    weighed: bound.filter((zip) => zip.weighed).length,
    interstate: grounds.filter((zip) =>
      new Set(zip.counties.map((county) => county.slice(0, 2))).size > 1).length,
    ...countEvidence(bound),
    unjoined,
    cities,
  };
}
