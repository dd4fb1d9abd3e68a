/** From what holds a spot to the combination of jurisdictions that counts (decisions part 2). */
import { type AreaTuple, countiesWithLand, type PlaceFact } from '../model.js';
import type { LayerHits } from './overlay.js';

export interface SituateInput {
  readonly places: readonly PlaceFact[];
  /** State FIPS codes whose place boundaries are loaded. */
  readonly placesLoaded: ReadonlySet<string>;
  /** County equivalents that a place stands for. */
  readonly placeOfCounty: ReadonlyMap<string, string>;
  /** Counties whose land is all one city's, though they are counties too, with that city. */
  readonly cityCounties?: ReadonlyMap<string, string>;
  /** State by county key for layers that are no counties ("CA-ON"). */
  readonly provinces: ReadonlySet<string>;
}

/** A tuple for what holds a spot, null where nothing does. */
export type Situate = (hits: LayerHits) => AreaTuple | null;

/**
 * Rules, strongest first: a place decides its country and state and, where it has no land in the
 * county that holds the spot, the county, so that borders of another year do not count; an
 * independent city has no county but itself; land of a county that is all one city's is that
 * city's; no place where boundaries are not loaded, or in doubtful land, is "?".
 */
export function createSituate(input: SituateInput): Situate {
  const places = new Map(input.places.map((place) => [place.geoid, place]));
  const countyOfPlace = new Map([...input.placeOfCounty].map(([county, place]) => [place, county]));
  return (hits) => {
    const place = places.get(hits.place);
    if (place !== undefined) {
      const county = countyOfPlace.get(place.geoid)
        ?? (countiesWithLand(place).includes(hits.county) ? hits.county : place.counties[0]);
      return county === undefined ? null : {
        state: place.geoid.slice(0, 2), county, place: place.geoid,
        town: townOf(hits, county), districts: hits.districts,
      };
    }
    if (input.provinces.has(hits.county)) {
      return { state: hits.county, county: '', place: '', town: '', districts: hits.districts };
    }
    if (hits.county === '') return null;
    const city = input.placeOfCounty.get(hits.county) ?? input.cityCounties?.get(hits.county);
    return {
      state: hits.county.slice(0, 2),
      county: hits.county,
      place: city ?? (isDoubtful(input, hits) ? '?' : ''),
      town: townOf(hits, hits.county),
      districts: hits.districts,
    };
  };
}

/** A town beyond the state line is of borders that were drawn otherwise. */
function townOf(hits: LayerHits, county: string): string {
  return hits.town.slice(0, 2) === county.slice(0, 2) ? hits.town : '';
}

function isDoubtful(input: SituateInput, hits: LayerHits): boolean {
  if (hits.town !== '') return false;
  return !input.placesLoaded.has(hits.county.slice(0, 2)) || hits.doubts.includes(hits.county);
}
