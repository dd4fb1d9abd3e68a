/** How likely a spot of land is a ZIP's. */
import {
  type Choice,
  KM,
  length,
  type PlacedZip,
  REACH_KM_MAX,
  SLACK,
  type ZipMap,
} from './placed.js';

const RADIANS = Math.PI / 180_000_000;
/** Nearer than this, points of ZIPs are taken to lie alike: they are no centres of anything. */
const NEAREST_KM = 0.1;
/**
 * So much of a city belongs to the ZIPs that bear its name or have their point in it, where there
 * are any: of 27,000 doors in Vermont's cities and villages with such a ZIP 99.8 % do, of 10,000 of
 * Milwaukee's all.
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
  const least = Math.max(NEAREST_KM, km);
  const square = least * least;
  return 1 / (square * square);
}

/** Kilometres of a square of microdegrees. */
function kmOf(square: number): number {
  return Math.max(NEAREST_KM, Math.sqrt(square) * KM);
}

/** A square whose kilometres are more for certain, whatever is lost in rounding. */
function squareBeyond(km: number): number {
  return (km / KM) ** 2 * 1.000_001;
}

/** Places of the kilometres to the nearest two clusters. */
const FIRST = 0;
const SECOND = 1;

/** Tells which ZIPs spots may belong to; holds what was last read. */
export class Claims {
  readonly #map: ZipMap;
  /** By the code of the city. */
  readonly #named = new Map<string, PlacedZip[]>();
  /**
   * ZIPs that the spot may belong to, in its county and near enough beside the others: the first
   * `count` of these, which keep their room from spot to spot.
   */
  readonly zips: PlacedZip[] = [];
  readonly kms: number[] = [];
  /** How likely the spot is the ZIP's. */
  readonly likely: number[] = [];
  count = 0;
  /** Squares of the distances in microdegrees of latitude: most are compared alone. */
  #squares = new Float64Array(64);
  #clusterKms = new Float64Array(64);
  /** Of the spot last measured: its choice, how far the nearest two clusters are, the nearest. */
  #choice: Choice = { zips: [], lats: [], lngs: [], landed: [], clusters: [], clusterIds: [] };
  /** Kilometres, in an array since a field that holds a fraction is made anew at each change. */
  readonly #least = Float64Array.of(Infinity, Infinity);
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
    this.count = 0;
    this.#measure(choice, lat, lng);
    const named = this.#namedAt(lat, lng, county, geoid);
    const all = named.reduce((odds, { zip, km }) => odds + (zip.landed ? nearness(km) : 0), 0);
    const unnamed = all === 0 ? 1 : 1 - NAMED_SHARE;
    const sum = this.#sumOdds();
    const most = SLACK * this.#least[FIRST]!;
    const mostOfNearest = SLACK * this.#least[SECOND]!;
    const far = squareBeyond(most);
    for (let at = 0; at < choice.zips.length; at += 1) {
      const cluster = choice.clusters[at]!;
      const isNearest = cluster === this.#nearest;
      if (!isNearest && this.#squares[at]! > far) continue;
      const zip = choice.zips[at]!;
      const km = kmOf(this.#squares[at]!);
      if (km > (isNearest ? mostOfNearest : most)) continue;
      const odds = nearness(km);
      const others = sum - nearness(this.#clusterKms[cluster]!);
      this.#take(zip, km, unnamed * (odds / (odds + Math.max(0, others))));
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
    return km / this.#least[isMate ? SECOND : FIRST]!;
  }

  /** How likely the spot that a ratio was last told of is the ZIP's, whose point is `km` away. */
  likelyOf(zip: PlacedZip, km: number): number {
    const cluster = this.#choice.clusterIds.indexOf(this.#map.clusterOf(zip));
    const own = nearness(km);
    const mates = cluster < 0 ? 0 : nearness(this.#clusterKms[cluster]!);
    return own / (own + Math.max(0, this.#sumOdds() - mates));
  }

  #add(zip: PlacedZip, km: number, likely: number): void {
    for (let known = 0; known < this.count; known += 1) {
      if (this.zips[known] !== zip) continue;
      this.likely[known]! += likely;
      return;
    }
    if (likely >= LIKELY_MIN) this.#take(zip, km, likely);
  }

  #take(zip: PlacedZip, km: number, likely: number): void {
    this.zips[this.count] = zip;
    this.kms[this.count] = km;
    this.likely[this.count] = likely;
    this.count += 1;
  }

  /** ZIPs of the county that bear the city's name, wherever their points lie. */
  #namedAt(
    lat: number,
    lng: number,
    county: string,
    geoid: string,
  ): readonly { readonly zip: PlacedZip; readonly km: number }[] {
    const shrink = Math.cos(lat * RADIANS);
    const found: { readonly zip: PlacedZip; readonly km: number }[] = [];
    for (const zip of this.#named.get(geoid) ?? []) {
      if (county !== '' && !zip.counties.includes(county)) continue;
      const km = length(zip.point.lat - lat, (zip.point.lng - lng) * shrink) * KM;
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
    const squares = this.#squares;
    const clusterKms = this.#clusterKms;
    clusterKms.fill(Infinity, 0, clusterIds.length);
    const shrink = Math.cos(lat * RADIANS);
    for (let at = 0; at < lats.length; at += 1) {
      const north = lats[at]! - lat;
      const east = (lngs[at]! - lng) * shrink;
      const square = north * north + east * east;
      squares[at] = square;
      const cluster = clusters[at]!;
      if (landed[at]! && square < clusterKms[cluster]!) clusterKms[cluster] = square;
    }
    let first = Infinity;
    let second = Infinity;
    let nearest = -1;
    for (let cluster = 0; cluster < clusterIds.length; cluster += 1) {
      if (clusterKms[cluster] === Infinity) continue;
      const km = kmOf(clusterKms[cluster]!);
      clusterKms[cluster] = km;
      if (km < first) {
        second = first;
        first = km;
        nearest = cluster;
      } else if (km < second) second = km;
    }
    this.#choice = choice;
    this.#least[FIRST] = first;
    this.#least[SECOND] = second;
    this.#nearest = nearest;
  }

  /** The odds of all clusters with land. */
  #sumOdds(): number {
    let sum = 0;
    for (let cluster = 0; cluster < this.#choice.clusterIds.length; cluster += 1) {
      const km = this.#clusterKms[cluster]!;
      if (km !== Infinity) sum += nearness(km);
    }
    return sum;
  }
}
