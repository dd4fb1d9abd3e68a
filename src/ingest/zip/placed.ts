/** ZIPs at their points, and which of them a spot of land may belong to. */
import type { AreaTuple } from '../model.js';
import type { PostalZip } from './counties.js';
import type { ZipPoint } from './zip-facts.js';

const MICRO = 1_000_000;
/** Kilometres in a microdegree of latitude. */
export const KM = 111.32 / MICRO;
/** Boxes and buildings with a ZIP of their own stand closer than this to another. */
const APART_KM = 0.5;
/** A ZIP's land is looked for no farther from its point. */
export const REACH_KM_MAX = 60;
/** So many times as far as the nearest other ZIP's point a spot may lie. */
export const SLACK = 2;
/** Quarter degrees. */
const CELL = MICRO / 4;
const RINGS_MAX = 6;
/** ZIPs apart from each other that are looked at around one. */
export const BESIDE_MAX = 24;
/** Twentieths of a degree share one list of ZIPs. */
const TILE = MICRO / 20;
/** From the middle of a tile to its corners. */
const TILE_KM = 0.71 * TILE * KM;
const COLUMNS = 10_000;
const COUNTY_CODES = 100_000;

export interface Spot {
  readonly lat: number;
  readonly lng: number;
}

export type TupleAt = (lat: number, lng: number) => AreaTuple | null;

/** A ZIP whose point lies in one of its counties; points are wrong by hundreds of kilometres. */
export interface PlacedZip {
  readonly zip: number;
  readonly point: ZipPoint;
  /** Jurisdictions at the point. */
  readonly here: AreaTuple;
  readonly counties: readonly string[];
  /** Codes of the cities and towns that bear one of its postal names. */
  readonly named: ReadonlySet<string>;
  /** It has land of its own; boxes and buildings would take it from others. */
  readonly landed: boolean;
}

/** Kilometres between two spots, good for neighbours. */
export function kilometres(one: Spot, other: Spot): number {
  const east = (one.lng - other.lng) * Math.cos((one.lat / MICRO) * (Math.PI / 180));
  return Math.hypot(one.lat - other.lat, east) * KM;
}

/**
 * ZIPs that have land of their own. Postal lists put boxes and buildings at the middle of their
 * city, several at one spot: of 3,177 ZIPs whose first point another has too, the Census Bureau
 * tabulates 383. Such count only where no ZIP of their name has a point of its own.
 */
export function landedZips(
  points: readonly ZipPoint[], listed: ReadonlySet<number>,
): ReadonlySet<number> {
  const firsts = new Map<number, ZipPoint>();
  for (const point of points) {
    if (listed.has(point.zip) && !firsts.has(point.zip)) firsts.set(point.zip, point);
  }
  const at = new Map<string, number>();
  const spotOf = ({ lat, lng }: ZipPoint): string => `${lat} ${lng}`;
  const nameOf = ({ state, name }: ZipPoint): string => `${state} ${name}`;
  for (const point of firsts.values()) at.set(spotOf(point), (at.get(spotOf(point)) ?? 0) + 1);
  const isAlone = (point: ZipPoint): boolean => at.get(spotOf(point)) === 1;
  const names = new Set([...firsts.values()].filter(isAlone).map(nameOf));
  return new Set([...firsts].filter(([, point]) => isAlone(point) || !names.has(nameOf(point)))
    .map(([zip]) => zip));
}

/** The ZIP at the first of its points that can be trusted; null where none can. */
export function placeZip(
  { zip, counties }: PostalZip, points: readonly ZipPoint[], tupleAt: TupleAt,
  named: ReadonlySet<string>, landed: boolean,
): PlacedZip | null {
  for (const point of points) {
    const here = tupleAt(point.lat, point.lng);
    if (here !== null && counties.includes(here.county)) {
      return { zip, point, here, counties, named, landed };
    }
  }
  return null;
}

/** ZIPs that a spot may belong to, with their points. */
export interface Choice {
  readonly zips: readonly PlacedZip[];
  readonly lats: Float64Array;
  readonly lngs: Float64Array;
  /** Number of each one's cluster: points that are not apart are of one. */
  readonly clusters: Int32Array;
  readonly clusterIds: readonly number[];
}

/** ZIPs found by where their points are. */
export class ZipMap {
  readonly #cells = new Map<number, PlacedZip[]>();
  readonly #tiles = new Map<number, readonly PlacedZip[]>();
  readonly #choices = new Map<number, Choice>();
  /** ZIPs whose points are not apart have the number of the first of them. */
  readonly #clusters = new Map<PlacedZip, number>();

  constructor(zips: readonly PlacedZip[]) {
    for (const zip of zips) {
      const { lat, lng } = zip.point;
      const near = this.#ring(Math.floor(lat / CELL), Math.floor(lng / CELL), 0)
        .find((other) => kilometres(zip.point, other.point) <= APART_KM);
      this.#clusters.set(zip, near === undefined ? zip.zip : this.clusterOf(near));
      const key = Math.floor(lat / CELL) * COLUMNS + Math.floor(lng / CELL);
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [zip]);
      else cell.push(zip);
    }
  }

  clusterOf(zip: PlacedZip): number {
    return this.#clusters.get(zip) ?? zip.zip;
  }

  /** ZIPs in the cells that are `ring` away from one. */
  #ring(row: number, column: number, ring: number): PlacedZip[] {
    const found: PlacedZip[] = [];
    for (let r = row - ring; r <= row + ring; r += 1) {
      const edge = r === row - ring || r === row + ring;
      for (let c = column - ring; c <= column + ring; c += edge ? 1 : 2 * ring) {
        const cell = this.#cells.get(r * COLUMNS + c);
        if (cell !== undefined) found.push(...cell);
        if (ring === 0) break;
      }
    }
    return found;
  }

  /** Kilometres to the nearest ZIP with land whose point is apart; Infinity where none is near. */
  spacing(point: Spot): number {
    const row = Math.floor(point.lat / CELL);
    const column = Math.floor(point.lng / CELL);
    let least = Infinity;
    for (let ring = 0; ring <= RINGS_MAX && (ring < 2 || least === Infinity); ring += 1) {
      for (const { point: other, landed } of this.#ring(row, column, ring)) {
        const km = kilometres(point, other);
        if (landed && km > APART_KM && km < least) least = km;
      }
    }
    return least;
  }

  /** Every ZIP of a county (any where it is "") that a spot of the tile around may belong to. */
  around(lat: number, lng: number, county: string): Choice {
    const row = Math.floor(lat / TILE);
    const column = Math.floor(lng / TILE);
    const key = row * COLUMNS + column;
    const choiceKey = key * COUNTY_CODES + Number(county);
    const known = this.#choices.get(choiceKey);
    if (known !== undefined) return known;
    let tile = this.#tiles.get(key);
    if (tile === undefined) {
      tile = this.#near({ lat: (row + 0.5) * TILE, lng: (column + 0.5) * TILE });
      this.#tiles.set(key, tile);
    }
    const choice = this.choose(tile, county);
    this.#choices.set(choiceKey, choice);
    return choice;
  }

  /** The nearest ZIPs with land around the point of one, apart from each other. */
  beside({ point }: PlacedZip): readonly PlacedZip[] {
    const row = Math.floor(point.lat / CELL);
    const column = Math.floor(point.lng / CELL);
    const found = this.#ring(row, column, 0);
    for (let ring = 1; ring <= RINGS_MAX; ring += 1) {
      if (ring > 1 && found.length >= BESIDE_MAX) break;
      found.push(...this.#ring(row, column, ring));
    }
    const sorted = found.filter(({ landed }) => landed)
      .map((zip) => ({ zip, km: kilometres(point, zip.point) })).sort((a, b) => a.km - b.km);
    const heads = new Map<number, PlacedZip>();
    for (const { zip } of sorted) {
      const cluster = this.clusterOf(zip);
      if (!heads.has(cluster)) heads.set(cluster, zip);
      if (heads.size === BESIDE_MAX) break;
    }
    return [...heads.values()];
  }

  /** Those of a county (all where it is ""). */
  choose(among: readonly PlacedZip[], county: string): Choice {
    const zips = among.filter(({ counties }) => county === '' || counties.includes(county));
    const clusterIds = [...new Set(zips.map((zip) => this.clusterOf(zip)))];
    return {
      zips,
      lats: Float64Array.from(zips, ({ point }) => point.lat),
      lngs: Float64Array.from(zips, ({ point }) => point.lng),
      clusters: Int32Array.from(zips, (zip) => clusterIds.indexOf(this.clusterOf(zip))),
      clusterIds,
    };
  }

  #near(middle: Spot): readonly PlacedZip[] {
    const row = Math.floor(middle.lat / CELL);
    const column = Math.floor(middle.lng / CELL);
    const narrow = Math.cos((middle.lat / MICRO) * (Math.PI / 180)) * CELL * KM;
    const found: { readonly zip: PlacedZip; readonly km: number }[] = [];
    let bound = Infinity;
    for (let ring = 0; ring <= RINGS_MAX && (ring - 1) * narrow <= bound; ring += 1) {
      for (const zip of this.#ring(row, column, ring)) {
        const km = kilometres(middle, zip.point);
        found.push({ zip, km });
        if (zip.landed) bound = Math.min(bound, SLACK * (km + TILE_KM) + TILE_KM);
      }
    }
    const most = Math.min(bound, REACH_KM_MAX + TILE_KM);
    return found.filter(({ km }) => km <= most).map(({ zip }) => zip);
  }
}
