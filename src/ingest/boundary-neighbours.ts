/** Which polygons of a layer share a border, and how much of it. */
import type { BoundaryFeature } from './boundary.js';

/** Length of an edge in microdegrees of latitude. */
function lengthOf(ax: number, ay: number, bx: number, by: number): number {
  const shrink = Math.cos(((ay + by) / 2e6 / 180) * Math.PI);
  return Math.hypot((bx - ax) * shrink, by - ay);
}

/** Calls `each` for every edge, its ends in a fixed order, so that both sides name it alike. */
function forEachBorder(
  { polygon: { coords, rings } }: BoundaryFeature, each: (name: string, length: number) => void,
): void {
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    for (let at = rings[ring]! * 2; at < (rings[ring + 1]! - 1) * 2; at += 2) {
      const [ax, ay, bx, by] = [coords[at]!, coords[at + 1]!, coords[at + 2]!, coords[at + 3]!];
      const forward = ax < bx || (ax === bx && ay < by);
      each(forward ? `${ax} ${ay} ${bx} ${by}` : `${bx} ${by} ${ax} ${ay}`,
        lengthOf(ax, ay, bx, by));
    }
  }
}

/**
 * Keys of the neighbours of every polygon that has any, the longest shared border first. Borders
 * count as shared where both polygons have the same edge, as they have in a topology.
 */
export function neighboursOf(
  features: readonly BoundaryFeature[],
): ReadonlyMap<string, readonly string[]> {
  const owner = new Map<string, string>();
  const shared = new Map<string, Map<string, number>>();
  const add = (key: string, neighbour: string, length: number): void => {
    const lengths = shared.get(key) ?? new Map<string, number>();
    lengths.set(neighbour, (lengths.get(neighbour) ?? 0) + length);
    shared.set(key, lengths);
  };
  for (const feature of features) {
    const { key } = feature.polygon;
    forEachBorder(feature, (name, length) => {
      const other = owner.get(name);
      if (other === undefined) {
        owner.set(name, key);
      } else if (other !== key) {
        add(key, other, length);
        add(other, key, length);
      }
    });
  }
  return new Map([...shared].map(([key, lengths]) => [key, [...lengths]
    .sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1))
    .map(([neighbour]) => neighbour)]));
}
