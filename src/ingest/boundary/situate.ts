/** From what holds a spot to the combination of jurisdictions that counts (decisions part 2). */
import type { AreaTuple, PlaceFact } from '../model.js';
import type { BoundaryFeature, LayerHits } from './overlay.js';

export interface SituateInput {
  readonly places: readonly PlaceFact[];
  /** State FIPS codes whose place boundaries are loaded. */
  readonly placesLoaded: ReadonlySet<string>;
  /** County equivalents that a place stands for: their land is that place's. */
  readonly placeOfCounty: ReadonlyMap<string, string>;
  /** Counties whose land is all one city's, though they are counties too. */
  readonly cityCounties?: ReadonlySet<string>;
  /** State by county key for layers that are no counties ("CA-ON"). */
  readonly provinces: ReadonlySet<string>;
  /** Neighbours of counties, longest border first; without it the largest own county decides. */
  readonly neighbours?: ReadonlyMap<string, readonly string[]>;
}

/** A tuple for what holds a spot, null where nothing does. */
export type Situate = (hits: LayerHits) => AreaTuple | null;

/**
 * Rules, strongest first: a place decides its country and state and, among its own counties, the
 * county, so that slivers of differently drawn borders do not count; an independent city has no
 * county but itself; land of its county that its own, finer boundary leaves out belongs to the
 * county next to it, and to the city where that boundary is not loaded; so does land that a city
 * leaves out of a county which is all its own, if just one county is next to that; no place where
 * boundaries are not loaded, or in doubtful land, is "?".
 */
export function createSituate(input: SituateInput): Situate {
  const places = new Map(input.places.map((place) => [place.geoid, place]));
  const countyOfPlace = new Map([...input.placeOfCounty].map(([county, place]) => [place, county]));
  return (hits) => {
    const place = places.get(hits.place);
    if (place !== undefined) {
      const county = countyOfPlace.get(place.geoid) ?? ownCounty(input, place, hits.county);
      return county === undefined ? null : {
        state: place.geoid.slice(0, 2), county, place: place.geoid,
        town: townOf(hits, county), districts: hits.districts,
      };
    }
    if (input.provinces.has(hits.county)) {
      return { state: hits.county, county: '', place: '', town: '', districts: hits.districts };
    }
    if (hits.county === '') return null;
    const city = input.placeOfCounty.get(hits.county);
    const beside = city !== undefined && places.has(city) ? countyBeside(input, hits.county) : null;
    const county = beside ?? (city === undefined ? soleBeside(input, hits.county) : null)
      ?? hits.county;
    return {
      state: county.slice(0, 2),
      county,
      place: (beside === null ? city : undefined) ?? (isDoubtful(input, hits, county) ? '?' : ''),
      town: townOf(hits, county),
      districts: hits.districts,
    };
  };
}

/** The county hit if it is the place's own, else its own next to that one, else its largest. */
function ownCounty(input: SituateInput, place: PlaceFact, hit: string): string | undefined {
  if (place.counties.includes(hit)) return hit;
  const near = input.neighbours?.get(hit) ?? [];
  return place.counties.find((county) => near.includes(county)) ?? place.counties[0];
}

/**
 * The county around an independent city: of the same state, with the longest border, not itself
 * such a city. Null where there is none, or where the city's own boundary is not loaded.
 */
function countyBeside(input: SituateInput, county: string): string | null {
  const state = county.slice(0, 2);
  if (!input.placesLoaded.has(state)) return null;
  return (input.neighbours?.get(county) ?? []).find((neighbour) =>
    neighbour.startsWith(state) && !input.placeOfCounty.has(neighbour)) ?? null;
}

/**
 * The county around a county that is all one city's: the only neighbour of the same state that is
 * not such a county. Null where there are several, since the spot may lie in any.
 */
function soleBeside(input: SituateInput, county: string): string | null {
  const state = county.slice(0, 2);
  const cities = input.cityCounties;
  if (cities === undefined || !cities.has(county) || !input.placesLoaded.has(state)) return null;
  const around = (input.neighbours?.get(county) ?? []).filter((neighbour) =>
    neighbour.startsWith(state) && !cities.has(neighbour) && !input.placeOfCounty.has(neighbour));
  return around.length === 1 ? around[0]! : null;
}

/** A town beyond the state line is a sliver. */
function townOf(hits: LayerHits, county: string): string {
  return hits.town.slice(0, 2) === county.slice(0, 2) ? hits.town : '';
}

function isDoubtful(input: SituateInput, hits: LayerHits, county: string): boolean {
  if (hits.town !== '') return false;
  return !input.placesLoaded.has(county.slice(0, 2)) || hits.doubts.includes(county);
}

// Which polygons of a layer share a border, and how much of it.

/** Length of an edge in microdegrees of latitude. */
function lengthOf(ax: number, ay: number, bx: number, by: number): number {
  const shrink = Math.cos(((ay + by) / 2e6 / 180) * Math.PI);
  return Math.hypot((bx - ax) * shrink, by - ay);
}

/** Calls `each` for every edge, its ends in a fixed order, so that both sides name it alike. */
function forEachBorder(
  { polygon: { coords, rings } }: BoundaryFeature, each: (name: string, length: number) => void,
): void {
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    for (let at = rings[ring]! * 2; at < (rings[ring + 1]! - 1) * 2; at += 2) {
      const [ax, ay, bx, by] = [coords[at]!, coords[at + 1]!, coords[at + 2]!, coords[at + 3]!];
      const forward = ax < bx || (ax === bx && ay < by);
      each(forward ? `${ax} ${ay} ${bx} ${by}` : `${bx} ${by} ${ax} ${ay}`,
        lengthOf(ax, ay, bx, by));
    }
  }
}

/**
 * Keys of the neighbours of every polygon that has any, the longest shared border first. Borders
 * count as shared where both polygons have the same edge, as they have in a topology.
 */
export function neighboursOf(
  features: readonly BoundaryFeature[],
): ReadonlyMap<string, readonly string[]> {
  const owner = new Map<string, string>();
  const shared = new Map<string, Map<string, number>>();
  const add = (key: string, neighbour: string, length: number): void => {
    const lengths = shared.get(key) ?? new Map<string, number>();
    lengths.set(neighbour, (lengths.get(neighbour) ?? 0) + length);
    shared.set(key, lengths);
  };
  for (const feature of features) {
    const { key } = feature.polygon;
    forEachBorder(feature, (name, length) => {
      const other = owner.get(name);
      if (other === undefined) {
        owner.set(name, key);
      } else if (other !== key) {
        add(key, other, length);
        add(other, key, length);
      }
    });
  }
  return new Map([...shared].map(([key, lengths]) => [key, [...lengths]
    .sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1))
    .map(([neighbour]) => neighbour)]));
}
