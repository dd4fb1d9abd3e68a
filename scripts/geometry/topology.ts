/**
 * Rings to arcs that are shared: vertices are one where their coordinates are, and lines are cut
 * where three or more meet, so that a line between two places, or between a place and its county,
 * is one arc however many polygons it bounds.
 */

/** Rings of one place or county, as numbers of vertices; none ends with its first vertex. */
export interface RingFeature {
  readonly key: string;
  readonly rings: readonly Int32Array[];
}

/** A ring as arcs, each by its number, or by −1 − its number where it runs backwards. */
type ArcRing = readonly number[];

export interface ArcFeature {
  readonly key: string;
  readonly rings: readonly ArcRing[];
}

export interface Topology {
  /** Numbers of vertices; one without a junction begins and ends with its least vertex. */
  readonly arcs: readonly Int32Array[];
  readonly features: readonly ArcFeature[];
}

const SLOTS = 1 << 25;

/** Numbers for coordinates in microdegrees, in the order they are first seen. */
export class Vertices {
  readonly x = new Int32Array(SLOTS / 2);
  readonly y = new Int32Array(SLOTS / 2);
  size = 0;
  readonly #slots = new Int32Array(SLOTS);

  /** @throws RangeError when there are more vertices than room for them. */
  number(x: number, y: number): number {
    let slot = (Math.imul(x, 73_856_093) ^ Math.imul(y, 19_349_663)) & (SLOTS - 1);
    for (;;) {
      const found = this.#slots[slot]! - 1;
      if (found < 0) break;
      if (this.x[found] === x && this.y[found] === y) return found;
      slot = (slot + 1) & (SLOTS - 1);
    }
    if (this.size === this.x.length) throw new RangeError('too many vertices');
    this.x[this.size] = x;
    this.y[this.size] = y;
    this.#slots[slot] = this.size + 1;
    this.size += 1;
    return this.size - 1;
  }

  /** Numbers of a ring's positions in degrees, repeated ones and the closing one left out. */
  ring(positions: readonly (readonly number[])[]): Int32Array {
    const out: number[] = [];
    for (const [lng = 0, lat = 0] of positions) {
      const vertex = this.number(Math.round(lng * 1e6), Math.round(lat * 1e6));
      if (vertex !== out.at(-1)) out.push(vertex);
    }
    while (out.length > 1 && out[0] === out.at(-1)) out.pop();
    return Int32Array.from(out);
  }
}

/** Whether a vertex has other neighbours than two, in all rings together. */
function junctionsOf(count: number, features: readonly RingFeature[]): Uint8Array {
  const one = new Int32Array(count).fill(-1);
  const other = new Int32Array(count).fill(-1);
  const junction = new Uint8Array(count);
  const meet = (vertex: number, neighbour: number): void => {
    if (one[vertex] === neighbour || other[vertex] === neighbour) return;
    if (one[vertex] === -1) one[vertex] = neighbour;
    else if (other[vertex] === -1) other[vertex] = neighbour;
    else junction[vertex] = 1;
  };
  for (const { rings } of features) {
    for (const ring of rings) {
      ring.forEach((vertex, at) => {
        meet(vertex, ring[(at + 1) % ring.length]!);
        meet(vertex, ring[(at + ring.length - 1) % ring.length]!);
      });
    }
  }
  // A line that turns back on itself ends where it turns.
  for (let vertex = 0; vertex < count; vertex += 1) if (other[vertex] === -1) junction[vertex] = 1;
  return junction;
}

/** Turns a ring so that it begins at a junction, or without any at its least vertex. */
function turned(ring: Int32Array, junction: Uint8Array): Int32Array {
  let start = ring.findIndex((vertex) => junction[vertex] === 1);
  if (start < 0) start = ring.indexOf(ring.reduce((least, vertex) => Math.min(least, vertex)));
  const out = new Int32Array(ring.length + 1);
  out.set(ring.subarray(start));
  out.set(ring.subarray(0, start), ring.length - start);
  out[ring.length] = out[0]!;
  return out;
}

/** Cuts the rings of all features into arcs. `count` is that of the vertices. */
export function createTopology(count: number, features: readonly RingFeature[]): Topology {
  const junction = junctionsOf(count, features);
  const arcs: Int32Array[] = [];
  const numbers = new Map<number, number>();
  // No two arcs share their first edge, so it names the arc and its direction.
  const name = (from: number, to: number): number => from * 2 ** 26 + to;
  const numberOf = (arc: Int32Array): number => {
    const last = arc.length - 1;
    const known = numbers.get(name(arc[0]!, arc[1]!));
    if (known !== undefined) return known;
    arcs.push(arc);
    numbers.set(name(arc[last]!, arc[last - 1]!), -arcs.length);
    numbers.set(name(arc[0]!, arc[1]!), arcs.length - 1);
    return arcs.length - 1;
  };
  const cut = (ring: Int32Array): ArcRing => {
    const line = turned(ring, junction);
    const out: number[] = [];
    let start = 0;
    for (let at = 1; at < line.length; at += 1) {
      if (at < line.length - 1 && junction[line[at]!] !== 1) continue;
      out.push(numberOf(line.slice(start, at + 1)));
      start = at;
    }
    return out;
  };
  return {
    features: features.map(({ key, rings }) => ({
      key,
      rings: rings.filter((ring) => ring.length > 2).map(cut),
    })),
    arcs,
  };
}
