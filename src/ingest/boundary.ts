/** Boundaries as the overlay takes them. */
import type { Polygon } from '../geo/polygon.js';

/** Layers of the overlay. Of districts any number may hold a spot, of the others one. */
export const LAYERS = ['county', 'place', 'town', 'district', 'doubt'] as const;
export type LayerName = (typeof LAYERS)[number];

export interface BoundaryFeature {
  readonly polygon: Polygon;
  /** Text properties of the publisher's record. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface BoundaryLayer {
  readonly layer: LayerName;
  /** Ascending by key; where polygons of a layer overlap, the lowest key holds. */
  readonly features: readonly BoundaryFeature[];
}

/** What holds a spot, by key. A doubt's key is "<county>/<n>": see situate.ts. */
export interface LayerHits {
  readonly county: string;
  readonly place: string;
  readonly town: string;
  readonly districts: readonly string[];
  /** Counties within whose doubtful land the spot lies. */
  readonly doubts: readonly string[];
}
