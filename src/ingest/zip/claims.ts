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
  /** Place of each one's cluster in the choice. */
  readonly #clusterOf: number[] = [];
  /** ZIPs that bear the name of the city last read, with their kilometres. */
  readonly #bearers: PlacedZip[] = [];
  readonly #bearerKms: number[] = [];
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
    const all = this.#readNear(lat, lng, county, geoid);
    const unnamed = all === 0 ? 1 : 1 - NAMED_SHARE;
    const sum = this.#sumOdds();
    for (let at = 0; at < this.count; at += 1) {
      const odds = nearness(this.kms[at]!);
      const others = sum - nearness(this.#clusterKms[this.#clusterOf[at]!]!);
      this.likely[at] = unnamed * (odds / (odds + Math.max(0, others)));
    }
    this.#addNamed(all);
  }

  /**
   * The same without how likely they are: those that a spot on a city's line may belong to. Returns
   * how many of them do by its place; to the others it may since they bear the city's name.
   */
  readReach(lat: number, lng: number, geoid: string): number {
    const odds = this.#readNear(lat, lng, '', geoid);
    const near = this.count;
    this.#addNamed(odds);
    return near;
  }

  /** Reads those near enough, without likelihoods; returns the odds of all that bear the name. */
  #readNear(lat: number, lng: number, county: string, geoid: string): number {
    const choice = this.#map.around(lat, lng, county);
    this.#measure(choice, lat, lng);
    const most = SLACK * this.#least[FIRST]!;
    const mostOfNearest = SLACK * this.#least[SECOND]!;
    const far = squareBeyond(most);
    const squares = this.#squares;
    let count = 0;
    for (let at = 0; at < choice.zips.length; at += 1) {
      const cluster = choice.clusters[at]!;
      const isNearest = cluster === this.#nearest;
      if (!isNearest && squares[at]! > far) continue;
      const km = kmOf(squares[at]!);
      if (km > (isNearest ? mostOfNearest : most)) continue;
      this.zips[count] = choice.zips[at]!;
      this.kms[count] = km;
      this.likely[count] = 0;
      this.#clusterOf[count] = cluster;
      count += 1;
    }
    this.count = count;
    return this.#readNamed(lat, lng, county, geoid);
  }

  /** The place of a ZIP's cluster among those of a choice, -1 where it has none there. */
  placeIn(choice: Choice, zip: PlacedZip): number {
    return choice.clusterIds.indexOf(this.#map.clusterOf(zip));
  }

  /**
   * How many times as far as the nearest other ZIP's point a ZIP's is from a spot, `km` away;
   * `choice` are those beside it, `own` the place of its cluster there.
   */
  ratioOf(choice: Choice, own: number, km: number, lat: number, lng: number): number {
    this.#measure(choice, lat, lng);
    const isMate = this.#nearest >= 0 && this.#nearest === own;
    return km / this.#least[isMate ? SECOND : FIRST]!;
  }

  /** How likely the spot that a ratio was last told of is the ZIP's, whose point is `km` away. */
  likelyOf(own: number, km: number): number {
    const odds = nearness(km);
    const mates = own < 0 ? 0 : nearness(this.#clusterKms[own]!);
    return odds / (odds + Math.max(0, this.#sumOdds() - mates));
  }

  /** Adds those that bear the city's name; `all` are their odds. */
  #addNamed(all: number): void {
    for (let at = 0; at < this.#bearers.length; at += 1) {
      const zip = this.#bearers[at]!;
      const km = this.#bearerKms[at]!;
      // A ZIP of boxes takes nothing from others; asked for itself, it is as good as they are.
      const odds = zip.landed ? all : all + nearness(km);
      this.#add(zip, km, NAMED_SHARE * (nearness(km) / odds));
    }
  }

  #add(zip: PlacedZip, km: number, likely: number): void {
    for (let known = 0; known < this.count; known += 1) {
      if (this.zips[known] !== zip) continue;
      this.likely[known]! += likely;
      return;
    }
    if (likely < LIKELY_MIN) return;
    this.zips[this.count] = zip;
    this.kms[this.count] = km;
    this.likely[this.count] = likely;
    this.count += 1;
  }

  /**
   * Reads the ZIPs of the county that bear the city's name, wherever their points lie; returns the
   * odds of those with land.
   */
  #readNamed(lat: number, lng: number, county: string, geoid: string): number {
    this.#bearers.length = 0;
    this.#bearerKms.length = 0;
    const named = this.#named.get(geoid);
    if (named === undefined) return 0;
    const shrink = Math.cos(lat * RADIANS);
    let odds = 0;
    for (const zip of named) {
      if (county !== '' && !zip.counties.includes(county)) continue;
      const km = length(zip.point.lat - lat, (zip.point.lng - lng) * shrink) * KM;
      if (km > REACH_KM_MAX) continue;
      this.#bearers.push(zip);
      this.#bearerKms.push(km);
      if (zip.landed) odds += nearness(km);
    }
    return odds;
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
