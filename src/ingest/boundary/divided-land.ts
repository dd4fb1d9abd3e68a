/** Boxes of divided land as a layer of doubts: land outside cities in them cannot be told. */
import { createPolygon } from '../../geo/polygon.js';
import type { DividedLand } from '../rates/facts.js';
import type { BoundaryFeature } from './overlay.js';

/** Keyed "<county>/land <n>", in the order given. */
export function dividedFeatures(lands: readonly DividedLand[]): readonly BoundaryFeature[] {
  return lands.flatMap(({ county, south, west, north, east }, index) => {
    const polygon = createPolygon(`${county}/land ${index}`, [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
      ],
    ]);
    return polygon === null ? [] : [{ polygon, properties: {} }];
  });
}
