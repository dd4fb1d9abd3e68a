/**
 * How often the postal city is the taxing city: spots inside every ZIP are asked for twice, as an
 * address of the ZIP and its postal city that no list of doors has, and as a point. A spot is the
 * ZIP's where no other ZIP's point is nearer; spots lie on a spiral of their own around each point,
 * so that none is one that the build looked at. A spot in a city counts for so many times one
 * outside as land of cities is more densely lived in.
 */
import { Engine } from '../src/engine/engine.js';
import type { Dataset } from '../src/dataset/dataset.js';
import type { LookupOptions } from '../src/engine/query.js';
import { isFailure } from '../src/failure.js';
import type { ZipPoint } from '../src/ingest/zip/model.js';
import { CITY_DENSITY, kilometres } from '../src/ingest/zip/extent.js';

const OPTIONS: LookupOptions = {
  country: 'USA', date: null, adjustment: 'auto', addressDetailExtended: false,
  shippingExtended: false, taxabilityCode: null, satItemTotal: null,
};
/** Most of the ZIPs that may be assumed and wrong, and certain and wrong. */
export const CITY_TARGETS = { assumedWrong: 0.03, certainWrong: 0 } as const;
const SPOTS = 64;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/** Beyond the nearest other point a ZIP may reach farther on its other sides. */
const RADIUS_TIMES = 1.5;
const RADIUS_KM_MAX = 30;
const KM_PER_MICRO = 111.32 / 1e6;
const CELL = 250_000;
const EXAMPLES_MAX = 10;

/** Shares of ZIPs, each ZIP counting by its spots. */
export interface CityTally {
  zips: number;
  certainRight: number;
  certainWrong: number;
  assumedRight: number;
  assumedWrong: number;
  refused: number;
  readonly examples: string[];
}

/** Points of ZIPs, found by where they are. */
class PointGrid {
  readonly #cells = new Map<string, ZipPoint[]>();

  constructor(points: readonly ZipPoint[]) {
    for (const point of points) {
      const key = this.#key(point.lat, point.lng);
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [point]);
      else cell.push(point);
    }
  }

  #key(lat: number, lng: number): string {
    return `${Math.floor(lat / CELL)} ${Math.floor(lng / CELL)}`;
  }

  /** Kilometres to the nearest point of another ZIP; Infinity where none is in the cells around. */
  nearest(spot: { readonly lat: number; readonly lng: number }, zip: number): number {
    let least = Infinity;
    for (const north of [-CELL, 0, CELL]) {
      for (const east of [-CELL, 0, CELL]) {
        for (const other of this.#cells.get(this.#key(spot.lat + north, spot.lng + east)) ?? []) {
          if (other.zip !== zip) least = Math.min(least, kilometres(spot, other));
        }
      }
    }
    return least;
  }
}

/** Spots of a ZIP around its point. */
function spotsOf(grid: PointGrid, point: ZipPoint): { lat: number; lng: number }[] {
  const reach = Math.min(RADIUS_KM_MAX, grid.nearest(point, point.zip)) * RADIUS_TIMES;
  const shrink = Math.cos((point.lat / 1e6) * (Math.PI / 180));
  return Array.from({ length: SPOTS }, (_, at) => {
    const km = reach * Math.sqrt((at + 0.5) / SPOTS);
    const angle = at * GOLDEN_ANGLE;
    return {
      lat: Math.round(point.lat + (km * Math.sin(angle)) / KM_PER_MICRO),
      lng: Math.round(point.lng + (km * Math.cos(angle)) / KM_PER_MICRO / shrink),
    };
  }).filter((spot) => kilometres(spot, point) <= grid.nearest(spot, point.zip));
}

function rateOf(engine: Engine, nowMs: number, spot: { lat: number; lng: number }): {
  readonly rate: string; readonly isCity: boolean; readonly county: string;
} | null {
  const found = engine.lookup({
    kind: 'point', ...spot, latDegrees: spot.lat / 1e6, lngDegrees: spot.lng / 1e6,
    options: OPTIONS,
  }, nowMs);
  return isFailure(found) || found.kind !== 'situs' ? null : {
    rate: `${found.rates.sales}|${found.rates.use}`, isCity: found.area.incorporated,
    county: found.area.stateFips + found.area.countyFips,
  };
}

/** Asks one ZIP; its spots share one place in the tally. */
function askZip(
  engine: Engine, dataset: Dataset, grid: PointGrid, point: ZipPoint, nowMs: number,
  tally: CityTally,
): void {
  const record = dataset.zip(point.zip);
  // Doors tell better than the nearest point whose ZIP a spot is.
  if (record === null || record.parts.every(({ weight }) => weight !== null)) return;
  const counties = new Set(record.parts.map(({ area }) => {
    const { stateFips, countyFips } = dataset.area(area);
    return stateFips + countyFips;
  }));
  const spots = spotsOf(grid, point).map((spot) => rateOf(engine, nowMs, spot))
    // A point is wrong at times; no list shows the ZIP in that county.
    .filter((spot) => spot !== null).filter(({ county }) => counties.has(county));
  if (spots.length === 0) return;
  const zip = String(point.zip).padStart(5, '0');
  const found = engine.lookup({
    kind: 'address', options: OPTIONS,
    address: `1 Qzxv Wjkq Rd, ${point.name}, ${point.state} ${zip}`,
  }, nowMs);
  tally.zips += 1;
  if (isFailure(found) || found.kind !== 'situs') {
    tally.refused += 1;
    return;
  }
  const own = `${found.rates.sales}|${found.rates.use}`;
  const weightOf = (spot: { readonly isCity: boolean }): number => (spot.isCity ? CITY_DENSITY : 1);
  const all = spots.reduce((sum, spot) => sum + weightOf(spot), 0);
  const wrong = spots.filter(({ rate }) => rate !== own)
    .reduce((sum, spot) => sum + weightOf(spot), 0) / all;
  const kind = found.situs.precision === 'city' ? 'assumed' : 'certain';
  tally[`${kind}Wrong`] += wrong;
  tally[`${kind}Right`] += 1 - wrong;
  if (kind === 'certain' && wrong > 0 && tally.examples.length < EXAMPLES_MAX) {
    tally.examples.push(`${zip} ${point.name}, ${point.state}`);
  }
}

/** Asks every ZIP that has land, by the first of its points; `points` are those of such ZIPs. */
export function measureCities(dataset: Dataset, points: readonly ZipPoint[]): CityTally {
  const engine = new Engine(dataset);
  const grid = new PointGrid(points);
  const tally: CityTally = {
    zips: 0, certainRight: 0, certainWrong: 0, assumedRight: 0, assumedWrong: 0, refused: 0,
    examples: [],
  };
  const seen = new Set<number>();
  const nowMs = Date.now();
  for (const point of points) {
    if (seen.has(point.zip)) continue;
    seen.add(point.zip);
    askZip(engine, dataset, grid, point, nowMs, tally);
  }
  return tally;
}

/** Prints the tally; returns whether its targets are met. */
export function reportCities(tally: CityTally): boolean {
  const share = (part: number): number => part / Math.max(1, tally.zips);
  const show = (name: string, part: number): void =>
    console.log(`  ${name.padEnd(20)}${(100 * share(part)).toFixed(3).padStart(9)} %`);
  console.log(`cities: ${tally.zips} ZIPs, spots inside each against its postal city`);
  show('certain and right', tally.certainRight);
  show('certain and wrong', tally.certainWrong);
  show('assumed and right', tally.assumedRight);
  show('assumed and wrong', tally.assumedWrong);
  show('refused', tally.refused);
  for (const example of tally.examples) console.log(`      certain and wrong  ${example}`);
  return share(tally.assumedWrong) <= CITY_TARGETS.assumedWrong
    && share(tally.certainWrong) <= CITY_TARGETS.certainWrong;
}
