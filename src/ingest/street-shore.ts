/** Doors on piers and shores lie outside simplified boundaries: the nearest area is theirs. */
import { distanceMetres } from '../geo/interpolate.js';
import type { Microdegrees } from '../geo/microdegrees.js';

/** Rings around a door on which land is looked for. */
const RINGS_METRES = [60, 150, 300, 600, 1000];
const DIRECTIONS = 16;
/** Metres from the equator to a millionth of a degree north of it. */
const MICRODEGREE_METRES = distanceMetres(0, 0, 1, 0);

type Locate = (lat: Microdegrees, lng: Microdegrees) => number;

/**
 * The area of a spot, or of the land nearest to it when it lies in none; −1 where there is none
 * near, or where the nearest ring touches several.
 */
export function areaAshore(lat: Microdegrees, lng: Microdegrees, locate: Locate): number {
  const here = locate(lat, lng);
  if (here >= 0) return here;
  const east = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  for (const metres of RINGS_METRES) {
    const reach = metres / MICRODEGREE_METRES;
    let found = -1;
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const angle = (2 * Math.PI * direction) / DIRECTIONS;
      const area = locate(
        Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + (reach / east) * Math.cos(angle)),
      );
      if (area < 0) continue;
      if (found >= 0 && found !== area) return -1;
      found = area;
    }
    if (found >= 0) return found;
  }
  return -1;
}
