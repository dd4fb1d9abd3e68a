/**
 * The project's own file of boundaries: layers of polygons over arcs that are held once, however
 * many polygons they bound. Gzipped; within, a line of JSON (`GeometryHead`), then unsigned
 * varints (seven bits a byte, the low ones first; signed values zigzag):
 * - for every arc its number of vertices;
 * - for every vertex of every arc the steps east and north from the vertex before it, also across
 *   arcs, the first one from 0, 0; a step is `step` microdegrees;
 * - for every layer and polygon: its key less the key before it in the layer, its number of rings;
 *   for every ring its number of arcs; for every arc its number less that of the arc before it in
 *   the layer (signed), twice, plus one where it runs backwards.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Polygon, polygonOf } from '../../geo/polygon.js';
import type { BoundaryFeature } from '../boundary/overlay.js';

export const GEOMETRY_FORMAT = 'situs-geometry-1';

/** A layer's name, the digits of its keys and how many polygons it has. */
interface GeometryLayerHead {
  readonly name: string;
  readonly digits: number;
  readonly polygons: number;
}

/** First line of the file. */
export interface GeometryHead {
  readonly format: typeof GEOMETRY_FORMAT;
  /** Microdegrees. */
  readonly step: number;
  readonly arcs: number;
  readonly layers: readonly GeometryLayerHead[];
}

class Reader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  unsigned(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new Error('the file of boundaries ends too early');
      this.#at += 1;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
      scale *= 128;
    }
  }

  signed(): number {
    const value = this.unsigned();
    return (value & 1) === 1 ? -(value + 1) / 2 : value / 2;
  }
}

/** Vertices of all arcs in microdegrees (x, y, x, y, …), and where each arc begins among them. */
interface Arcs {
  readonly coords: Int32Array;
  readonly starts: Int32Array;
}

function readArcs(head: GeometryHead, reader: Reader): Arcs {
  const starts = new Int32Array(head.arcs + 1);
  for (let arc = 0; arc < head.arcs; arc += 1) starts[arc + 1] = starts[arc]! + reader.unsigned();
  const coords = new Int32Array(starts[head.arcs]! * 2);
  let [x, y] = [0, 0];
  for (let at = 0; at < coords.length; at += 2) {
    x += reader.signed() * head.step;
    y += reader.signed() * head.step;
    coords[at] = x;
    coords[at + 1] = y;
  }
  return { coords, starts };
}

/** Collects the rings of one polygon at a time, in memory that is reused. */
class Rings {
  #coords = new Int32Array(1 << 20);
  #length = 0;
  #start = 0;
  #starts: number[] = [];

  /** Adds a vertex to the ring, unless it repeats the last one. */
  add(x: number, y: number): void {
    const last = this.#length;
    if (last > this.#start && this.#coords[last - 2] === x && this.#coords[last - 1] === y) return;
    if (last + 2 > this.#coords.length) {
      const grown = new Int32Array(this.#coords.length * 2);
      grown.set(this.#coords);
      this.#coords = grown;
    }
    this.#coords[last] = x;
    this.#coords[last + 1] = y;
    this.#length += 2;
  }

  /** Closes the ring with its first vertex; a ring with less than three corners is dropped. */
  end(): void {
    if (this.#length - this.#start >= 8) {
      this.#starts.push(this.#start / 2);
      this.#start = this.#length;
    } else this.#length = this.#start;
  }

  /** The polygon of the rings so far, null without any; then begins the next one. */
  take(key: string): Polygon | null {
    const starts = this.#starts;
    const coords = this.#coords.slice(0, this.#length);
    [this.#starts, this.#length, this.#start] = [[], 0, 0];
    if (starts.length === 0) return null;
    return polygonOf(key, coords, Int32Array.from([...starts, coords.length / 2]));
  }
}

function readRing({ coords, starts }: Arcs, reader: Reader, from: number, rings: Rings): number {
  let number = from;
  for (let left = reader.unsigned(); left > 0; left -= 1) {
    const ref = reader.unsigned();
    const jump = Math.floor(ref / 2);
    number += jump % 2 === 1 ? -(jump + 1) / 2 : jump / 2;
    const end = starts[number + 1];
    if (end === undefined || number < 0) throw new Error(`there is no arc ${number}`);
    const start = starts[number]!;
    for (let step = 0; step < end - start; step += 1) {
      const at = (ref % 2 === 0 ? start + step : end - 1 - step) * 2;
      rings.add(coords[at]!, coords[at + 1]!);
    }
  }
  rings.end();
  return number;
}

function readLayer(
  layer: GeometryLayerHead,
  arcs: Arcs,
  reader: Reader,
  rings: Rings,
): readonly BoundaryFeature[] {
  let [key, arc] = [0, 0];
  const out: BoundaryFeature[] = [];
  for (let left = layer.polygons; left > 0; left -= 1) {
    key += reader.unsigned();
    for (let more = reader.unsigned(); more > 0; more -= 1) {
      arc = readRing(arcs, reader, arc, rings);
    }
    const polygon = rings.take(String(key).padStart(layer.digits, '0'));
    if (polygon !== null) out.push({ polygon, properties: {} });
  }
  return out;
}

/** Polygons by the name of their layer, ascending by key. */
export type GeometryLayers = ReadonlyMap<string, readonly BoundaryFeature[]>;

/**
 * The polygons of every layer of a file's bytes, ascending by key.
 * @throws Error when they are not of this format.
 */
export function decodeGeometry(bytes: Buffer): GeometryLayers {
  const line = bytes.indexOf('\n');
  const head = JSON.parse(bytes.toString('utf8', 0, line)) as GeometryHead;
  if (head.format !== GEOMETRY_FORMAT) {
    throw new Error(`the format is ${head.format}, not ${GEOMETRY_FORMAT}`);
  }
  const reader = new Reader(bytes, line + 1);
  const arcs = readArcs(head, reader);
  const rings = new Rings();
  return new Map(head.layers.map((layer) => [layer.name, readLayer(layer, arcs, reader, rings)]));
}

/** Reads a file: see `decodeGeometry`. */
export function readGeometryFile(path: string): GeometryLayers {
  return decodeGeometry(gunzipSync(readFileSync(path)));
}
