/**
 * Finds the release's tax areas for what boundary files name. If the overlay has an area that is
 * the same in everything, that one is used, so that file and boundaries can be compared.
 */
import type { DateInt } from '../../tax/date.js';
import type { OwnDistricts } from '../layer/districts.js';
import type { AreaRegistry } from '../area-registry.js';
import { type AreaTuple, type RateRow, TOWN_DIGITS } from '../model.js';
import type { LoadedRates } from '../rates/load.js';
import type { StatedTuple } from './boundary-records.js';
import { countyLevies, isUnknown, sameInAll, sameRates } from './same-levies.js';
import { ownFirst, placeOf, townOf } from './towns.js';
import { type RateFile, rateFileOf } from '../rates/stated-rates.js';

/** What is known of jurisdictions besides the file. */
interface StatedWorld {
  readonly rates: Pick<LoadedRates, 'book' | 'codes' | 'gazetteer' | 'input'>;
  readonly states: readonly { readonly code: string; readonly fips: string }[];
  /** Counties of each ZIP in any list; called where a file leaves the county out. */
  readonly counties: () => ReadonlyMap<number, ReadonlySet<string>>;
  /** The county that a drawn district lies in, by the district's code. */
  readonly locations: () => ReadonlyMap<string, string>;
  /** Districts of layers, which no authority's file knows. */
  readonly districts: Pick<OwnDistricts, 'ofRecord'>;
  /** Registry to which areas are added. */
  readonly registry: Pick<AreaRegistry, 'tuples' | 'intern'>;
}

/**
 * Returns the area for what a state's file names, or the reason why there is none; `ended`: the
 * file's last day, where it has one.
 */
export type PlaceStated = (
  tuple: StatedTuple,
  state: string,
  ended: DateInt | null,
) => number | string;

interface Named {
  readonly county: string;
  /** Seven digits of a place or ten of a town; "" outside both. */
  readonly municipality: string;
}

/** Why codes of the right state lead nowhere: no known rate belongs to them. */
export const UNRATED = {
  district: "with a district that the state's rate file has not",
  jurisdiction: "with a jurisdiction that levies a tax and the state's rate file has not",
  alone: 'with more than a county and a city, whose rates alone are known',
  location: 'without one location that all of the record lies in',
  code: 'with a code that no list of rates has',
  sum: 'with codes that together levy more than the law allows',
} as const;
const WITHOUT_CITY = 'without the city, though cities levy a tax';
const NO_COUNTY = 'without a county, which nothing else tells';

class StatedPlaces {
  readonly #world: StatedWorld;
  readonly #fips: ReadonlyMap<string, string>;
  /** Rate files of states, by which their codes have rates. */
  readonly #lists: ReadonlyMap<string, RateFile>;
  /** Municipalities whose listed rate includes the county's. */
  readonly #inclusive: ReadonlySet<string>;
  /** "WA city": a city of the state levies a tax; "WA district 0100": the list has that code. */
  readonly #taxes = new Set<string>();
  /** Counties and municipalities that levy on the day of their state's rate file, by the lists. */
  readonly #levied = new Set<string>();
  /** Areas of the overlay by county and municipality. */
  readonly #drawn = new Map<string, number[]>();
  /** Tuples of the overlay. */
  readonly #tuples: readonly AreaTuple[];
  #locations: ReturnType<StatedWorld['locations']> | null = null;
  #counties: ReturnType<StatedWorld['counties']> | null = null;

  constructor(world: StatedWorld) {
    this.#world = world;
    this.#tuples = world.registry.tuples();
    this.#fips = new Map(world.states.map(({ code, fips }) => [code, fips]));
    const { rows, stated = [], sources } = world.rates.input;
    this.#lists = new Map(stated.map((list) => [list.state, rateFileOf(list, sources)]));
    const held = rows.filter(({ state }) => !this.#lists.has(state));
    this.#inclusive = new Set(
      [...held, ...stated.flatMap((list) => list.rows)]
        .filter(({ level, basis }) => level === 'city' && (basis === 'total' || basis === 'sole'))
        .map(({ place }) => place),
    );
    for (const row of rows) {
      const { state, level, code, sales, use } = row;
      if (level === 'district') this.#taxes.add(`${state} district ${code}`);
      if (sales > 0 || use > 0) this.#taxes.add(`${state} ${level}`);
      this.#noteLevied(row);
    }
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

  #noteLevied({ state, basis, place, county, sales, use, from, to }: RateRow): void {
    const day = this.#lists.get(state)?.day;
    const code = place || county;
    // A total includes the parts of other jurisdictions.
    if (day === undefined || code === '' || (basis !== 'own' && basis !== 'sole')) return;
    if ((sales > 0 || use > 0) && from <= day && to >= day) this.#levied.add(code);
  }

  /** What a record names, if all of it is known in the state; otherwise the reason. */
  #read(written: StatedTuple, state: string): StatedTuple | string {
    const fips = this.#fips.get(state) ?? '';
    if (written.state !== '' && written.state !== fips) return 'of another state';
    const list = this.#lists.get(state);
    const isLocation = written.alone === 'location';
    const stated =
      isLocation && list === undefined
        ? this.#located(written, state, fips)
        : written.alone === 'codes'
          ? this.#coded(written, state, fips)
          : { ...written, state: fips };
    if (typeof stated === 'string') return stated;
    const others = ['city', 'district'].some((level) => this.#taxes.has(`${state} ${level}`));
    if (stated.alone === 'county' && others) return WITHOUT_CITY;
    if (stated.alone === 'places' && (stated.districts.length > 0 || !stated.stateTaxed)) {
      return UNRATED.alone;
    }
    // If the state's own tax does not apply, the rates are unknown, whatever the districts are.
    if (
      list !== undefined &&
      stated.stateTaxed &&
      !stated.districts.every((code) => list.codes.has(code))
    ) {
      return UNRATED.district;
    }
    return stated;
  }

  areaOf(...[written, state, ended]: Parameters<PlaceStated>): number | string {
    const stated = this.#read(written, state);
    if (typeof stated === 'string') return stated;
    const { book } = this.#world.rates;
    const list = this.#lists.get(state);
    const isLocation = written.alone === 'location';
    if (isLocation && stated.districts.length !== 1) return UNRATED.location;
    const named =
      isLocation && list !== undefined ? this.#landOf(stated, state) : this.#named(stated, state);
    if (typeof named === 'string') return named;
    const { county, municipality } = named;
    // The rate of a location is all that is levied there.
    if (
      !isLocation &&
      [county, municipality].some(
        (code) => this.#levied.has(code) && list?.named.has(code) === false,
      )
    ) {
      return UNRATED.jurisdiction;
    }
    const isTown = municipality.length === TOWN_DIGITS;
    const areas = this.#drawn.get(`${county}|${municipality}`) ?? [];
    const tuple: AreaTuple = {
      state: stated.state,
      county,
      place: isTown ? '' : municipality,
      town: isTown
        ? municipality
        : townOf(
            municipality,
            county,
            new Set(areas.map((area) => this.#tuples[area]!.town)),
            this.#world.rates.gazetteer,
          ),
      districts: stated.districts,
      complete: true,
      // The rate of a location is all that is levied there, also by districts that begin later.
      ...(ended === null || isLocation ? {} : { until: ended }),
      ...(stated.stateTaxed ? {} : { untaxed: true }),
      ...(list === undefined ? {} : { stated: true }),
    };
    const drawn = ownFirst(tuple, areas, this.#tuples);
    if (stated.county === '' && municipality === '' && countyLevies(book, tuple)) {
      return 'without the county, though it levies a tax';
    }
    if (stated.alone === 'codes' && isUnknown(book, tuple)) return UNRATED.sum;
    const laid = this.#world.districts.ofRecord(tuple, stated.zip === 0 ? null : stated.zip);
    const boundaries = drawn.map((area) => ({ area, tuple: this.#tuples[area]! }));
    const same =
      list === undefined
        ? sameInAll(book, laid, boundaries)
        : sameRates(book, laid, boundaries, list.day);
    return same ?? this.#world.registry.intern(laid);
  }

  /** A record that names only a location, with the county of its land; otherwise the reason. */
  #located(written: StatedTuple, state: string, fips: string): StatedTuple | string {
    if (this.#taxes.has(`${state} city`)) return WITHOUT_CITY;
    if (!written.districts.every((code) => this.#taxes.has(`${state} district ${code}`))) {
      return 'with a location that no list has';
    }
    this.#locations ??= this.#world.locations();
    const [code = ''] = written.districts;
    const county = this.#locations.get(code)?.slice(fips.length) ?? '';
    return { ...written, state: fips, county };
  }

  /** A record that names county, city and districts by codes of a list; otherwise the reason. */
  #coded(written: StatedTuple, state: string, fips: string): StatedTuple | string {
    const [counties, places, districts] = [new Set<string>(), new Set<string>(), [] as string[]];
    for (const code of written.districts) {
      const land = this.#world.rates.codes.get(`${state} ${code}`);
      if (land?.place === '') counties.add(land.county);
      else if (land !== undefined) places.add(land.place);
      else if (this.#taxes.has(`${state} district ${code}`)) districts.push(code);
      else return UNRATED.code;
    }
    if (counties.size > 1 || places.size > 1) return 'with several counties or cities';
    const bare = ([code = '']: Iterable<string>): string => code.slice(fips.length);
    return { ...written, state: fips, county: bare(counties), place: bare(places), districts };
  }

  /** The land of a location in the list of rates, with the record's county and ZIP. */
  #landOf(stated: StatedTuple, state: string): Named | string {
    const { codes, gazetteer } = this.#world.rates;
    const [code = ''] = stated.districts;
    const listed = codes.get(`${state} ${code}`) ?? { county: '', place: '' };
    const counties = gazetteer.place(listed.place)?.counties ?? [];
    const only = counties.length === 1 ? counties[0]! : '';
    const own = stated.county === '' ? '' : stated.state + stated.county;
    const county = [listed.county, only, own, this.#countyOf(stated.zip)].find(
      (one) =>
        gazetteer.countyFact(one) !== undefined &&
        one.startsWith(stated.state) &&
        (counties.length === 0 || one === listed.county || counties.includes(one)),
    );
    return county === undefined ? NO_COUNTY : { county, municipality: listed.place };
  }

  #named(stated: StatedTuple, state: string): Named | string {
    const { gazetteer } = this.#world.rates;
    const place = stated.place === '' ? '' : placeOf(gazetteer, stated, state);
    if (place === null) return 'with a place that is not known';
    const [municipality = '', part = ''] = place.split('@');
    const own = stated.county === '' ? '' : stated.state + stated.county;
    const counties = gazetteer.municipality(municipality)?.counties ?? [];
    const only = counties.length === 1 ? counties[0]! : '';
    const near = this.#countyOf(stated.zip);
    const guessed = only || (municipality === '' || counties.includes(near) ? near : '');
    const county = part || own || guessed;
    if (county === '') return NO_COUNTY;
    if (!county.startsWith(stated.state) || gazetteer.countyFact(county) === undefined) {
      return 'with a county that is not known';
    }
    if (
      own === '' &&
      municipality !== '' &&
      !this.#inclusive.has(municipality) &&
      countyLevies(this.#world.rates.book, {
        ...tupleOf(stated.state, county, ''),
        stated: this.#lists.has(state),
      })
    ) {
      return 'without the county, though it levies a tax';
    }
    return { county, municipality };
  }

  /** The only county of a ZIP; "" where it has several or none is known. */
  #countyOf(zip: number): string {
    const [county = '', ...others] = [
      ...((this.#counties ??= this.#world.counties()).get(zip) ?? []),
    ].filter((own) => own !== '');
    return others.length === 0 ? county : '';
  }
}

function tupleOf(state: string, county: string, place: string): AreaTuple {
  return { state, county, place, town: '', districts: [], complete: true };
}

/** Makes the function that finds these areas. Equal tuples occur only once in a file. */
export function statedPlaces(world: StatedWorld): PlaceStated {
  const places = new StatedPlaces(world);
  return (...record) => places.areaOf(...record);
}
