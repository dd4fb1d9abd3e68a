/**
 * Tax areas while a build runs: from the boundaries that hold a spot to tuples, to ids, and in the
 * end to records.
 */
import type { AreaRecord, ComponentRecord } from '../dataset/records.js';
import type { LayerHits } from './boundary/overlay.js';
import {
  type AreaTuple,
  countiesWithLand,
  type InternArea,
  type PlaceFact,
  type RateBook,
} from './model.js';
import type { CountyFact } from './rates/facts.js';
import type { StateFact } from './state-facts.js';

// From the boundaries that hold a spot to its combination of jurisdictions (decisions part 2).

export interface SituateInput {
  readonly places: readonly PlaceFact[];
  /** State FIPS codes whose place boundaries are loaded. */
  readonly placesLoaded: ReadonlySet<string>;
  /** County equivalents that are represented by a place. */
  readonly placeOfCounty: ReadonlyMap<string, string>;
  /**
   * Counties whose whole land is one city's, with that city, although county and city are separate.
   */
  readonly cityCounties?: ReadonlyMap<string, string>;
  /** State by the key of a layer's polygon that is no county ("CA-ON"). */
  readonly provinces: ReadonlySet<string>;
}

/** The tuple for the boundaries that hold a spot; null where none does. */
type Situate = (hits: LayerHits) => AreaTuple | null;

/**
 * Makes the function that decides, by these rules, strongest first. A place decides country and
 * state and, if it has no land in the county that holds the spot, also the county, because borders
 * of different years differ. An independent city has no county but itself. Land of a county that is
 * one city's is that city's. A place is "?" where place boundaries are not loaded, or in doubtful
 * land.
 */
export function createSituate(input: SituateInput): Situate {
  const places = new Map(input.places.map((place) => [place.geoid, place]));
  const countyOfPlace = new Map([...input.placeOfCounty].map(([county, place]) => [place, county]));
  return (hits) => {
    const place = places.get(hits.place);
    if (place !== undefined) {
      const county =
        countyOfPlace.get(place.geoid) ??
        (countiesWithLand(place).includes(hits.county) ? hits.county : place.counties[0]);
      return county === undefined
        ? null
        : {
            state: place.geoid.slice(0, 2),
            county,
            place: place.geoid,
            town: townOf(hits, county),
            districts: hits.districts,
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

/**
 * A town beyond the state line comes from borders that were drawn differently, so it is ignored.
 */
function townOf(hits: LayerHits, county: string): string {
  return hits.town.slice(0, 2) === county.slice(0, 2) ? hits.town : '';
}

function isDoubtful(input: SituateInput, hits: LayerHits): boolean {
  if (hits.town !== '') return false;
  return !input.placesLoaded.has(hits.county.slice(0, 2)) || hits.doubts.includes(hits.county);
}

function keyOf(tuple: AreaTuple): string {
  const { state, county, place, town, districts, complete, until, untaxed, stated } = tuple;
  const said = `${complete ? 1 : 0}${untaxed ? '!' : ''}${stated ? '=' : ''}${until ?? ''}`;
  return `${state}|${county}|${place}|${town}|${districts.join(',')}|${said}`;
}

export class AreaRegistry {
  readonly #ids = new Map<string, number>();
  readonly #tuples: AreaTuple[] = [];

  readonly intern: InternArea = (tuple) => {
    const key = keyOf(tuple);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#tuples.length;
    this.#ids.set(key, id);
    this.#tuples.push(tuple);
    return id;
  };

  /** The tuple of an id that `intern` returned. */
  tuple(id: number): AreaTuple {
    const tuple = this.#tuples[id];
    if (tuple === undefined) throw new RangeError(`no tax area ${id}`);
    return tuple;
  }

  /** The tuples interned so far, by id. */
  tuples(): readonly AreaTuple[] {
    return this.#tuples.slice();
  }

  /** Resolves every tuple with the book; equal components are stored once. */
  records(
    book: RateBook,
    states: readonly StateFact[],
    counties: readonly CountyFact[],
  ): {
    readonly areas: readonly AreaRecord[];
    readonly components: readonly ComponentRecord[];
  } {
    const fullNames = new Map(counties.map((county) => [county.fips, county.fullName]));
    const byKey = new Map(
      states.map((state) => [state.country === 'CAN' ? `CA-${state.code}` : state.fips, state]),
    );
    const components: ComponentRecord[] = [];
    const ids = new Map<string, number>();
    const areas = this.#tuples.map((tuple, id): AreaRecord => {
      const state = byKey.get(tuple.state);
      if (state === undefined) throw new Error(`no state has the code ${tuple.state}`);
      const resolved = book.resolve(tuple);
      return {
        id,
        country: state.country,
        state: state.code,
        stateName: state.name,
        stateFips: state.fips,
        countyFips: tuple.county.slice(2),
        countyName: resolved.countyName,
        countyFullName: fullNames.get(tuple.county) ?? '',
        placeName: resolved.placeName,
        placeGeoid: resolved.placeName === '' ? '' : placeOf(tuple),
        incorporated: resolved.incorporated || state.allMunicipal,
        components: resolved.components.map((component) => {
          const key = JSON.stringify(component);
          let known = ids.get(key);
          if (known === undefined) {
            known = components.length;
            ids.set(key, known);
            components.push({ id: known, ...component });
          }
          return known;
        }),
        unknown: resolved.unknown,
        staleAfter: resolved.staleAfter,
        estimated: resolved.estimated,
        ...(resolved.partial ? { partial: true as const } : {}),
      };
    });
    return { areas, components };
  }
}

function placeOf(tuple: AreaTuple): string {
  return tuple.place !== '' && tuple.place !== '?' ? tuple.place : tuple.town;
}
