/**
 * Measures how often the postal city is the taxing city. Every ZIP is looked up by an address in
 * its postal city that no list of doors has, and the answer is compared with spots around the ZIP's
 * point. The spots lie on a spiral, so that none is one that the build looked at. For certain
 * answers, spots count that are nearest to this ZIP's point. For assumed ones, every spot counts by
 * how likely it belongs to the ZIP and by how densely cities and other land are populated, as doors
 * show (ingest/zip/claims.ts). A spot without a known rate counts as wrong. The lists that the
 * release was built from tell which ZIPs have land.
 */
import { foldName } from '../src/address/place-name.js';
import type { Dataset } from '../src/dataset/dataset.js';
import { zipRecords } from '../src/engine/release-survey.js';
import { peopleByZip } from '../src/engine/zip-people.js';
import { NAMED_SHARE, nearness } from '../src/ingest/zip/claims.js';
import { cityDensity, openShare } from '../src/ingest/zip/land.js';
import type { ZipPoint } from '../src/ingest/zip/zip-facts.js';
import { READERS } from '../src/ingest/readers.js';
import { readRecipe } from '../src/ingest/recipe.js';
import { SourceFiles } from '../src/ingest/source-files.js';
import { kilometres, landedZips, SLACK } from '../src/ingest/zip/placed.js';
import { PointGrid } from './point-grid.js';
import { Asker, type Place } from './city-asker.js';

/** The largest shares of ZIPs that may be assumed and wrong, and certain and wrong. */
const CITY_TARGETS = { assumedWrong: 0.03, certainWrong: 0 } as const;
const SPOTS = 256;
/**
 * Where a rate is assumed, a spot stands for one square kilometre at most, up to this many spots:
 * of 256 spots in a wide ZIP none may be in the small city where most of its people live.
 */
const SPOTS_MAX = 4_096;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/**
 * How far from its point a ZIP is searched, as a multiple of the mean distance of the nearest
 * others.
 */
const RADIUS_TIMES = 1.5;
const RADIUS_KM_MAX = 45;
const NEAREST = 4;
const AROUND = 8;
const KM_PER_MICRO = 111.32 / 1e6;
const EXAMPLES_MAX = 10;
/** Numbers of ZIPs, or of the people in them; each ZIP counts by its spots. */
interface Shares {
  all: number;
  certainRight: number;
  certainWrong: number;
  assumedRight: number;
  assumedWrong: number;
  refused: number;
}

interface CityTally {
  readonly zips: Shares;
  readonly people: Shares;
  readonly examples: string[];
}

function noShares(): Shares {
  return {
    all: 0,
    certainRight: 0,
    certainWrong: 0,
    assumedRight: 0,
    assumedWrong: 0,
    refused: 0,
  };
}

/** A spot that may belong to a ZIP. */
interface Sample {
  readonly place: Place;
  /** Whether no other ZIP's point is nearer. */
  readonly isOwn: boolean;
  /** How likely the spot belongs to the ZIP. */
  readonly likely: number;
}

/** Spots that may belong to the ZIP, and the square kilometres that each stands for. */
function samplesOf(
  asker: Asker,
  grid: PointGrid,
  point: ZipPoint,
  most: number,
): {
  readonly samples: readonly Sample[];
  readonly km2: number;
  readonly open: number;
} {
  const others = grid.others(point).map((other) => ({
    lat: other.lat,
    lng: other.lng,
    name: foldName(other.name),
    held: asker.placeAt(other)?.held ?? '',
    counties: asker.countiesOf(other.zip),
  }));
  const near = others.slice(0, NEAREST);
  const mean =
    near.reduce((sum, other) => sum + kilometres(point, other), 0) / Math.max(1, near.length);
  const reach = Math.min(RADIUS_KM_MAX, near.length === 0 ? RADIUS_KM_MAX : mean * RADIUS_TIMES);
  const shrink = Math.cos((point.lat / 1e6) * (Math.PI / 180));
  const name = foldName(point.name);
  const held = asker.placeAt(point)?.held ?? '';
  const own = asker.countiesOf(point.zip);
  const samples: Sample[] = [];
  const spots = Math.min(most, Math.max(SPOTS, Math.ceil(Math.PI * reach * reach)));
  for (let at = 0; at < spots; at += 1) {
    const km = reach * Math.sqrt((at + 0.5) / spots);
    const angle = at * GOLDEN_ANGLE;
    const spot = {
      lat: Math.round(point.lat + (km * Math.sin(angle)) / KM_PER_MICRO),
      lng: Math.round(point.lng + (km * Math.cos(angle)) / KM_PER_MICRO / shrink),
    };
    const place = asker.placeAt(spot);
    // A point in the list may be wrong, and no list has the ZIP in that county.
    if (place === null || !own.has(place.county)) continue;
    let [least, sum, named] = [Infinity, 0, 0];
    for (const other of others) {
      const far = Math.hypot(spot.lat - other.lat, (spot.lng - other.lng) * shrink) * KM_PER_MICRO;
      least = Math.min(least, far);
      if (!other.counties.has(place.county)) continue;
      sum += nearness(far);
      if (place.isCity && [other.name, other.held].includes(place.name)) named += nearness(far);
    }
    const odds = nearness(km);
    const isNamed = place.isCity && [name, held].includes(place.name);
    if (km > SLACK * least && !isNamed) continue;
    const unnamed = named > 0 || isNamed ? 1 - NAMED_SHARE : 1;
    const likely =
      unnamed * (odds / (odds + sum)) + (isNamed ? NAMED_SHARE * (odds / (odds + named)) : 0);
    samples.push({ place, isOwn: km <= least, likely });
  }
  return {
    samples,
    km2: (Math.PI * reach * reach) / spots,
    open: openAround(asker, grid, point),
  };
}

/** The share of the points of surrounding ZIPs that lie outside cities. */
function openAround(asker: Asker, grid: PointGrid, point: ZipPoint): number {
  const around = [...grid.others(point).slice(0, AROUND), point]
    .map((one) => asker.placeAt(one))
    .filter((place) => place !== null);
  return openShare(around.filter(({ isCity }) => !isCity).length, around.length);
}

/** Looks up one ZIP. It counts as one, divided among its spots. */
function askZip(
  asker: Asker,
  dataset: Dataset,
  grid: PointGrid,
  point: ZipPoint,
  people: number,
  tally: CityTally,
): void {
  const record = dataset.zip(point.zip);
  // With doors, the nearest point is not needed to tell which ZIP a spot belongs to.
  if (record === null || record.parts.every(({ weight }) => weight !== null)) return;
  const answer = asker.answer(point);
  const { samples, km2, open } = samplesOf(
    asker,
    grid,
    point,
    answer?.kind === 'assumed' ? SPOTS_MAX : SPOTS,
  );
  if (!samples.some(({ isOwn }) => isOwn)) return;
  const count = (name: keyof Shares, share: number): void => {
    tally.zips[name] += share;
    tally.people[name] += people * share;
  };
  count('all', 1);
  if (answer === null) {
    count('refused', 1);
    return;
  }
  const { rate, kind } = answer;
  const density = cityDensity(km2 * samples.reduce((sum, { likely }) => sum + likely, 0), open);
  let [all, wrong] = [0, 0];
  for (const { place, isOwn, likely } of samples) {
    if (kind === 'certain' && !isOwn) continue;
    const weight = likely * (place.isCity ? density : 1);
    all += weight;
    if (place.rate !== rate) wrong += weight;
  }
  count(`${kind}Wrong`, wrong / all);
  count(`${kind}Right`, 1 - wrong / all);
  if (kind === 'certain' && wrong > 0 && tally.examples.length < EXAMPLES_MAX) {
    tally.examples.push(`${String(point.zip).padStart(5, '0')} ${point.name}, ${point.state}`);
  }
}

/** Looks up every ZIP in `points` once, by its first point; all of these ZIPs have land. */
function measureCities(dataset: Dataset, points: readonly ZipPoint[]): CityTally {
  const asker = new Asker(dataset);
  const grid = new PointGrid(points);
  const people = peopleByZip(dataset, zipRecords(dataset));
  const tally: CityTally = { zips: noShares(), people: noShares(), examples: [] };
  const seen = new Set<number>();
  for (const point of points) {
    if (seen.has(point.zip)) continue;
    seen.add(point.zip);
    askZip(asker, dataset, grid, point, people.get(point.zip) ?? 0, tally);
  }
  return tally;
}

/** Prints the tally, and returns whether its targets, which are about ZIPs, are met. */
function reportCities({ zips, people, examples }: CityTally): boolean {
  const show = (name: string, kind: keyof Shares): void => {
    const [ofZips, ofPeople] = [zips, people].map(
      (shares) => `${((100 * shares[kind]) / Math.max(1, shares.all)).toFixed(3).padStart(9)} %`,
    );
    console.log(`  ${name.padEnd(20)}${ofZips}${ofPeople}`);
  };
  console.log(
    `cities: ${zips.all} ZIPs with ${Math.round(people.all / 1e6)} million people, ` +
      'spots inside each against its postal city; shares of ZIPs and of people',
  );
  show('certain and right', 'certainRight');
  show('certain and wrong', 'certainWrong');
  show('assumed and right', 'assumedRight');
  show('assumed and wrong', 'assumedWrong');
  show('refused', 'refused');
  for (const example of examples) console.log(`      certain and wrong  ${example}`);
  return (
    zips.assumedWrong <= CITY_TARGETS.assumedWrong * zips.all &&
    zips.certainWrong <= CITY_TARGETS.certainWrong * zips.all
  );
}

/**
 * Compares postal cities with spots of their ZIPs. The lists are those of the release's recipe if
 * the folder of its sources is available, otherwise those that every recipe has.
 */
export function askCities(dataset: Dataset, recipe: string, folder: string | null): boolean {
  const { zips } = readRecipe(folder === null ? 'default' : recipe, folder).recipe;
  const files = new SourceFiles('', folder);
  const list = READERS.zips.points.read(files.text(zips.points), () => '');
  const tabled =
    zips.tabulated === undefined
      ? READERS.zips.delivered.read(files.text(zips.delivered ?? ''))
      : READERS.zips.tabulated.read(files.text(zips.tabulated));
  const landed = landedZips(list, new Set(tabled.map(({ zip }) => zip)));
  return reportCities(
    measureCities(
      dataset,
      list.filter(({ zip }) => landed.has(zip)),
    ),
  );
}
