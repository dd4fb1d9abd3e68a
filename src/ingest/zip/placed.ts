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

/** Kilometres between two spots, good for neighbours. */
export function kilometres(one: Spot, other: Spot): number {
  const east = (one.lng - other.lng) * Math.cos((one.lat / MICRO) * (Math.PI / 180));
  return length(one.lat - other.lat, east) * KM;
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
      const near = this.#ring(Math.floor(lat / CELL), Math.floor(lng / CELL), 0).find(
        (other) => kilometres(zip.point, other.zip.point) <= APART_KM,
      );
      const mapped = { zip, cluster: near?.cluster ?? zip.zip };
      this.#mapped.set(zip, mapped);
      const key = Math.floor(lat / CELL) * COLUMNS + Math.floor(lng / CELL);
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [mapped]);
      else cell.push(mapped);
    }
  }

  clusterOf(zip: PlacedZip): number {
    return this.#mapped.get(zip)?.cluster ?? zip.zip;
  }

  /** ZIPs in the cells that are `ring` away from one. */
  #ring(row: number, column: number, ring: number): MappedZip[] {
    const found: MappedZip[] = [];
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
      for (const {
        zip: { point: other, landed },
      } of this.#ring(row, column, ring)) {
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
  beside({ point }: PlacedZip): readonly MappedZip[] {
    const row = Math.floor(point.lat / CELL);
    const column = Math.floor(point.lng / CELL);
    const found = this.#ring(row, column, 0);
    for (let ring = 1; ring <= RINGS_MAX; ring += 1) {
      if (ring > 1 && found.length >= BESIDE_MAX) break;
      found.push(...this.#ring(row, column, ring));
    }
    const sorted: { readonly mapped: MappedZip; readonly km: number }[] = [];
    for (const mapped of found) {
      const { landed, point: other } = mapped.zip;
      if (landed) sorted.push({ mapped, km: kilometres(point, other) });
    }
    sorted.sort((a, b) => a.km - b.km);
    const heads = new Map<number, MappedZip>();
    for (const { mapped } of sorted) {
      if (!heads.has(mapped.cluster)) heads.set(mapped.cluster, mapped);
      if (heads.size === BESIDE_MAX) break;
    }
    return [...heads.values()];
  }

  /** Those of a county (all where it is ""). */
  choose(among: readonly MappedZip[], county: string): Choice {
    const own = county === '' ? among : among.filter(({ zip }) => zip.counties.includes(county));
    const clusterIds: number[] = [];
    const clusters = own.map(({ cluster }) => {
      if (this.#met[cluster] === NOT_MET) this.#met[cluster] = clusterIds.push(cluster) - 1;
      return this.#met[cluster]!;
    });
    for (const cluster of clusterIds) this.#met[cluster] = NOT_MET;
    return {
      zips: own.map(({ zip }) => zip),
      lats: own.map(({ zip }) => zip.point.lat),
      lngs: own.map(({ zip }) => zip.point.lng),
      landed: own.map(({ zip }) => zip.landed),
      clusters,
      clusterIds,
    };
  }

  #near(middle: Spot): readonly MappedZip[] {
    const row = Math.floor(middle.lat / CELL);
    const column = Math.floor(middle.lng / CELL);
    const narrow = Math.cos((middle.lat / MICRO) * (Math.PI / 180)) * CELL * KM;
    const found: { readonly mapped: MappedZip; readonly km: number }[] = [];
    let bound = Infinity;
    for (let ring = 0; ring <= RINGS_MAX && (ring - 1) * narrow <= bound; ring += 1) {
      for (const mapped of this.#ring(row, column, ring)) {
        const km = kilometres(middle, mapped.zip.point);
        found.push({ mapped, km });
        if (mapped.zip.landed) bound = Math.min(bound, SLACK * (km + TILE_KM) + TILE_KM);
      }
    }
    const most = Math.min(bound, REACH_KM_MAX + TILE_KM);
    return found.filter(({ km }) => km <= most).map(({ mapped }) => mapped);
  }
}
