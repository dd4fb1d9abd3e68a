/**
 * What a boundary file names → tax areas of the release. Where the boundaries give an area that is
 * the same in everything, it is that one, so that it can be told where file and boundaries agree.
 */
import type { OwnDistricts } from '../layer/districts.js';
import type { AreaRegistry } from '../area-registry.js';
import type { AreaTuple } from '../model.js';
import type { LoadedRates } from '../rates/load.js';
import type { StatedTuple } from './boundary-records.js';

/** What is known of jurisdictions beside the file. */
export interface StatedWorld {
  readonly rates: Pick<LoadedRates, 'book' | 'gazetteer' | 'input'>;
  readonly states: readonly { readonly code: string; readonly fips: string }[];
  /** Counties of each ZIP, by whatever list; asked for where a file leaves one out. */
  readonly counties: () => ReadonlyMap<number, ReadonlySet<string>>;
  /** Of layers, which no authority's file knows. */
  readonly districts: Pick<OwnDistricts, 'ofRecord'>;
  /** Areas are added to it. */
  readonly registry: Pick<AreaRegistry, 'tuples' | 'intern'>;
}

/** Gives the area of what a state's file names, or says why it has none. */
export type PlaceStated = (tuple: StatedTuple, state: string) => number | string;

interface Named {
  readonly county: string;
  /** Seven digits of a place or ten of a town; "" outside both. */
  readonly municipality: string;
}

class StatedPlaces {
  readonly #world: StatedWorld;
  readonly #fips: ReadonlyMap<string, string>;
  /** Municipalities whose listed rate has the county's in it. */
  readonly #inclusive: ReadonlySet<string>;
  /** Areas of the boundaries by county and municipality. */
  readonly #drawn = new Map<string, number[]>();
  /** What the boundaries gave. */
  readonly #tuples: readonly AreaTuple[];
  #counties: ReturnType<StatedWorld['counties']> | null = null;

  constructor(world: StatedWorld) {
    this.#world = world;
    this.#tuples = world.registry.tuples();
    this.#fips = new Map(world.states.map(({ code, fips }) => [code, fips]));
    this.#inclusive = new Set(world.rates.input.rows.filter(({ level, basis }) =>
      level === 'city' && (basis === 'total' || basis === 'sole')).map(({ place }) => place));
    this.#tuples.forEach(({ county, place, town }, area) => {
      const own = new Set([place, town].filter((code) => code !== ''));
      for (const code of own.size === 0 ? [''] : own) this.#note(`${county}|${code}`, area);
    });
  }

  #note(key: string, area: number): void {
    const known = this.#drawn.get(key);
    if (known === undefined) this.#drawn.set(key, [area]);
    else known.push(area);
  }

  areaOf(stated: StatedTuple, state: string): number | string {
    if (stated.state !== this.#fips.get(state)) return 'of another state';
    const named = this.#named(stated, state);
    if (typeof named === 'string') return named;
    const { county, municipality } = named;
    const drawn = this.#drawn.get(`${county}|${municipality}`) ?? [];
    const isTown = municipality.length > 7;
    const tuple: AreaTuple = {
      state: stated.state, county, place: isTown ? '' : municipality,
      town: isTown ? municipality : this.#townOf(drawn),
      districts: stated.districts, complete: true,
      ...(stated.stateTaxed ? {} : { untaxed: true }),
    };
    if (stated.county === '' && municipality === '' && this.#countyLevies(tuple)) {
      return 'without the county, though it levies a tax';
    }
    const own = this.#world.districts.ofRecord(tuple, stated.zip === 0 ? null : stated.zip);
    return this.#same(own, drawn) ?? this.#world.registry.intern(own);
  }

  /** The town that all areas of a place lie in: a file names either. */
  #townOf(drawn: readonly number[]): string {
    const towns = new Set(drawn.map((area) => this.#tuples[area]!.town));
    const [town = ''] = towns;
    return towns.size === 1 ? town : '';
  }

  #named(stated: StatedTuple, state: string): Named | string {
    const { gazetteer } = this.#world.rates;
    const place = stated.place === '' ? '' : this.#placeOf(stated, state);
    if (place === null) return 'with a place that is not known';
    const [municipality = '', part = ''] = place.split('@');
    const own = stated.county === '' ? '' : stated.state + stated.county;
    const counties = gazetteer.place(municipality)?.counties ?? [];
    const only = counties.length === 1 ? counties[0]! : '';
    const near = this.#countyOf(stated.zip);
    const guessed = only || (municipality === '' || counties.includes(near) ? near : '');
    const county = part || own || guessed;
    if (county === '') return 'without a county, which nothing else tells';
    if (!county.startsWith(stated.state) || gazetteer.countyFact(county) === undefined) {
      return 'with a county that is not known';
    }
    if (own === '' && municipality !== '' && !this.#inclusive.has(municipality)
      && this.#countyLevies(tupleOf(stated.state, county, ''))) {
      return 'without the county, though it levies a tax';
    }
    return { county, municipality };
  }

  /** The one county of a ZIP; "" where it has several or is not known. */
  #countyOf(zip: number): string {
    const [county = '', ...others] = [...(this.#counties ??= this.#world.counties()).get(zip) ?? []]
      .filter((own) => own !== '');
    return others.length === 0 ? county : '';
  }

  /** Seven digits of a place, with its county where the code is of one part; ten of a town. */
  #placeOf({ state: fips, county, place }: StatedTuple, state: string): string | null {
    const { gazetteer } = this.#world.rates;
    const aliased = gazetteer.city(state, `#${place}`, '');
    if (aliased.kind === 'code') return aliased.code;
    if (aliased.kind === 'dropped') return '';
    if (gazetteer.place(fips + place) !== undefined) return fips + place;
    const town = fips + county + place;
    return county !== '' && gazetteer.place(town) !== undefined ? town : null;
  }

  /** Whether the county of a tuple takes anything, or may, on any day. */
  #countyLevies(tuple: AreaTuple): boolean {
    return this.#world.rates.book.resolve(tuple).components.some(({ level, periods }) =>
      level === 'county' && periods.some(({ sales, use }) => sales > 0 || use > 0));
  }

  /** An area of the boundaries that is this one in everything; undefined where there is none. */
  #same(tuple: AreaTuple, drawn: readonly number[]): number | undefined {
    if (tuple.untaxed === true) return undefined;
    const resolve = (one: AreaTuple): string => JSON.stringify(this.#world.rates.book.resolve(one));
    const wanted = resolve(tuple);
    return drawn.find((area) => resolve(this.#tuples[area]!) === wanted);
  }
}

function tupleOf(state: string, county: string, place: string): AreaTuple {
  return { state, county, place, town: '', districts: [], complete: true };
}

/** Knows the areas of what boundary files name; the same is asked for but once a file. */
export function statedPlaces(world: StatedWorld): PlaceStated {
  const places = new StatedPlaces(world);
  return (tuple, state) => places.areaOf(tuple, state);
}
