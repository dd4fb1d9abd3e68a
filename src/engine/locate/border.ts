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

// Provinces are drawn by a map whose lines are off by up to some kilometre: harbours and old towns
// at the water lie in no province, and towns at a line may lie in the next one. Counties are drawn
// finely and hold their waters; none of this concerns them.

/** How far off a shore or a line may be drawn: 1.2 km were seen at Quebec City, 1.7 at Hull. */
export const PROVINCE_LINE_METRES = 2_000;
/** Within this nothing but the one province may lie. */
const ALONE_METRES = 4_000;
/** So near to a county a spot may be one of its own. */
const COUNTY_METRES = 50;
const STEP_METRES = 250;
const LINE_DIRECTIONS = 24;

/** What of an index is looked at. */
export interface AreaView {
  readonly cells: CellIndex;
  readonly areaOf: (id: number) => AreaRecord;
}

/** The areas on a circle around a spot, as often as they are met. */
function* around(
  { cells }: AreaView, lat: Microdegrees, lng: Microdegrees, metres: number,
): Generator<number> {
  const reach = metres / METRES_PER_MICRO;
  const shrink = Math.max(0.01, Math.cos((lat / 1e6) * (Math.PI / 180)));
  for (let direction = 0; direction < LINE_DIRECTIONS; direction += 1) {
    const angle = (direction / LINE_DIRECTIONS) * 2 * Math.PI;
    const found = cells.locate(Math.round(lat + reach * Math.sin(angle)),
      Math.round(lng + (reach * Math.cos(angle)) / shrink));
    if (found >= 0) yield found;
  }
}

function isProvince({ areaOf }: AreaView, id: number): boolean {
  return areaOf(id).countyFips === '';
}

/**
 * The province whose shore is near a spot that lies in no area, if no other is anywhere near; else
 * −1. Areas with a county are never told so.
 */
export function shoreArea(view: AreaView, lat: Microdegrees, lng: Microdegrees): number {
  for (const found of around(view, lat, lng, COUNTY_METRES)) {
    if (!isProvince(view, found)) return -1;
  }
  let shore = -1;
  for (let metres = STEP_METRES; metres <= ALONE_METRES; metres += STEP_METRES) {
    if (metres > PROVINCE_LINE_METRES && shore < 0) return -1;
    for (const found of around(view, lat, lng, metres)) {
      if (found === shore || !isProvince(view, found)) continue;
      if (shore >= 0) return -1;
      shore = found;
    }
  }
  return shore;
}

/** The other provinces that a spot of one may lie in instead. */
export function provincesNear(
  view: AreaView, area: number, lat: Microdegrees, lng: Microdegrees,
): ReadonlySet<number> {
  const near = new Set<number>();
  if (!view.cells.isNear(lat, lng, PROVINCE_LINE_METRES / METRES_PER_MICRO)) return near;
  for (let metres = STEP_METRES; metres <= PROVINCE_LINE_METRES; metres += STEP_METRES) {
    for (const found of around(view, lat, lng, metres)) {
      if (found !== area && isProvince(view, found)) near.add(found);
    }
  }
  return near;
}
