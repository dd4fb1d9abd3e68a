/**
 * The weakest rung of locating: by ZIP, or by city and state. It answers only where the answer
 * cannot be wrong by choice of area, or where the address names an incorporated city.
 */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldName, plainName } from '../../address/place-name.js';
import { formatStreetName } from '../../address/street-name.js';
import { titleCase } from '../../address/title-case.js';
import { RecentCache } from '../../base/recent-cache.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, CityRecord, ZipRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import { countryName, type Situs } from '../situs.js';
import { withoutSlivers, type Candidate, type DateOf, type Doubts } from './doubt.js';

/** Choices kept of each dataset, in a generation. */
const CHOICES_MAX = 8_192;
/** Longest place that is kept: more than any ZIP, state and city. */
const PLACE_LENGTH_MAX = 64;

/** What a ZIP, a state and a city lead to, and the days it was found for. */
interface Choice {
  readonly found: Candidate | Failure;
  /** As it is written in an address. */
  readonly city: string;
  /** What `dateOf` said of each state it was asked for: for other days it may be another area. */
  readonly days: ReadonlyMap<string, DateInt>;
}

/** The document of tax areas by the first character, or three, of a postal code. */
export const POSTAL_PREFIXES = 'postal-prefixes';

const SHORT = 1;
const LONG = 3;

/** Locates addresses of one dataset by ZIP, city or postal code; keeps what they led to. */
export class PostalLocator {
  readonly #dataset: Dataset;
  readonly #doubts: Doubts;
  readonly #choices = new RecentCache<string, Choice>(CHOICES_MAX);

  constructor(dataset: Dataset, doubts: Doubts) {
    this.#dataset = dataset;
    this.#doubts = doubts;
  }

  /**
   * Locates an address by its ZIP, else by city and state.
   *
   * - One tax area, or several with equal known totals: answered. Where rows differ under equal
   *   totals the area of the named city is taken, else the ZIP's first (largest) part.
   * - Else the address must name an incorporated city that overlaps the ZIP.
   * - A named incorporated city in a county of the ZIP, though not known to overlap the ZIP, counts
   *   as one more area the address may lie in: cities of a ZIP are known less well than counties.
   * - Never across a state line. Streets without a house number are incomplete.
   *
   * `dateOf` gives the day to compare rates on, per state.
   */
  locate(reading: ParsedAddress, dateOf: DateOf): Situs | Failure {
    if (reading.kind === 'street' && reading.number === '') {
      return fail('address-incomplete', 'the street has no house number');
    }
    if (reading.kind === 'military') {
      return fail('address-incomplete', 'military addresses lie in no tax area of a state');
    }
    const { found, city } = this.#choice(reading, dateOf);
    return isFailure(found) ? found : situsIn(reading, found, city);
  }

  /** Locates an address by its postal code, or by the province it names; precision `postal`. */
  locateCanada(reading: ParsedAddress): Situs | Failure {
    const { canadianPostalCode: code, state: named, city } = reading;
    if (code === '') {
      return fail('address-incomplete', 'a Canadian address needs its postal code');
    }
    const area = this.#areaOfPrefix(code);
    if (area === null) return fail('address-incomplete', `postal code ${code} is in no province`);
    const { state } = this.#dataset.area(area);
    if (named !== '' && named !== state) {
      return fail('address-incomplete', `postal code ${code} is not in ${named}`);
    }
    const street = formatStreetName(reading);
    const line = [reading.number, street].filter((word) => word !== '').join(' ');
    const label = titleCase(city);
    return {
      area, precision: 'postal', lat: 0, lng: 0,
      normalizedAddress: [line, label, `${state} ${code}`, 'Canada']
        .filter((word) => word !== '').join(', '),
      houseNumber: reading.number, street, city: label, postalCode: code,
    };
  }

  #areaOfPrefix(postalCode: string): number | null {
    const prefixes = this.#dataset.document(POSTAL_PREFIXES);
    if (typeof prefixes !== 'object' || prefixes === null) return null;
    const found = Object.entries(prefixes);
    for (const length of [LONG, SHORT]) {
      const area: unknown = found.find(([prefix]) => prefix === postalCode.slice(0, length))?.[1];
      if (typeof area === 'number') return area;
    }
    return null;
  }

  /** The choice for the reading's place, kept for the next address there. */
  #choice(reading: ParsedAddress, dateOf: DateOf): Choice {
    const place = `${reading.zip}|${reading.state}|${reading.city}`;
    const known = this.#choices.get(place);
    if (known !== undefined && holds(known, dateOf)) return known;
    const made = this.#choose(reading, dateOf);
    if (place.length <= PLACE_LENGTH_MAX) this.#choices.set(place, made);
    return made;
  }

  /** Made of the reading's ZIP, state and city alone. */
  #choose(reading: ParsedAddress, dateOf: DateOf): Choice {
    const days = new Map<string, DateInt>();
    const noted: DateOf = (state) => {
      const day = dateOf(state);
      days.set(state, day);
      return day;
    };
    const record = reading.zip === '' ? null : this.#dataset.zip(Number(reading.zip));
    const found = reading.zip !== '' && record === null
      ? fail('address-incomplete', `ZIP ${reading.zip} is not known`)
      : record === null
        ? this.#byCity(reading, noted)
        : this.#byZip(record, reading, noted);
    const named = reading.city === '' ? record?.cities[0] ?? '' : reading.city;
    const city = isFailure(found) ? '' : this.#cityName(found.area.state, named);
    return { found, city, days };
  }

  #byZip(record: ZipRecord, reading: ParsedAddress, dateOf: DateOf): Candidate | Failure {
    const all = withoutSlivers(record.parts).map(({ area, doubt, city, incorporated }) =>
      ({ area: this.#dataset.area(doubt ?? area), city, incorporated }));
    const states = [...new Set(all.map((part) => part.area.state))].sort();
    if (states.length === 0) {
      return fail('address-incomplete', `ZIP ${reading.zip} lies in no known tax area`);
    }
    if (reading.state === '' && states.length > 1) {
      const choice = states.join(', ');
      return fail('address-incomplete', `ZIP ${reading.zip} spans ${choice}: name the state`);
    }
    const parts = reading.state === ''
      ? all
      : all.filter((part) => part.area.state === reading.state);
    if (parts.length === 0) {
      const lies = states.join(', ');
      return fail('address-incomplete', `ZIP ${reading.zip} lies in ${lies}, not ${reading.state}`);
    }
    return this.#amongParts(reading, parts, dateOf);
  }

  #amongParts(
    reading: ParsedAddress, parts: readonly Candidate[], dateOf: DateOf,
  ): Candidate | Failure {
    const name = foldName(reading.city);
    const state = parts[0]?.area.state ?? reading.state;
    const cityAreas = this.#cityCandidates(state, reading.city);
    const named = parts.filter((part) => part.incorporated
      && (foldName(part.city) === name || cityAreas.some((city) => city.area.id === part.area.id)));
    if (named.length > 0 && this.#doubts.compare(areasOf(named), dateOf) === 'equal') {
      return first(named);
    }
    const possible = named.length > 0 ? parts : [...parts, ...within(cityAreas, parts)];
    const compared = this.#doubts.compare(areasOf(possible), dateOf);
    if (compared === 'equal') {
      const labelled = parts.filter((part) => !part.incorporated && foldName(part.city) === name);
      return first(named.length > 0 ? named : labelled.length > 0 ? labelled : parts);
    }
    return compared === 'different'
      ? several(reading.zip === '' ? reading.city : reading.zip) : compared;
  }

  #byCity({ city, state }: ParsedAddress, dateOf: DateOf): Candidate | Failure {
    if (city === '' || state === '') {
      return fail('address-incomplete', 'the address has neither a ZIP nor a city with its state');
    }
    const candidates = this.#cityCandidates(state, city);
    if (candidates.length === 0) {
      return fail('address-incomplete',
        `${city}, ${state} is no incorporated city we know: add the ZIP`);
    }
    const compared = this.#doubts.compare(areasOf(candidates), dateOf);
    if (compared === 'equal') return first(candidates);
    return compared === 'different' ? several(`${city}, ${state}`) : compared;
  }

  #cityCandidates(state: string, city: string): Candidate[] {
    if (state === '' || city === '') return [];
    return (this.#city(state, city)?.areas ?? []).map((id) => {
      const area = this.#dataset.area(id);
      return { area, city: area.placeName.toUpperCase(), incorporated: true };
    });
  }

  #city(state: string, city: string): CityRecord | null {
    return this.#dataset.city(state, plainName(city)) ?? this.#dataset.city(state, foldName(city));
  }

  #cityName(state: string, city: string): string {
    return city === '' ? '' : this.#city(state, city)?.name ?? titleCase(city);
  }
}

function holds({ days }: Choice, dateOf: DateOf): boolean {
  for (const [state, day] of days) {
    if (dateOf(state) !== day) return false;
  }
  return true;
}

function areasOf(candidates: readonly Candidate[]): readonly AreaRecord[] {
  return candidates.map(({ area }) => area);
}

/** The candidates in a county of the others; counties of a ZIP are known well, its cities less. */
function within(candidates: readonly Candidate[], others: readonly Candidate[]): Candidate[] {
  const counties = new Set(others.map(({ area }) => area.stateFips + area.countyFips));
  return candidates.filter(({ area }) => counties.has(area.stateFips + area.countyFips));
}

function first(candidates: readonly Candidate[]): Candidate {
  const [candidate] = candidates;
  if (candidate === undefined) throw new Error('no candidate to choose from');
  return candidate;
}

function several(what: string): Failure {
  return fail('address-incomplete',
    `${what} overlaps several tax areas with different rates, and the address was not found`);
}

function situsIn(reading: ParsedAddress, found: Candidate, city: string): Situs {
  const { state } = found.area;
  const street = formatStreetName(reading);
  const postalCode = reading.zip4 === '' ? reading.zip : `${reading.zip}-${reading.zip4}`;
  const line = [reading.number, street].filter((word) => word !== '').join(' ');
  const region = postalCode === '' ? state : `${state} ${postalCode}`;
  const normalizedAddress = [line, city, region, countryName(found.area.country)]
    .filter((word) => word !== '')
    .join(', ');
  return {
    area: found.area.id, precision: 'postal', lat: 0, lng: 0,
    normalizedAddress, houseNumber: reading.number, street, city, postalCode,
  };
}
