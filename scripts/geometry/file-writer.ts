/** Writes the project's own file of boundaries, as `src/ingest/source/geometry-file.ts` reads it. */
import { gzipSync } from 'node:zlib';
import { GEOMETRY_FORMAT, type GeometryHead } from '../../src/ingest/source/geometry-file.js';

/** A polygon of arcs; an arc that runs backwards is −1 − its number. */
interface ArcPolygon {
  readonly key: string;
  readonly rings: readonly (readonly number[])[];
}

export interface ArcLayer {
  readonly name: string;
  readonly digits: number;
  readonly polygons: readonly ArcPolygon[];
}

class Writer {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  unsigned(value: number): void {
    if (this.#length + 8 > this.#bytes.length) {
      const grown = new Uint8Array(this.#bytes.length * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) {
      this.#bytes[this.#length] = (rest % 128) + 128;
      this.#length += 1;
    }
    this.#bytes[this.#length] = rest;
    this.#length += 1;
  }

  signed(value: number): void {
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** Bytes of a file before they are gzipped. `arcs` in steps: x0, y0, x1, y1, … */
export function encodeGeometry(
  step: number,
  arcs: readonly Int32Array[],
  layers: readonly ArcLayer[],
): Buffer {
  const head: GeometryHead = {
    format: GEOMETRY_FORMAT,
    step,
    arcs: arcs.length,
    layers: layers.map(({ name, digits, polygons }) => ({
      name,
      digits,
      polygons: polygons.length,
    })),
  };
  const out = new Writer();
  for (const arc of arcs) out.unsigned(arc.length / 2);
  let [x, y] = [0, 0];
  for (const arc of arcs) {
    for (let at = 0; at < arc.length; at += 2) {
      out.signed(arc[at]! - x);
      out.signed(arc[at + 1]! - y);
      [x, y] = [arc[at]!, arc[at + 1]!];
    }
  }
  for (const { polygons } of layers) {
    let [key, last] = [0, 0];
    for (const polygon of polygons) {
      out.unsigned(Number(polygon.key) - key);
      key = Number(polygon.key);
      out.unsigned(polygon.rings.length);
      for (const ring of polygon.rings) {
        out.unsigned(ring.length);
        for (const ref of ring) {
          const [arc, backwards] = ref < 0 ? [-1 - ref, 1] : [ref, 0];
          const jump = arc - last;
          out.unsigned((jump < 0 ? -2 * jump - 1 : 2 * jump) * 2 + backwards);
          last = arc;
        }
      }
    }
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), out.bytes()]);
}

/** Gzips what `encodeGeometry` gave. */
export function packGeometry(bytes: Buffer): Buffer {
  return gzipSync(bytes, { level: 9 });
}
