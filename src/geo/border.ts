/** Distances to the borders of polygons. */
import { forEachEdge, type Polygon } from './polygon.js';

/** Metres in a microdegree of latitude. */
const METRES = 0.111_195;

/** A rectangle in microdegrees. */
export interface Box {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** The edge of a border that is nearest to a spot. */
export interface NearestEdge {
  /** Number of the edge within its border. */
  readonly edge: number;
  readonly metres: number;
}

/** The edges of a polygon that touch a box, over a plane: exact enough for a few kilometres. */
export class Border {
  /** Ends of the edges: ax, ay, bx, by, … in microdegrees. */
  readonly edges: readonly number[];
  readonly #scale: number;

  constructor(polygon: Polygon, box: Box) {
    const { coords } = polygon;
    const edges: number[] = [];
    forEachEdge(polygon, (vertex) => {
      const [ax, ay, bx, by] = [coords[vertex * 2]!, coords[vertex * 2 + 1]!,
        coords[vertex * 2 + 2]!, coords[vertex * 2 + 3]!];
      if (Math.max(ax, bx) < box.minX || Math.min(ax, bx) > box.maxX) return;
      if (Math.max(ay, by) < box.minY || Math.min(ay, by) > box.maxY) return;
      edges.push(ax, ay, bx, by);
    });
    this.edges = edges;
    this.#scale = Math.cos(((box.minY + box.maxY) / 2e6) * (Math.PI / 180));
  }

  /** The edge nearest to a spot; edge −1 at an infinite distance where there is none. */
  nearest(x: number, y: number): NearestEdge {
    const { edges } = this;
    let [edge, least] = [-1, Infinity];
    for (let at = 0; at < edges.length; at += 4) {
      const dx = (edges[at + 2]! - edges[at]!) * this.#scale;
      const dy = edges[at + 3]! - edges[at + 1]!;
      const [px, py] = [(x - edges[at]!) * this.#scale, y - edges[at + 1]!];
      const square = dx * dx + dy * dy;
      const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / square));
      const distance = (px - along * dx) ** 2 + (py - along * dy) ** 2;
      if (distance < least) [edge, least] = [at / 4, distance];
    }
    return { edge, metres: Math.sqrt(least) * METRES };
  }
}
