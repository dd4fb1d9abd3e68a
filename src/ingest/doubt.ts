/**
 * Land that may lie in a listed city whose boundary is not loaded: within 15 km of the city's ZIP
 * points the unincorporated remainder of its county is unknown (decisions part 3).
 */
import { LAT_MAX, LNG_MAX, type Microdegrees } from '../geo/microdegrees.js';
import { createPolygon, type Position } from '../geo/polygon.js';
import type { BoundaryFeature } from './boundary.js';

export const DOUBT_METRES = 15_000;
const METRES_PER_DEGREE = 111_195;
const CORNERS = 48;

export interface DoubtfulPoint {
  /** Five digits. */
  readonly county: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** Discs around the points, keyed "<county>/<n>". The polygon encloses the circle. */
export function doubtDiscs(points: readonly DoubtfulPoint[]): readonly BoundaryFeature[] {
  const sorted = [...points].sort((one, other) =>
    (one.county < other.county ? -1 : one.county > other.county ? 1 : 0) ||
    one.lat - other.lat || one.lng - other.lng);
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
