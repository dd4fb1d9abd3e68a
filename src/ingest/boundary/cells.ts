/**
 * Divides the world into cells that lie in one tax area, or contain few enough border edges to
 * decide exactly. Deterministic: tiles in order, polygons by layer and key.
 */
import {
  CELL_BITS_MIN,
  CellIndex,
  INTERNAL,
  NOWHERE,
  TILE_BITS,
  TILE_SIZE,
} from '../../dataset/cell-index.js';
import type { ByteTable } from '../../dataset/layout.js';
import { BandedPolygon } from '../../geo/polygon.js';
import type { Progress } from '../model.js';
import {
  bucket,
  type Cell,
  type CellGroup,
  type CellPolygon,
  encodeLeaf,
  quartered,
  touching,
} from './leaf.js';
import { OverlapMeter } from './overlaps.js';
import type { BoundaryLayer, LayerHits } from './overlay.js';

/** Most edges in a border cell; one with more is divided further. */
const LEAF_EDGES_MAX = 24;

/** The tax area id for the boundaries that hold a spot, −1 for none. */
type AreaOfHits = (hits: LayerHits) => number;

interface Shape {
  readonly banded: BandedPolygon;
  /** Polygons with the same group do not overlap one another. */
  readonly group: string;
  readonly layer: BoundaryLayer['layer'];
}

interface Part {
  readonly shape: number;
  readonly edges: readonly number[];
}

/** The polygons of a cell: those that cover it, and those whose border crosses it. */
interface Content {
  readonly covers: readonly number[];
  readonly parts: readonly Part[];
}

export interface CellTables {
  readonly tiles: ReadonlyMap<number, Uint8Array>;
  readonly leaves: ReadonlyMap<number, Uint8Array>;
  /** The index over the tables just built. */
  readonly index: CellIndex;
  /** Polygons of counties, places or towns that overlap. */
  readonly overlaps: OverlapMeter;
}

function groupOf(layer: BoundaryLayer['layer'], key: string): string {
  if (layer === 'district') return `district ${key}`;
  return layer === 'doubt' ? `doubt ${key.slice(0, key.indexOf('/'))}` : layer;
}

function shapesOf(layers: readonly BoundaryLayer[]): readonly Shape[] {
  return layers.flatMap(({ layer, features }) =>
    features.map(({ polygon }) => ({
      banded: new BandedPolygon(polygon),
      group: groupOf(layer, polygon.key),
      layer,
    })),
  );
}

class Builder {
  readonly #shapes: readonly Shape[];
  readonly #areaOf: AreaOfHits;
  readonly tiles = new Map<number, Uint8Array>();
  readonly leaves = new Map<number, Uint8Array>();
  readonly overlaps: OverlapMeter;
  /** Areas by polygons that cover or were chosen; most cells have those of a neighbour. */
  readonly #areas = new Map<string, number>();

  constructor(shapes: readonly Shape[], areaOf: AreaOfHits) {
    this.#shapes = shapes;
    this.overlaps = new OverlapMeter(shapes, ['county', 'place', 'town']);
    this.#areaOf = areaOf;
  }

  tile(key: number, content: Content): void {
    const cell: Cell = {
      x: (key & 1023) * TILE_SIZE - 180_000_000,
      y: (key >> 10) * TILE_SIZE - 90_000_000,
      size: TILE_SIZE,
    };
    const cells = [NOWHERE];
    this.#cut(cells, 0, cell, content, TILE_BITS);
    if (cells.length === 1 && cells[0] === NOWHERE) return;
    this.tiles.set(key, new Uint8Array(Int32Array.from(cells).buffer));
  }

  #cut(cells: number[], at: number, cell: Cell, content: Content, bits: number): void {
    let edges = 0;
    for (const part of content.parts) edges += part.edges.length;
    const isLast = edges <= LEAF_EDGES_MAX || bits <= CELL_BITS_MIN;
    if (isLast) this.overlaps.measure(cell, content.covers, content.parts);
    if (edges === 0) {
      cells[at] = this.#area(content.covers, []);
    } else if (isLast) {
      cells[at] = this.#border(cell, content);
    } else {
      const start = cells.length;
      cells.push(NOWHERE, NOWHERE, NOWHERE, NOWHERE);
      cells[at] = INTERNAL - 1 - start;
      const size = cell.size / 2;
      const within = content.parts.map(({ shape, edges: all }) =>
        quartered(this.#shapes[shape]!.banded, all, cell),
      );
      for (let child = 0; child < 4; child += 1) {
        const square: Cell = {
          x: cell.x + (child & 1) * size,
          y: cell.y + (child >> 1) * size,
          size,
        };
        const own = this.#within(
          square,
          content,
          within.map((quarters) => quarters[child]!),
        );
        this.#cut(cells, start + child, square, own, bits - 1);
      }
      this.#merge(cells, at, start);
    }
  }

  /** Replaces four equal cells without borders by one. */
  #merge(cells: number[], at: number, start: number): void {
    const first = cells[start]!;
    if (first < NOWHERE || cells.length !== start + 4) return;
    if (cells[start + 1] !== first || cells[start + 2] !== first || cells[start + 3] !== first) {
      return;
    }
    cells.length = start;
    cells[at] = first;
  }

  /** The content of a quarter of a cell; `edges` are those of each part in it. */
  #within(quarter: Cell, content: Content, edges: readonly (readonly number[])[]): Content {
    const covers = [...content.covers];
    const parts: Part[] = [];
    content.parts.forEach(({ shape }, at) => {
      const own = edges[at]!;
      if (own.length > 0) parts.push({ shape, edges: own });
      else if (this.#shapes[shape]!.banded.contains(quarter.x, quarter.y)) covers.push(shape);
    });
    return { covers, parts };
  }

  #border(cell: Cell, content: Content): number {
    const groups = this.#groups(content);
    const polygons = groups.map((group) =>
      group.map(
        (part): CellPolygon => ({
          shape: this.#shapes[part.shape]!.banded,
          edges: part.edges,
        }),
      ),
    );
    const covering = content.covers.join();
    const leaf = encodeLeaf(
      cell,
      polygons.map((candidates): CellGroup => ({ candidates })),
      (choices) => {
        const chosen: number[] = [];
        for (let index = 0; index < choices.length; index += 1) {
          const choice = choices[index]!;
          if (choice > 0) chosen.push(groups[index]![choice - 1]!.shape);
        }
        return this.#area(content.covers, chosen, covering);
      },
    );
    const areas = new Int32Array(leaf.buffer, leaf.byteOffset, leaf.byteLength / 4);
    const from = 4 + groups.length + 1;
    const entries = areas.subarray(from, from + areas[from - 1]!);
    // A border between polygons that lead to the same tax area is left out.
    if (entries.every((area) => area === entries[0])) return entries[0]!;
    const number = this.leaves.size;
    this.leaves.set(number, leaf);
    return -2 - number;
  }

  /**
   * The parts that may decide, by group, lowest key first as they are stored, without those that a
   * covering polygon takes precedence over.
   */
  #groups(content: Content): readonly (readonly Part[])[] {
    const covered = new Map<string, number>();
    for (const shape of content.covers) {
      const { group } = this.#shapes[shape]!;
      covered.set(group, Math.min(shape, covered.get(group) ?? shape));
    }
    const groups = new Map<string, Part[]>();
    for (const part of content.parts) {
      const { group } = this.#shapes[part.shape]!;
      if ((covered.get(group) ?? Infinity) < part.shape) continue;
      const list = groups.get(group);
      if (list === undefined) groups.set(group, [part]);
      else list.push(part);
    }
    return [...groups.values()];
  }

  /** The tax area of polygons; `chosen` take precedence over covering ones of the same group. */
  #area(covers: readonly number[], chosen: readonly number[], covering = covers.join()): number {
    const key = `${covering}|${chosen.join()}`;
    let area = this.#areas.get(key);
    if (area === undefined) this.#areas.set(key, (area = this.#areaAmong(covers, chosen)));
    return area;
  }

  #areaAmong(covers: readonly number[], chosen: readonly number[]): number {
    const winners = new Map<string, number>();
    for (const shape of chosen) winners.set(this.#shapes[shape]!.group, shape);
    for (const shape of covers) {
      const { group } = this.#shapes[shape]!;
      const winner = winners.get(group);
      if (winner === undefined || (!chosen.includes(winner) && shape < winner)) {
        winners.set(group, shape);
      }
    }
    const keys = (layer: BoundaryLayer['layer']): readonly string[] =>
      [...winners.values()]
        .filter((shape) => this.#shapes[shape]!.layer === layer)
        .map((shape) => this.#shapes[shape]!.banded.polygon.key)
        .sort();
    return this.#areaOf({
      county: keys('county')[0] ?? '',
      place: keys('place')[0] ?? '',
      town: keys('town')[0] ?? '',
      districts: keys('district'),
      doubts: keys('doubt').map((key) => key.slice(0, key.indexOf('/'))),
    });
  }
}

function contentOf(
  shapes: readonly Shape[],
  key: number,
  inTile: ReadonlyMap<number, readonly number[]>,
): Content {
  const covers: number[] = [];
  const parts: Part[] = [];
  const cell: Cell = {
    x: (key & 1023) * TILE_SIZE - 180_000_000,
    y: (key >> 10) * TILE_SIZE - 90_000_000,
    size: TILE_SIZE,
  };
  for (const [shape, vertices] of [...inTile].sort((one, other) => one[0] - other[0])) {
    const { banded } = shapes[shape]!;
    const edges = touching(banded, vertices, cell);
    if (edges.length > 0) parts.push({ shape, edges });
    else if (banded.contains(cell.x, cell.y)) covers.push(shape);
  }
  return { covers, parts };
}

function table(rows: ReadonlyMap<number, Uint8Array>): ByteTable<number> {
  return { get: (key) => rows.get(key) ?? null };
}

/** A table of rows that are numbered from 0 without gaps. An array, because a map is slower. */
function listed(rows: ReadonlyMap<number, Uint8Array>): ByteTable<number> {
  const list = [...rows.values()];
  return { get: (key) => list[key] ?? null };
}

/** Builds the point index of layers. */
export function buildCells(
  layers: readonly BoundaryLayer[],
  areaOf: AreaOfHits,
  progress: Progress,
): CellTables {
  const shapes = shapesOf(layers);
  const builder = new Builder(shapes, areaOf);
  const tiles = bucket(shapes);
  const keys = [...tiles.keys()].sort((one, other) => one - other);
  keys.forEach((key, index) => {
    builder.tile(key, contentOf(shapes, key, tiles.get(key)!));
    tiles.delete(key);
    if (index % 64 === 0 || index === keys.length - 1) progress('overlay', index + 1, keys.length);
  });
  const { leaves, overlaps } = builder;
  return {
    tiles: builder.tiles,
    leaves,
    overlaps,
    index: new CellIndex(table(builder.tiles), listed(leaves)),
  };
}
