/**
 * Land that may lie in a listed city whose boundary is missing: within 15 km of the city's ZIP
 * points, the unincorporated remainder of its county is unknown (decisions part 3). Also land that
 * is divided by districts whose lines are missing.
 */
import { LAT_MAX, LNG_MAX, type Microdegrees } from '../../geo/microdegrees.js';
import { createPolygon, type Position } from '../../geo/polygon.js';
import type { CountyFact, DividedLand } from '../rates/facts.js';
import { READERS } from '../readers.js';
import type { Recipe } from '../recipe.js';
import type { SourceFiles } from '../source-files.js';
import type { StateFact } from '../state-facts.js';
import type { UnplacedCity } from '../zip/zip-facts.js';
import type { BoundaryFeature } from './overlay.js';

const DOUBT_METRES = 15_000;
const METRES_PER_DEGREE = 111_195;
const CORNERS = 48;

interface DoubtfulPoint {
  /** Five digits. */
  readonly county: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** Where unincorporated land of a county may belong to a listed city without a boundary. */
export interface Doubts {
  readonly points: readonly DoubtfulPoint[];
  /** Counties without any certain land, five digits. */
  readonly counties: ReadonlySet<string>;
  /** Land that districts divide, with keys like the other features. */
  readonly lands: readonly BoundaryFeature[];
}

export const NO_DOUBTS: Doubts = { points: [], counties: new Set(), lands: [] };

/**
 * Where listed cities without a boundary may lie: around the ZIP points of their names or, where no
 * ZIP has the name, anywhere in their county, or in their state where no county is listed.
 */
export function doubtsOf(
  recipe: Recipe,
  files: SourceFiles,
  states: readonly StateFact[],
  unplaced: readonly UnplacedCity[],
  all: readonly CountyFact[],
): Pick<Doubts, 'points' | 'counties'> {
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  const points =
    unplaced.length === 0
      ? []
      : READERS.zips.points.read(files.text(recipe.zips.points), (code) => fips.get(code) ?? '');
  const found = unplaced.map(({ state, name, county }) => ({
    state,
    county,
    points: points
      .filter((point) => point.state === state && fold(point.name) === fold(name))
      .map(({ county: own, lat, lng }) => ({ county: county || own, lat, lng }))
      .filter((point) => point.county !== ''),
  }));
  return {
    points: found.flatMap((city) => city.points),
    counties: new Set(
      found
        .filter((city) => city.points.length === 0)
        .flatMap(({ county, state }) =>
          all
            .filter((each) => (county === '' ? each.state === state : each.fips === county))
            .map((each) => each.fips),
        ),
    ),
  };
}

function fold(name: string): string {
  return name
    .toUpperCase()
    .replace(/^SAINT\b|^ST\./, 'ST')
    .replace(/[^A-Z0-9]/g, '');
}

/** Whole counties as doubtful land, keyed "<county>/all". */
export function wholeCounties(
  counties: readonly BoundaryFeature[],
  doubtful: ReadonlySet<string>,
): readonly BoundaryFeature[] {
  return counties
    .filter(({ polygon }) => doubtful.has(polygon.key))
    .map(({ polygon, properties }) => ({
      polygon: { ...polygon, key: `${polygon.key}/all` },
      properties,
    }));
}

/** Discs around the points, keyed "<county>/<n>". Each polygon encloses its circle. */
export function doubtDiscs(points: readonly DoubtfulPoint[]): readonly BoundaryFeature[] {
  const sorted = [...points].sort(
    (one, other) =>
      (one.county < other.county ? -1 : one.county > other.county ? 1 : 0) ||
      one.lat - other.lat ||
      one.lng - other.lng,
  );
  return sorted.flatMap(({ county, lat, lng }, index) => {
    const radius = (DOUBT_METRES / METRES_PER_DEGREE / Math.cos(Math.PI / CORNERS)) * 1e6;
    const stretch = 1 / Math.max(0.01, Math.cos((lat / 1e6 / 180) * Math.PI));
    const ring = Array.from({ length: CORNERS }, (_, corner): Position => {
      const angle = (2 * Math.PI * corner) / CORNERS;
      return [
        Math.max(-LNG_MAX, Math.min(LNG_MAX, Math.round(lng + radius * stretch * Math.cos(angle)))),
        Math.max(-LAT_MAX, Math.min(LAT_MAX, Math.round(lat + radius * Math.sin(angle)))),
      ];
    });
    const polygon = createPolygon(`${county}/${String(index).padStart(6, '0')}`, [ring]);
    return polygon === null ? [] : [{ polygon, properties: {} }];
  });
}

/**
 * Boxes of divided land, keyed "<county>/land <n>" in the given order. Within them, land outside
 * cities is unknown.
 */
export function dividedFeatures(lands: readonly DividedLand[]): readonly BoundaryFeature[] {
  return lands.flatMap(({ county, south, west, north, east }, index) => {
    const polygon = createPolygon(`${county}/land ${index}`, [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
      ],
    ]);
    return polygon === null ? [] : [{ polygon, properties: {} }];
  });
}
