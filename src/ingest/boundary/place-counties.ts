/** The counties that places lie in, with the share of land in each. */
import { BandedPolygon } from '../../geo/polygon.js';
import type { BoundaryFeature } from './overlay.js';

/** Points of the sampling grid along each side of a place's bounding box. */
const GRID = 200;

/** A county and the share of a place's area that lies in it. */
export interface CountyShare {
  readonly county: string;
  readonly share: number;
}

/** Points of a place, by the county that holds them. */
type Spots = Map<string, number>;

function addSpot(counties: readonly BandedPolygon[], x: number, y: number, spots: Spots): void {
  const key = counties.find((county) => county.contains(x, y))?.polygon.key;
  if (key !== undefined) spots.set(key, (spots.get(key) ?? 0) + 1);
}

function addGrid(place: BandedPolygon, counties: readonly BandedPolygon[], spots: Spots): void {
  const { minX, minY, maxX, maxY } = place.polygon;
  for (let row = 0; row < GRID; row += 1) {
    const y = Math.floor(minY + ((maxY - minY) * (row + 0.5)) / GRID);
    for (let column = 0; column < GRID; column += 1) {
      const x = Math.floor(minX + ((maxX - minX) * (column + 0.5)) / GRID);
      if (place.contains(x, y)) addSpot(counties, x, y, spots);
    }
  }
}

/** Adds the vertices as points, for places too thin for the grid. */
function addVertices(place: BandedPolygon, counties: readonly BandedPolygon[], spots: Spots): void {
  const { coords } = place.polygon;
  for (let at = 0; at < coords.length; at += 2) {
    addSpot(counties, coords[at]!, coords[at + 1]!, spots);
  }
}

/** The county that holds all vertices, or null. Most places need no further test. */
function soleCounty(place: BandedPolygon, counties: readonly BandedPolygon[]): string | null {
  const { coords } = place.polygon;
  const first = counties.find((county) => county.contains(coords[0]!, coords[1]!));
  if (first === undefined) return null;
  for (let at = 2; at < coords.length; at += 2) {
    if (!first.contains(coords[at]!, coords[at + 1]!)) return null;
  }
  return first.polygon.key;
}

function sharesOf(
  place: BandedPolygon,
  counties: readonly BandedPolygon[],
): readonly CountyShare[] {
  const sole = soleCounty(place, counties);
  if (sole !== null) return [{ county: sole, share: 1 }];
  const spots: Spots = new Map();
  addGrid(place, counties, spots);
  if (spots.size === 0) addVertices(place, counties, spots);
  const total = [...spots.values()].reduce((sum, count) => sum + count, 0);
  return [...spots]
    .map(([county, count]): CountyShare => ({ county, share: count / total }))
    .sort((one, other) => other.share - one.share || (one.county < other.county ? -1 : 1));
}

function overlapping(
  { polygon }: BoundaryFeature,
  counties: readonly BandedPolygon[],
): readonly BandedPolygon[] {
  return counties.filter(
    ({ polygon: county }) =>
      county.minX <= polygon.maxX &&
      county.maxX >= polygon.minX &&
      county.minY <= polygon.maxY &&
      county.maxY >= polygon.minY,
  );
}

/** From this share of a district's land in one county, the rest is the imprecision of a line. */
const WHOLE_SHARE = 0.99;

/** The county that a district lies in, by the district's key; districts in several are left out. */
export function districtCounties(
  districts: readonly BoundaryFeature[],
  counties: readonly BoundaryFeature[],
): ReadonlyMap<string, string> {
  const banded = counties.map(({ polygon }) => new BandedPolygon(polygon));
  return new Map(
    districts.flatMap((district) => {
      const { polygon } = district;
      const [first] = sharesOf(new BandedPolygon(polygon), overlapping(district, banded));
      return first !== undefined && first.share >= WHOLE_SHARE
        ? [[polygon.key, first.county] as const]
        : [];
    }),
  );
}

/** Counties of places in the same state, with the largest share first. */
export function placeCounties(
  places: readonly BoundaryFeature[],
  counties: readonly BoundaryFeature[],
): ReadonlyMap<string, readonly CountyShare[]> {
  const byState = new Map<string, BandedPolygon[]>();
  for (const { polygon } of counties) {
    const state = polygon.key.slice(0, 2);
    byState.set(state, [...(byState.get(state) ?? []), new BandedPolygon(polygon)]);
  }
  return new Map(
    places.map((place) => {
      const { polygon } = place;
      const near = overlapping(place, byState.get(polygon.key.slice(0, 2)) ?? []);
      return [polygon.key, sharesOf(new BandedPolygon(polygon), near)] as const;
    }),
  );
}
