import type { Microdegrees } from '../geo/microdegrees.js';
/** Point → tax area. (Placeholder interface; the implementation replaces this file.) */
export interface CellIndex {
  /** Tax area id containing the point, or -1. */
  locate(lat: Microdegrees, lng: Microdegrees): number;
}
