/** How likely a spot of land is a ZIP's, and what land a ZIP may reach. */
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { AreaTuple } from '../model.js';
import { isCity, tupleKey } from './cities.js';
import { type Choice, KM, type PlacedZip, REACH_KM_MAX, SLACK, type ZipMap } from './placed.js';

const RADIANS = Math.PI / 180_000_000;
/** Nearer than this, points of ZIPs are taken to lie alike: they are no centres of anything. */
const NEAREST_KM = 0.1;
/**
 * So much of a city belongs to the ZIPs that bear its name, where there are any: of 24,000 doors in
 * Vermont's cities and villages with such a ZIP 99.5 % do, of 10,000 of Milwaukee's all.
 */
export const NAMED_SHARE = 0.98;
/** A ZIP that is less likely and not near is none that a spot may belong to. */
const LIKELY_MIN = 0.001;

/**
 * Odds of a ZIP whose point is so many kilometres away. The nearer a spot is to a ZIP's point than
 * to those of others, the likelier it is the ZIP's: measured on the doors of Vermont, by ZIP and
 * town, as the fourth power of the distances.
 */
export function nearness(km: number): number {
  const square = Math.max(NEAREST_KM, km) ** 2;
  return 1 / (square * square);
}

const NONE = new Float64Array();

/** Kilometres of a square of microdegrees. */
function kmOf(square: number): number {
  return Math.max(NEAREST_KM, Math.sqrt(square) * KM);
}

/** A square whose kilometres are more for certain, whatever is lost in rounding. */
function squareBeyond(km: number): number {
  return (km / KM) ** 2 * 1.000_001;
}

/** Tells which ZIPs spots may belong to; holds what was last read. */
export class Claims {
  readonly #map: ZipMap;
  /** By the code of the city. */
  readonly #named = new Map<string, PlacedZip[]>();
  /** ZIPs that the spot may belong to: in its county, and near enough beside the others. */
  readonly zips: PlacedZip[] = [];
  readonly kms: number[] = [];
  /** How likely the spot is the ZIP's. */
  readonly likely: number[] = [];
  /** Squares of the distances in microdegrees of latitude: most are compared alone. */
  #squares = new Float64Array(64);
  #clusterKms = new Float64Array(64);
  /** Of the spot last measured: its choice, the odds of all clusters, the nearest two of them. */
  #choice: Choice = {
    zips: [], lats: NONE, lngs: NONE, landed: new Uint8Array(), clusters: new Int32Array(),
    clusterIds: [],
  };
  #sum = 0;
  #first = Infinity;
  #second = Infinity;
  #nearest = -1;

  constructor(map: ZipMap, zips: readonly PlacedZip[]) {
    this.#map = map;
    for (const zip of zips) {
      for (const geoid of zip.named) {
        const named = this.#named.get(geoid);
        if (named === undefined) this.#named.set(geoid, [zip]);
        else named.push(zip);
      }
    }
  }

  /** Reads those of a spot in a city; `county` is "" where ZIPs of any count. */
  readCity(lat: number, lng: number, county: string, geoid: string): void {
    const choice = this.#map.around(lat, lng, county);
    this.zips.length = this.kms.length = this.likely.length = 0;
    this.#measure(choice, lat, lng);
    const named = this.#namedAt(lat, lng, county, geoid);
    const all = named.reduce((odds, { zip, km }) => odds + (zip.landed ? nearness(km) : 0), 0);
    const unnamed = all === 0 ? 1 : 1 - NAMED_SHARE;
    const [most, mostOfNearest] = [SLACK * this.#first, SLACK * this.#second];
    const far = squareBeyond(most);
    for (let at = 0; at < choice.zips.length; at += 1) {
      const cluster = choice.clusters[at]!;
      const isNearest = cluster === this.#nearest;
      if (!isNearest && this.#squares[at]! > far) continue;
      const zip = choice.zips[at]!;
      const km = kmOf(this.#squares[at]!);
      if (km > (isNearest ? mostOfNearest : most)) continue;
      const odds = nearness(km);
      const others = this.#sum - nearness(this.#clusterKms[cluster]!);
      this.zips.push(zip);
      this.kms.push(km);
      this.likely.push(unnamed * (odds / (odds + Math.max(0, others))));
    }
    for (const { zip, km } of named) {
      // A ZIP of boxes takes nothing from others; asked for itself, it is as good as they are.
      const odds = zip.landed ? all : all + nearness(km);
      this.#add(zip, km, NAMED_SHARE * (nearness(km) / odds));
    }
  }

  /**
   * How many times as far as the nearest other ZIP's point a ZIP's is from a spot, `km` away;
   * `choice` are those beside it.
   */
  ratioOf(zip: PlacedZip, choice: Choice, km: number, lat: number, lng: number): number {
    this.#measure(choice, lat, lng);
    const isMate = choice.clusterIds[this.#nearest] === this.#map.clusterOf(zip);
    return km / (isMate ? this.#second : this.#first);
  }

  /** How likely the spot that a ratio was last told of is the ZIP's, whose point is `km` away. */
  likelyOf(zip: PlacedZip, km: number): number {
    const cluster = this.#choice.clusterIds.indexOf(this.#map.clusterOf(zip));
    const own = nearness(km);
    const mates = cluster < 0 ? 0 : nearness(this.#clusterKms[cluster]!);
    return own / (own + Math.max(0, this.#sum - mates));
  }

  #add(zip: PlacedZip, km: number, likely: number): void {
    const known = this.zips.indexOf(zip);
    if (known >= 0) this.likely[known]! += likely;
    else if (likely >= LIKELY_MIN) {
      this.zips.push(zip);
      this.kms.push(km);
      this.likely.push(likely);
    }
  }

  /** ZIPs of the county that bear the city's name, wherever their points lie. */
  #namedAt(
    lat: number, lng: number, county: string, geoid: string,
  ): readonly { readonly zip: PlacedZip; readonly km: number }[] {
    const shrink = Math.cos(lat * RADIANS);
    const found: { readonly zip: PlacedZip; readonly km: number }[] = [];
    for (const zip of this.#named.get(geoid) ?? []) {
      if (county !== '' && !zip.counties.includes(county)) continue;
      const km = Math.hypot(zip.point.lat - lat, (zip.point.lng - lng) * shrink) * KM;
      if (km <= REACH_KM_MAX) found.push({ zip, km });
    }
    return found;
  }

  /** Measures the distances of a choice's ZIPs and clusters from a spot. */
  #measure(choice: Choice, lat: number, lng: number): void {
    const { lats, lngs, landed, clusters, clusterIds } = choice;
    if (lats.length > this.#squares.length) {
      this.#squares = new Float64Array(lats.length * 2);
      this.#clusterKms = new Float64Array(lats.length * 2);
    }
    // First the squares of each cluster's least distance; roots keep their order.
    const [squares, clusterKms] = [this.#squares, this.#clusterKms];
    clusterKms.fill(Infinity, 0, clusterIds.length);
    const shrink = Math.cos(lat * RADIANS);
    for (let at = 0; at < lats.length; at += 1) {
      const north = lats[at]! - lat;
      const east = (lngs[at]! - lng) * shrink;
      const square = north * north + east * east;
      squares[at] = square;
      const cluster = clusters[at]!;
      if (landed[at] === 1 && square < clusterKms[cluster]!) clusterKms[cluster] = square;
    }
    let [sum, first, second, nearest] = [0, Infinity, Infinity, -1];
    for (let cluster = 0; cluster < clusterIds.length; cluster += 1) {
      if (clusterKms[cluster] === Infinity) continue;
      const km = kmOf(clusterKms[cluster]!);
      clusterKms[cluster] = km;
      sum += nearness(km);
      if (km < first) [first, second, nearest] = [km, first, cluster];
      else if (km < second) second = km;
    }
    [this.#choice, this.#sum] = [choice, sum];
    [this.#first, this.#second, this.#nearest] = [first, second, nearest];
  }
}

/*
 * Land of a ZIP by combinations of jurisdictions, and how much of it is lived on.
 */

const PPM = 1_000_000;
/**
 * A square kilometre of a city has so many times the doors of one outside, by square kilometre of
 * the ZIP: those outside are about as many in a large ZIP as in a small one. Measured on the doors
 * of Vermont and of Baltimore County, where most points of ZIPs lie outside cities.
 */
const DENSITY_BY_KM2 = 0.12;
const DENSITY_MIN = 3;
const DENSITY_MAX = 1_000;

/**
 * How many times as densely as other land a city is lived in, in a ZIP of so many km². `open` is
 * the share of the points of ZIPs around that lie outside cities: where few do, little is lived
 * there, but it is water, parks and works.
 */
export function cityDensity(km2: number, open: number): number {
  const times = Math.max(DENSITY_MIN, DENSITY_BY_KM2 * km2);
  return Math.min(DENSITY_MAX, times / open);
}

/** The share of ZIPs whose points lie outside cities, of so many; never 0 for certain. */
export function openShare(open: number, all: number): number {
  return (open + 0.5) / (all + 1);
}

/** A combination of jurisdictions that a ZIP may reach. */
export interface Reached {
  readonly tuple: AreaTuple;
  /** Parts per million of the ZIP's own land, as it is lived on; 0 where it reaches at most. */
  readonly land: number;
  /** The sampled spot nearest to the ZIP's point. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

interface Hit {
  readonly tuple: AreaTuple;
  /** Square kilometres that are likely the ZIP's. */
  own: number;
  nearest: number;
  lat: number;
  lng: number;
}

function takeNearer(hit: Hit, km: number, lat: number, lng: number): void {
  if (km >= hit.nearest) return;
  hit.nearest = km;
  hit.lat = lat;
  hit.lng = lng;
}

/** What was sampled of one ZIP. */
export class ZipLand {
  /** By the tuple itself, since its key costs more than all else of a sample. */
  readonly #hits = new Map<AreaTuple, Hit>();

  /** A spot that the ZIP may reach, `km` from its point; `own` square kilometres of it its own. */
  add(tuple: AreaTuple, lat: number, lng: number, km: number, own: number): void {
    let hit = this.#hits.get(tuple);
    if (hit === undefined) {
      hit = { tuple, own: 0, nearest: km, lat, lng };
      this.#hits.set(tuple, hit);
    }
    takeNearer(hit, km, lat, lng);
    hit.own += own;
  }

  /** Whether any spot of the city or town was. */
  has(geoid: string): boolean {
    for (const { town, place } of this.#hits.keys()) if ((town || place) === geoid) return true;
    return false;
  }

  /** Whether any spot outside cities was, in one of the counties. */
  hasOpen(counties: readonly string[]): boolean {
    for (const tuple of this.#hits.keys()) {
      if (!isCity(tuple) && counties.includes(tuple.county)) return true;
    }
    return false;
  }

  /** All of it in the counties, the most lived on first; `open` as `cityDensity` has it. */
  reached(counties: readonly string[], open: number): Reached[] {
    const hits = new Map<string, Hit>();
    for (const hit of this.#hits.values()) {
      if (!counties.includes(hit.tuple.county)) continue;
      const key = tupleKey(hit.tuple);
      const same = hits.get(key);
      if (same === undefined) hits.set(key, { ...hit });
      else {
        same.own += hit.own;
        takeNearer(same, hit.nearest, hit.lat, hit.lng);
      }
    }
    const all = [...hits.values()];
    const density = cityDensity(all.reduce((sum, { own }) => sum + own, 0), open);
    const lived = ({ tuple, own }: Hit): number => (isCity(tuple) ? own * density : own);
    const total = all.reduce((sum, hit) => sum + lived(hit), 0);
    return all.map((hit) => ({ hit, own: total === 0 ? 0 : lived(hit) / total }))
      .sort((a, b) => b.own - a.own || (tupleKey(a.hit.tuple) < tupleKey(b.hit.tuple) ? -1 : 1))
      .map(({ hit: { tuple, lat, lng }, own }) =>
        ({ tuple, land: Math.round(own * PPM), lat, lng }));
  }
}
