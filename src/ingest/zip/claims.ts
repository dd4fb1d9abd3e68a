/** How likely a spot of land belongs to each ZIP. */
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
/** Points of ZIPs that are nearer than this count as equally far: none is the centre of its ZIP. */
const NEAREST_KM = 0.1;
/**
 * Share of a city that belongs to the ZIPs with its name or with their point in it, where there are
 * any: of 27,000 doors in Vermont's cities and villages with such a ZIP 99.8 % do, of 10,000 of
 * Milwaukee's all.
 */
export const NAMED_SHARE = 0.98;
/** A ZIP that is less likely than this and not near is left out. */
const LIKELY_MIN = 0.001;

/**
 * Odds of a ZIP whose point is `km` away. The nearer a spot is to a ZIP's point than to those of
 * others, the likelier it belongs to the ZIP: measured on the doors of Vermont, by ZIP and town, as
 * the fourth power of the distances.
 */
export function nearness(km: number): number {
  const least = Math.max(NEAREST_KM, km);
  const square = least * least;
  return 1 / (square * square);
}

/** Kilometres, from a squared distance in microdegrees. */
function kmOf(square: number): number {
  return Math.max(NEAREST_KM, Math.sqrt(square) * KM);
}

/** A squared distance that is certainly more than `km`, whatever the rounding. */
function squareBeyond(km: number): number {
  return (km / KM) ** 2 * 1.000_001;
}

/** Indexes of the distances to the nearest two clusters. */
const FIRST = 0;
const SECOND = 1;

/** Finds the ZIPs that spots may belong to; its members hold the result of the last read. */
export class Claims {
  readonly #map: ZipMap;
  /** By the code of the city. */
  readonly #named = new Map<string, PlacedZip[]>();
  /**
   * ZIPs that the spot may belong to: in its county, and near enough compared with others. Only the
   * first `count` entries are valid, since the array is reused for each spot.
   */
  readonly zips: PlacedZip[] = [];
  readonly kms: number[] = [];
  /** Likelihood of each of these ZIPs. */
  readonly likely: number[] = [];
  count = 0;
  /** Index of each one's cluster in the choice. */
  readonly #clusterOf: number[] = [];
  /** ZIPs with the name of the city last read, with their distances. */
  readonly #bearers: PlacedZip[] = [];
  readonly #bearerKms: number[] = [];
  /** Squared distances in microdegrees of latitude, since most distances are only compared. */
  #squares = new Float64Array(64);
  #clusterKms = new Float64Array(64);
  /**
   * For the spot last measured: the choice, the distances of the nearest two clusters, and the
   * nearest.
   */
  #choice: Choice = { zips: [], lats: [], lngs: [], landed: [], clusters: [], clusterIds: [] };
  /**
   * Kilometres. An array, because V8 allocates a new object whenever a field with a fraction
   * changes.
   */
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

  /** Reads the ZIPs of a spot in a city; `county` is "" if ZIPs of any county count. */
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
   * As `readCity`, without likelihoods: the ZIPs that a spot on a city's line may belong to.
   * Returns how many of them it may belong to because of where it lies; the others have the city's
   * name.
   */
  readReach(lat: number, lng: number, geoid: string): number {
    const odds = this.#readNear(lat, lng, '', geoid);
    const near = this.count;
    this.#addNamed(odds);
    return near;
  }

  /**
   * Reads ZIPs that are near enough, without likelihoods; returns the odds of all with the city's
   * name.
   */
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

  /** Index of a ZIP's cluster in a choice; -1 where it is not there. */
  placeIn(choice: Choice, zip: PlacedZip): number {
    return choice.clusterIds.indexOf(this.#map.clusterOf(zip));
  }

  /**
   * The distance of a ZIP's point from a spot (`km`), as a multiple of that of the nearest other
   * ZIP in `choice`; `own` is the index of the ZIP's cluster there.
   */
  ratioOf(choice: Choice, own: number, km: number, lat: number, lng: number): number {
    this.#measure(choice, lat, lng);
    const isMate = this.#nearest >= 0 && this.#nearest === own;
    return km / this.#least[isMate ? SECOND : FIRST]!;
  }

  /** How likely the spot of the last `ratioOf` belongs to the ZIP, whose point is `km` away. */
  likelyOf(own: number, km: number): number {
    const odds = nearness(km);
    const mates = own < 0 ? 0 : nearness(this.#clusterKms[own]!);
    return odds / (odds + Math.max(0, this.#sumOdds() - mates));
  }

  /** Adds ZIPs with the city's name; `all` are their odds. */
  #addNamed(all: number): void {
    for (let at = 0; at < this.#bearers.length; at += 1) {
      const zip = this.#bearers[at]!;
      const km = this.#bearerKms[at]!;
      // A ZIP of boxes does not reduce the odds of others; for itself, it counts as one more.
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
   * Reads the ZIPs of the county with the city's name, at any distance; returns the odds of those
   * with land.
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
    // Squares of the least distance of each cluster; their order is that of the distances.
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
