/** Recognizes streets whose doors are all far from lines between tax areas, as most are. */
import { BORDER_REACH } from '../../dataset/cell-index.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { DoorFacts } from './stated.js';

/**
 * Whether a line between tax areas may lie within a number of microdegrees of latitude of a spot.
 */
export type NearLine = (lat: Microdegrees, lng: Microdegrees, reach: number) => boolean;

/** Streets that extend farther, about 10 km, are only tested door by door. */
const SPREAD_MAX = 90_000;
/** More than the ratio of lengths of a longitude degree within such a street. */
const ROOM = 1.01;

/**
 * Whether no line lies within `BORDER_REACH` of any door; false for a street without doors. Most
 * streets lie completely inside an area, which a single test around all doors shows.
 */
export function areApart(doors: readonly DoorFacts[], nearLine: NearLine): boolean {
  if (doors.length === 0) return false;
  let [south, north, west, east] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { lat, lng } of doors) {
    south = Math.min(south, lat);
    north = Math.max(north, lat);
    west = Math.min(west, lng);
    east = Math.max(east, lng);
  }
  const spread = Math.hypot(north - south, east - west);
  if (spread <= SPREAD_MAX) {
    const reach = (BORDER_REACH + spread / 2) * ROOM;
    if (!nearLine(Math.round((south + north) / 2), Math.round((west + east) / 2), reach)) {
      return true;
    }
  }
  return doors.every(({ lat, lng }) => !nearLine(lat, lng, BORDER_REACH));
}
