/**
 * Spots off a generalized shore. Provinces are drawn by a map whose shores are off by up to some
 * kilometre, so that harbours and old towns at the water lie in no province; counties hold their
 * waters, and none of this concerns them.
 */
import type { CellIndex } from '../../dataset/cell-index.js';
import type { AreaRecord } from '../../dataset/records.js';
import type { Microdegrees } from '../../geo/microdegrees.js';

/** How far off a shore may be drawn (a point of Quebec City's lies 1.2 km off). */
const SHORE_METRES = 2_000;
/** Within this nothing but the one province may lie. */
const ALONE_METRES = 4_000;
const STEP_METRES = 250;
const DIRECTIONS = 24;
const METRES_PER_MICRO = 0.111_195;

/**
 * The province whose shore is near a spot that lies in no area, if nothing else is anywhere near;
 * else −1. Areas with a county are never told so.
 */
export function shoreArea(
  cells: CellIndex, areaOf: (id: number) => AreaRecord, lat: Microdegrees, lng: Microdegrees,
): number {
  const shrink = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  let shore = -1;
  let isNear = false;
  for (let metres = STEP_METRES; metres <= ALONE_METRES; metres += STEP_METRES) {
    if (metres > SHORE_METRES && !isNear) return -1;
    const reach = metres / METRES_PER_MICRO;
    for (let direction = 0; direction < DIRECTIONS; direction += 1) {
      const angle = (direction / DIRECTIONS) * 2 * Math.PI;
      const found = cells.locate(Math.round(lat + reach * Math.sin(angle)),
        Math.round(lng + (reach * Math.cos(angle)) / shrink));
      if (found < 0 || found === shore) continue;
      if (shore >= 0 || areaOf(found).countyFips !== '') return -1;
      shore = found;
      isNear = true;
    }
  }
  return shore;
}
