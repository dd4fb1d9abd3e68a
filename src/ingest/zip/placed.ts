/** Places ZIPs at their points, and finds those that a spot of land may belong to. */
import type { AreaTuple } from '../model.js';
import type { PostalZip } from './counties.js';
import type { ZipPoint } from './zip-facts.js';

const MICRO = 1_000_000;
/** Kilometres in a microdegree of latitude. */
export const KM = 111.32 / MICRO;
/**
 * ZIPs whose points are nearer to each other are not apart, such as those of boxes and buildings.
 */
const APART_KM = 0.5;
/** Greatest distance from its point at which a ZIP's land is searched. */
export const REACH_KM_MAX = 60;
/** A spot may be this many times as far from a ZIP's point as from the nearest other one. */
export const SLACK = 2;
/** Size of a cell: a quarter of a degree. */
const CELL = MICRO / 4;
const RINGS_MAX = 6;
/** How many ZIPs around one, apart from each other, are used. */
export const BESIDE_MAX = 24;
/** Size of a tile, whose spots share a list of ZIPs: a twentieth of a degree. */
const TILE = MICRO / 20;
/** Distance from the middle of a tile to its corners. */
const TILE_KM = 0.71 * TILE * KM;
const COLUMNS = 10_000;
const COUNTY_CODES = 100_000;
/** Clusters are numbered by ZIPs, of which there are so many. */
const CLUSTERS = 100_000;
const NOT_MET = -1;

export interface Spot {
  readonly lat: number;
  readonly lng: number;
}

export type TupleAt = (lat: number, lng: number) => AreaTuple | null;

/**
 * A ZIP at a point in one of its counties, because points may be wrong by hundreds of kilometres.
 */
export interface PlacedZip {
  readonly zip: number;
  readonly point: ZipPoint;
  /** The tuple at the point. */
  readonly here: AreaTuple;
  readonly counties: readonly string[];
  /**
   * Codes of cities and towns with one of its postal names, and of the city that contains its
   * point, since post offices in large cities are named for parts of them (Flushing, Van Nuys).
   */
  readonly named: ReadonlySet<string>;
  /**
   * Whether it has land of its own. Boxes and buildings have none, and would take that of others.
   */
  readonly landed: boolean;
}

/** The length of a degree of longitude, as a share of a degree of latitude. */
function shrinkAt(lat: number): number {
  return Math.cos((lat / MICRO) * (Math.PI / 180));
}

/** Kilometres between two spots, exact enough for neighbours; `shrink` is that of the first one. */
export function kilometres(one: Spot, other: Spot, shrink = shrinkAt(one.lat)): number {
  return length(one.lat - other.lat, (one.lng - other.lng) * shrink) * KM;
}

/** The length of a line. Takes a fifth of the time of Math.hypot, which guards against overflow. */
export function length(north: number, east: number): number {
  return Math.sqrt(north * north + east * east);
}

/**
 * ZIPs that have land of their own. Postal lists place boxes and buildings in the middle of their
 * city, several at one spot: of 3,177 ZIPs whose first point another has too, the Census Bureau
 * tabulates 383. They only count if no ZIP with their name has a point of its own.
 */
export function landedZips(
  points: readonly ZipPoint[],
  listed: ReadonlySet<number>,
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
  return new Set(
    [...firsts]
      .filter(([, point]) => isAlone(point) || !names.has(nameOf(point)))
      .map(([zip]) => zip),
  );
}

/** The ZIP at its first point that can be trusted; null where there is none. */
export function placeZip(
  { zip, counties }: PostalZip,
  points: readonly ZipPoint[],
  tupleAt: TupleAt,
  named: ReadonlySet<string>,
  landed: boolean,
): PlacedZip | null {
  for (const point of points) {
    const here = tupleAt(point.lat, point.lng);
    if (here === null || !counties.includes(here.county)) continue;
    const isHeld = here.town === '' && here.place !== '' && here.place !== '?';
    const all = isHeld ? new Set([...named, here.place]) : named;
    return { zip, point, here, counties, named: all, landed };
  }
  return null;
}

/** A ZIP on the map. */
export interface MappedZip {
  readonly zip: PlacedZip;
  /** Number of the first of the ZIPs whose points are not apart. */
  readonly cluster: number;
}

/** ZIPs that a spot may belong to, with their points. */
export interface Choice {
  readonly zips: readonly PlacedZip[];
  readonly lats: readonly number[];
  readonly lngs: readonly number[];
  /** Whether the ZIP has land of its own. */
  readonly landed: readonly boolean[];
  /** The cluster of each ZIP. */
  readonly clusters: readonly number[];
  readonly clusterIds: readonly number[];
}

/** Finds ZIPs by the location of their points. */
export class ZipMap {
  readonly #cells = new Map<number, MappedZip[]>();
  readonly #tiles = new Map<number, readonly MappedZip[]>();
  readonly #choices = new Map<number, Choice>();
  readonly #mapped = new Map<PlacedZip, MappedZip>();
  /** Index of each cluster in the choice being made; NOT_MET for others. */
  readonly #met = new Int32Array(CLUSTERS).fill(NOT_MET);

  constructor(zips: readonly PlacedZip[]) {
    for (const zip of zips) {
      const { lat, lng } = zip.point;
      const key = Math.floor(lat / CELL) * COLUMNS + Math.floor(lng / CELL);
      let cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, (cell = []));
      const shrink = shrinkAt(lat);
      const near = cell.find((other) => kilometres(zip.point, other.zip.point, shrink) <= APART_KM);
      const mapped = { zip, cluster: near?.cluster ?? zip.zip };
      this.#mapped.set(zip, mapped);
      cell.push(mapped);
    }
  }

  clusterOf(zip: PlacedZip): number {
    return this.#mapped.get(zip)?.cluster ?? zip.zip;
  }

  /** Adds the ZIPs in cells that are `ring` cells away from one. */
  #ring(found: MappedZip[], row: number, column: number, ring: number): void {
    for (let r = row - ring; r <= row + ring; r += 1) {
      const edge = r === row - ring || r === row + ring;
      for (let c = column - ring; c <= column + ring; c += edge ? 1 : 2 * ring) {
        const cell = this.#cells.get(r * COLUMNS + c);
        if (cell !== undefined) for (const mapped of cell) found.push(mapped);
        if (ring === 0) break;
      }
    }
  }

  /** Kilometres to the nearest ZIP with land whose point is apart; Infinity where none is near. */
  spacing(point: Spot): number {
    const row = Math.floor(point.lat / CELL);
    const column = Math.floor(point.lng / CELL);
    const shrink = shrinkAt(point.lat);
    const found: MappedZip[] = [];
    let least = Infinity;
    for (let ring = 0; ring <= RINGS_MAX && (ring < 2 || least === Infinity); ring += 1) {
      found.length = 0;
      this.#ring(found, row, column, ring);
      for (const { zip } of found) {
        if (!zip.landed) continue;
        const km = kilometres(point, zip.point, shrink);
        if (km > APART_KM && km < least) least = km;
      }
    }
    return least;
  }

  /**
   * Every ZIP of a county (any where it is "") that spots of the surrounding tile may belong to.
   */
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

  /** The nearest ZIPs with land around a ZIP's point, apart from each other. */
  beside({ point }: PlacedZip): readonly MappedZip[] {
    const row = Math.floor(point.lat / CELL);
    const column = Math.floor(point.lng / CELL);
    const shrink = shrinkAt(point.lat);
    const found: MappedZip[] = [];
    for (let ring = 0; ring <= RINGS_MAX; ring += 1) {
      if (ring > 1 && found.length >= BESIDE_MAX) break;
      this.#ring(found, row, column, ring);
    }
    const nearest = new NearestClusters();
    for (const mapped of found) {
      if (mapped.zip.landed) nearest.add(mapped, kilometres(point, mapped.zip.point, shrink));
    }
    return nearest.zips;
  }

  /** A choice of the ZIPs in a county (all where it is ""). */
  choose(among: readonly MappedZip[], county: string): Choice {
    const clusterIds: number[] = [];
    const [zips, landed]: [PlacedZip[], boolean[]] = [[], []];
    const [lats, lngs, clusters]: [number[], number[], number[]] = [[], [], []];
    for (const { zip, cluster } of among) {
      if (county !== '' && !zip.counties.includes(county)) continue;
      if (this.#met[cluster] === NOT_MET) this.#met[cluster] = clusterIds.push(cluster) - 1;
      zips.push(zip);
      lats.push(zip.point.lat);
      lngs.push(zip.point.lng);
      landed.push(zip.landed);
      clusters.push(this.#met[cluster]!);
    }
    for (const cluster of clusterIds) this.#met[cluster] = NOT_MET;
    return { zips, lats, lngs, landed, clusters, clusterIds };
  }

  #near(middle: Spot): readonly MappedZip[] {
    const row = Math.floor(middle.lat / CELL);
    const column = Math.floor(middle.lng / CELL);
    const shrink = shrinkAt(middle.lat);
    const narrow = shrink * CELL * KM;
    const found: MappedZip[] = [];
    const kms: number[] = [];
    let bound = Infinity;
    for (let ring = 0; ring <= RINGS_MAX && (ring - 1) * narrow <= bound; ring += 1) {
      this.#ring(found, row, column, ring);
      for (let at = kms.length; at < found.length; at += 1) {
        const { zip } = found[at]!;
        const km = kilometres(middle, zip.point, shrink);
        kms.push(km);
        if (zip.landed) bound = Math.min(bound, SLACK * (km + TILE_KM) + TILE_KM);
      }
    }
    const most = Math.min(bound, REACH_KM_MAX + TILE_KM);
    return found.filter((_, at) => kms[at]! <= most);
  }
}

/**
 * Collects the nearest ZIP of each of the nearest clusters, nearest first; of equals, the first
 * one.
 */
class NearestClusters {
  readonly zips: MappedZip[] = [];
  readonly #kms: number[] = [];

  add(mapped: MappedZip, km: number): void {
    const { zips } = this;
    const kms = this.#kms;
    if (zips.length === BESIDE_MAX && km >= kms[BESIDE_MAX - 1]!) return;
    const known = zips.findIndex(({ cluster }) => cluster === mapped.cluster);
    if (known >= 0 && km >= kms[known]!) return;
    let at = known >= 0 ? known : Math.min(zips.length, BESIDE_MAX - 1);
    for (; at > 0 && kms[at - 1]! > km; at -= 1) {
      zips[at] = zips[at - 1]!;
      kms[at] = kms[at - 1]!;
    }
    zips[at] = mapped;
    kms[at] = km;
  }
}
