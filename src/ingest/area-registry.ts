/** Tax areas as a build meets them: tuples in, ids out, records at the end. */
import type { AreaRecord, ComponentRecord } from '../dataset/records.js';
import type { AreaTuple, InternArea, RateBook } from './model.js';
import type { CountyFact } from './rates/facts.js';
import type { StateFact } from './state-facts.js';

function keyOf(tuple: AreaTuple): string {
  const { state, county, place, town, districts, complete, untaxed, stated } = tuple;
  const said = `${complete ? 1 : 0}${untaxed ? '!' : ''}${stated ? '=' : ''}`;
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

  /** The tuple of an id that `intern` gave. */
  tuple(id: number): AreaTuple {
    const tuple = this.#tuples[id];
    if (tuple === undefined) throw new RangeError(`no tax area ${id}`);
    return tuple;
  }

  /** The tuples interned so far, by id. */
  tuples(): readonly AreaTuple[] {
    return this.#tuples.slice();
  }

  /** Asks the book about every tuple; components that agree in everything are shared. */
  records(book: RateBook, states: readonly StateFact[], counties: readonly CountyFact[]): {
    readonly areas: readonly AreaRecord[]; readonly components: readonly ComponentRecord[];
  } {
    const fullNames = new Map(counties.map((county) => [county.fips, county.fullName]));
    const byKey = new Map(states.map((state) =>
      [state.country === 'CAN' ? `CA-${state.code}` : state.fips, state]));
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
