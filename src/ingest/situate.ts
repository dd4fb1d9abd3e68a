/** From what holds a spot to the combination of jurisdictions that counts (decisions part 2). */
import type { LayerHits } from './boundary.js';
import type { AreaTuple, PlaceFact } from './model.js';

export interface SituateInput {
  readonly places: readonly PlaceFact[];
  /** State FIPS codes whose place boundaries are loaded. */
  readonly placesLoaded: ReadonlySet<string>;
  /** County equivalents that a place stands for: their land is that place's. */
  readonly placeOfCounty: ReadonlyMap<string, string>;
  /** State by county key for layers that are no counties ("CA-ON"). */
  readonly provinces: ReadonlySet<string>;
}

/** A tuple for what holds a spot, null where nothing does. */
export type Situate = (hits: LayerHits) => AreaTuple | null;

/**
 * Rules, strongest first: a place decides its state and, among its own counties, the county, so
 * that slivers of differently drawn county borders do not count; a county that is an independent
 * city without its place lies in the neighbour's coarser border, and its land is still the city's;
 * no place where boundaries are not loaded, or in doubtful land, is "?".
 */
export function createSituate(input: SituateInput): Situate {
  const places = new Map(input.places.map((place) => [place.geoid, place]));
  return (hits) => {
    if (input.provinces.has(hits.county)) {
      return { state: hits.county, county: '', place: '', town: '', districts: hits.districts };
    }
    const place = places.get(hits.place);
    if (place !== undefined) {
      const county = place.counties.includes(hits.county) ? hits.county : place.counties[0];
      if (county === undefined) return null;
      return {
        state: place.geoid.slice(0, 2), county, place: place.geoid,
        town: townOf(hits, county), districts: hits.districts,
      };
    }
    if (hits.county === '') return null;
    const state = hits.county.slice(0, 2);
    const own = input.placeOfCounty.get(hits.county);
    return {
      state,
      county: hits.county,
      place: own ?? (isDoubtful(input, hits, state) ? '?' : ''),
      town: townOf(hits, hits.county),
      districts: hits.districts,
    };
  };
}

/** A town beyond the state line is a sliver. */
function townOf(hits: LayerHits, county: string): string {
  return hits.town.slice(0, 2) === county.slice(0, 2) ? hits.town : '';
}

function isDoubtful(input: SituateInput, hits: LayerHits, state: string): boolean {
  if (hits.town !== '') return false;
  return !input.placesLoaded.has(state) || hits.doubts.includes(hits.county);
}
