/** Where a lookup led: the shared vocabulary of locating. */

/** How a location was found, best first; the index is the wire's byte. */
export const PRECISIONS = [
  'none', 'point', 'range', 'zip9', 'street', 'polygon', 'postal',
] as const;
export type Precision = (typeof PRECISIONS)[number];

import type { Microdegrees } from '../geo/microdegrees.js';

/** A resolved location. */
export interface Situs {
  /** Tax area id. */
  readonly area: number;
  readonly precision: Precision;
  /** Zero when not geocoded (zip9, street and postal have no door). */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** "200 Spectrum Center Dr, Irvine, CA 92618-5003, United States" */
  readonly normalizedAddress: string;
  readonly houseNumber: string;
  /** Street with directionals and type, properly cased; empty for points. */
  readonly street: string;
  readonly city: string;
  /** "92618" or "92618-5003"; empty when not known. */
  readonly postalCode: string;
}
