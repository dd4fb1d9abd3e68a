/** Own counties of places, by the share of their area. */
import { BandedPolygon } from '../geo/polygon.js';
import type { BoundaryFeature } from './boundary.js';

/** Points of the sampling grid along each side of a place's bounding box. */
const GRID = 40;
/** Share of a place below which a county is a sliver of differently drawn borders. */
const SLIVER_SHARE = 0.02;

export interface CountyShare {
  readonly county: string;
  readonly share: number;
}

function countHits(
  place: BandedPolygon, counties: readonly BandedPolygon[], hits: Map<string, number>,
): void {
  const { minX, minY, maxX, maxY } = place.polygon;
  for (let row = 0; row < GRID; row += 1) {
    const y = Math.floor(minY + ((maxY - minY) * (row + 0.5)) / GRID);
    for (let column = 0; column < GRID; column += 1) {
      const x = Math.floor(minX + ((maxX - minX) * (column + 0.5)) / GRID);
      if (!place.contains(x, y)) continue;
      const county = counties.find((candidate) => candidate.contains(x, y));
      if (county === undefined) continue;
      hits.set(county.polygon.key, (hits.get(county.polygon.key) ?? 0) + 1);
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

/** Counties of the vertices: for places too thin for the grid. */
function countVertices(
  place: BandedPolygon, counties: readonly BandedPolygon[], hits: Map<string, number>,
): void {
  const { coords } = place.polygon;
  for (let at = 0; at < coords.length; at += 2) {
    const county = counties.find((one) => one.contains(coords[at]!, coords[at + 1]!));
    if (county === undefined) continue;
    hits.set(county.polygon.key, (hits.get(county.polygon.key) ?? 0) + 1);
  }
}

/**
 * Counties each place lies in, largest share first. A county is kept below the sliver share only
 * where a list says so (`listed` holds "<place>/<county>"). Only counties of the place's own state
 * count: no municipality crosses a state line.
 */
export function placeCounties(
  places: readonly BoundaryFeature[],
  counties: readonly BoundaryFeature[],
  listed: ReadonlySet<string>,
): ReadonlyMap<string, readonly CountyShare[]> {
  const byState = new Map<string, BandedPolygon[]>();
  for (const { polygon } of counties) {
    const state = polygon.key.slice(0, 2);
    byState.set(state, [...byState.get(state) ?? [], new BandedPolygon(polygon)]);
  }
  const result = new Map<string, readonly CountyShare[]>();
  for (const { polygon } of places) {
    const near = (byState.get(polygon.key.slice(0, 2)) ?? []).filter(({ polygon: county }) =>
      county.minX <= polygon.maxX && county.maxX >= polygon.minX &&
      county.minY <= polygon.maxY && county.maxY >= polygon.minY);
    const banded = new BandedPolygon(polygon);
    const sole = soleCounty(banded, near);
    if (sole !== null) {
      result.set(polygon.key, [{ county: sole, share: 1 }]);
      continue;
    }
    const hits = new Map<string, number>();
    countHits(banded, near, hits);
    if (hits.size === 0) countVertices(banded, near, hits);
    const total = [...hits.values()].reduce((sum, count) => sum + count, 0);
    result.set(polygon.key, [...hits]
      .map(([county, count]): CountyShare => ({ county, share: count / total }))
      .sort((one, other) => other.share - one.share || (one.county < other.county ? -1 : 1))
      .filter(({ county, share }, index) =>
        index === 0 || share >= SLIVER_SHARE || listed.has(`${polygon.key}/${county}`)));
  }
  return result;
}
