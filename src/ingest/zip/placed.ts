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
/** Clusters have the numbers of ZIPs. */
const CLUSTERS = 100_000;
const NOT_MET = -1;

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
  /**
   * Codes of the cities and towns that bear one of its postal names, and of the city that holds its
   * point: post offices in large cities are called by parts of them (Flushing, Van Nuys).
   */
  readonly named: ReadonlySet<string>;
  /** It has land of its own; boxes and buildings would take it from others. */
  readonly landed: boolean;
}

/** What a degree of longitude is of one of latitude. */
function shrinkAt(lat: number): number {
  return Math.cos((lat / MICRO) * (Math.PI / 180));
}

/** Kilometres between two spots, good for neighbours; `shrink` is that of the first one. */
export function kilometres(one: Spot, other: Spot, shrink = shrinkAt(one.lat)): number {
  return length(one.lat - other.lat, (one.lng - other.lng) * shrink) * KM;
}

/** The length of a line: a fifth of what Math.hypot takes, which looks out for overflow. */
export function length(north: number, east: number): number {
  return Math.sqrt(north * north + east * east);
}

/**
 * ZIPs that have land of their own. Postal lists put boxes and buildings at the middle of their
 * city, several at one spot: of 3,177 ZIPs whose first point another has too, the Census Bureau
 * tabulates 383. Such count only where no ZIP of their name has a point of its own.
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

/** The ZIP at the first of its points that can be trusted; null where none can. */
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
  /** ZIPs whose points are not apart have the number of the first of them. */
  readonly cluster: number;
}

/** ZIPs that a spot may belong to, with their points. */
export interface Choice {
  readonly zips: readonly PlacedZip[];
  readonly lats: readonly number[];
  readonly lngs: readonly number[];
  /** Whether the ZIP has land of its own. */
  readonly landed: readonly boolean[];
  /** Number of each one's cluster: points that are not apart are of one. */
  readonly clusters: readonly number[];
  readonly clusterIds: readonly number[];
}

/** ZIPs found by where their points are. */
export class ZipMap {
  readonly #cells = new Map<number, MappedZip[]>();
  readonly #tiles = new Map<number, readonly MappedZip[]>();
  readonly #choices = new Map<number, Choice>();
  readonly #mapped = new Map<PlacedZip, MappedZip>();
  /** Place of each cluster among those of the choice that is made, NOT_MET else. */
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

  /** Adds to `found` the ZIPs in the cells that are `ring` away from one. */
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

  /** Those of a county (all where it is ""). */
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

/** The nearest ZIP of each of the nearest clusters, nearest first; of equals the first added. */
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
