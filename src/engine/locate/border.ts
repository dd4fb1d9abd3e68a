/** How near a spot is to a line beyond which another rate holds, or to a shore drawn too far in. */
import type { CellIndex } from '../../dataset/cell-index.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import { isFailure, type Failure } from '../../failure.js';
import type { Rate } from '../../tax/rate.js';
import type { KnownRates } from '../rate/area-rates.js';
import type { AreaRecord } from '../../dataset/records.js';

/** A line that is farther away is not told of: boundaries and doors are not drawn much finer. */
const BORDER_METRES_MAX = 50;
const METRES_PER_MICRO = 0.111_195;
const DIRECTIONS = 16;
/** Spots on a ray that are looked at before it is halved. */
const RINGS = [0.5, 1];
/** Halvings of 25 metres until what is left is under half of one. */
const HALVINGS = 6;

/** The nearest such line. */
export interface Border {
  /** Whole metres from the spot, good to about one, and to a fiftieth by direction. */
  readonly metres: number;
  /** Combined sales rate beyond; null where it is not known. */
  readonly rate: Rate | null;
}

/** What is looked at: the index of areas, and an area's rates on the day. */
export interface BorderView {
  readonly cells: CellIndex;
  readonly rates: (area: number) => KnownRates | Failure;
}

/** The nearest line around a spot of the area that changes its sales or use rate; null for none. */
export function borderAt(
  { cells, rates }: BorderView, area: number, lat: Microdegrees, lng: Microdegrees,
): Border | null {
  const reach = BORDER_METRES_MAX / METRES_PER_MICRO;
  const shrink = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  if (!cells.isNear(lat, lng, reach)) return null;
  const own = rates(area);
  const isOther = (other: number): boolean => {
    if (other === area || other < 0) return false;
    const there = rates(other);
    return isFailure(own) || isFailure(there) || own.sales !== there.sales || own.use !== there.use;
  };
  let nearest = Infinity;
  let beyond = -1;
  for (let direction = 0; direction < DIRECTIONS; direction += 1) {
    const angle = (direction / DIRECTIONS) * 2 * Math.PI;
    const at = (share: number): number => cells.locate(
      Math.round(lat + reach * share * Math.sin(angle)),
      Math.round(lng + (reach * share * Math.cos(angle)) / shrink),
    );
    let inside = 0;
    for (const ring of RINGS) {
      let other = at(ring);
      if (!isOther(other)) {
        inside = ring;
        continue;
      }
      let outside = ring;
      for (let halving = 0; halving < HALVINGS; halving += 1) {
        const middle = (inside + outside) / 2;
        const found = at(middle);
        if (isOther(found)) [outside, other] = [middle, found];
        else inside = middle;
      }
      const line = (inside + outside) / 2;
      if (line < nearest) [nearest, beyond] = [line, other];
      break;
    }
  }
  if (beyond < 0) return null;
  const there = rates(beyond);
  return {
    metres: Math.round(nearest * BORDER_METRES_MAX), rate: isFailure(there) ? null : there.sales,
  };
}

// Provinces are drawn by a map whose shores are off by up to some kilometre, so that harbours and
// old towns at the water lie in no province; counties hold their waters, and none of this concerns
// them.

/** How far off a shore may be drawn (a point of Quebec City's lies 1.2 km off). */
const SHORE_METRES = 2_000;
/** Within this nothing but the one province may lie. */
const ALONE_METRES = 4_000;
const STEP_METRES = 250;
const SHORE_DIRECTIONS = 24;

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
    for (let direction = 0; direction < SHORE_DIRECTIONS; direction += 1) {
      const angle = (direction / SHORE_DIRECTIONS) * 2 * Math.PI;
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
