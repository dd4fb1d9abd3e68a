/** Own counties of places, by the share of their area. */
import { BandedPolygon } from '../geo/polygon.js';
import type { BoundaryFeature } from './boundary.js';
import { judgeLand } from './county-sliver.js';

/** Points of the sampling grid along each side of a place's bounding box. */
const GRID = 100;
/** Share from which a county counts whose land may be a sliver or not. */
const UNCLEAR_SHARE_MIN = 0.02;

/** What is known of places and counties apart from the borders. */
export interface KnownCounties {
  /** "<place>/<county>" where a publisher names the place in the county. */
  readonly listed: ReadonlySet<string>;
  /** Counties of places by an earlier list, from which slivers alone are taken. */
  readonly earlier?: ReadonlyMap<string, readonly string[]>;
}

/** Spots of a place (x, y, x, y, …) by the county that holds them. */
type Spots = Map<string, number[]>;

export interface CountyShare {
  readonly county: string;
  readonly share: number;
}

function addSpot(
  counties: readonly BandedPolygon[], x: number, y: number, spots: Spots,
): void {
  const key = counties.find((county) => county.contains(x, y))?.polygon.key;
  if (key === undefined) return;
  const known = spots.get(key);
  if (known === undefined) spots.set(key, [x, y]);
  else known.push(x, y);
}

function addGrid(
  place: BandedPolygon, counties: readonly BandedPolygon[], spots: Spots,
): void {
  const { minX, minY, maxX, maxY } = place.polygon;
  for (let row = 0; row < GRID; row += 1) {
    const y = Math.floor(minY + ((maxY - minY) * (row + 0.5)) / GRID);
    for (let column = 0; column < GRID; column += 1) {
      const x = Math.floor(minX + ((maxX - minX) * (column + 0.5)) / GRID);
      if (place.contains(x, y)) addSpot(counties, x, y, spots);
    }
  }
}

/** The county that holds every vertex, or null: most places need no closer look. */
function soleCounty(place: BandedPolygon, counties: readonly BandedPolygon[]): string | null {
  const { coords } = place.polygon;
  const first = counties.find((county) => county.contains(coords[0]!, coords[1]!));
  if (first === undefined) return null;
  for (let at = 2; at < coords.length; at += 2) {
    if (!first.contains(coords[at]!, coords[at + 1]!)) return null;
  }
  return first.polygon.key;
}

/** Spots at the vertices: for places too thin for the grid. */
function addVertices(
  place: BandedPolygon, counties: readonly BandedPolygon[], spots: Spots,
): void {
  const { coords } = place.polygon;
  for (let at = 0; at < coords.length; at += 2) {
    addSpot(counties, coords[at]!, coords[at + 1]!, spots);
  }
}

function sharesOf(
  place: BandedPolygon, counties: readonly BandedPolygon[], known: KnownCounties,
): readonly CountyShare[] {
  const sole = soleCounty(place, counties);
  if (sole !== null) return [{ county: sole, share: 1 }];
  const spots: Spots = new Map();
  addGrid(place, counties, spots);
  if (spots.size === 0) addVertices(place, counties, spots);
  const total = [...spots.values()].reduce((sum, list) => sum + list.length, 0);
  const isOwn = ({ county, share }: CountyShare): boolean => {
    const polygon = counties.find((one) => one.polygon.key === county)?.polygon;
    if (polygon === undefined) return false;
    const pair = `${place.polygon.key}/${county}`;
    const land = { share, spots: spots.get(county) ?? [] };
    const verdict = judgeLand(place.polygon, polygon, land, known.listed.has(pair));
    if (verdict === 'sliver') return false;
    return known.earlier?.get(place.polygon.key)?.includes(county)
      ?? (verdict === 'own' || share >= UNCLEAR_SHARE_MIN);
  };
  return [...spots]
    .map(([county, list]): CountyShare => ({ county, share: list.length / total }))
    .sort((one, other) => other.share - one.share || (one.county < other.county ? -1 : 1))
    .filter((one, index) => index === 0 || isOwn(one));
}

/**
 * Counties each place lies in, largest share first, without slivers of differently drawn borders.
 * Only counties of the place's own state count: no municipality crosses a state line.
 */
export function placeCounties(
  places: readonly BoundaryFeature[],
  counties: readonly BoundaryFeature[],
  known: KnownCounties,
): ReadonlyMap<string, readonly CountyShare[]> {
  const byState = new Map<string, BandedPolygon[]>();
  for (const { polygon } of counties) {
    const state = polygon.key.slice(0, 2);
    byState.set(state, [...byState.get(state) ?? [], new BandedPolygon(polygon)]);
  }
  return new Map(places.map(({ polygon }) => {
    const near = (byState.get(polygon.key.slice(0, 2)) ?? []).filter(({ polygon: county }) =>
      county.minX <= polygon.maxX && county.maxX >= polygon.minX &&
      county.minY <= polygon.maxY && county.maxY >= polygon.minY);
    return [polygon.key, sharesOf(new BandedPolygon(polygon), near, known)] as const;
  }));
}
