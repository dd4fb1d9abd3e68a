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
import type { ZipRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import { countryName, type Situs } from '../situs.js';
import { compareRates, type Candidate } from './doubt.js';

/** Parts below this share of a ZIP's doors are slivers (0.5 %). */
const SLIVER_PPM = 5_000;

type DateOf = (state: string) => DateInt;

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

const CHOICES = new WeakMap<Dataset, RecentCache<string, Choice>>();

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
export function locatePostal(
  dataset: Dataset,
  reading: ParsedAddress,
  dateOf: DateOf,
): Situs | Failure {
  if (reading.kind === 'street' && reading.number === '') {
    return fail('address-incomplete', 'the street has no house number');
  }
  if (reading.kind === 'military') {
    return fail('address-incomplete', 'military addresses lie in no tax area of a state');
  }
  const { found, city } = choice(dataset, reading, dateOf);
  return isFailure(found) ? found : situs(reading, found, city);
}

/** The choice for the reading's place, kept for the next address there. */
function choice(dataset: Dataset, reading: ParsedAddress, dateOf: DateOf): Choice {
  let kept = CHOICES.get(dataset);
  if (kept === undefined) {
    kept = new RecentCache(CHOICES_MAX);
    CHOICES.set(dataset, kept);
  }
  const place = `${reading.zip}|${reading.state}|${reading.city}`;
  const known = kept.get(place);
  if (known !== undefined && holds(known, dateOf)) return known;
  const made = choiceOf(dataset, reading, dateOf);
  if (place.length <= PLACE_LENGTH_MAX) kept.set(place, made);
  return made;
}

function holds({ days }: Choice, dateOf: DateOf): boolean {
  for (const [state, day] of days) {
    if (dateOf(state) !== day) return false;
  }
  return true;
}

/** Made of the reading's ZIP, state and city alone. */
function choiceOf(dataset: Dataset, reading: ParsedAddress, dateOf: DateOf): Choice {
  const days = new Map<string, DateInt>();
  const noted: DateOf = (state) => {
    const day = dateOf(state);
    days.set(state, day);
    return day;
  };
  const record = reading.zip === '' ? null : dataset.zip(Number(reading.zip));
  const found = reading.zip !== '' && record === null
    ? fail('address-incomplete', `ZIP ${reading.zip} is not known`)
    : record === null
      ? byCity(dataset, reading, noted)
      : byZip(dataset, record, reading, noted);
  const named = reading.city === '' ? record?.cities[0] ?? '' : reading.city;
  const city = isFailure(found) ? '' : cityName(dataset, found.area.state, named);
  return { found, city, days };
}

function partsOf(dataset: Dataset, record: ZipRecord): Candidate[] {
  return record.parts
    .filter((part) => part.weight === null || part.weight >= SLIVER_PPM)
    .map(({ area, doubt, city, incorporated }) =>
      ({ area: dataset.area(doubt ?? area), city, incorporated }));
}

function byZip(
  dataset: Dataset,
  record: ZipRecord,
  reading: ParsedAddress,
  dateOf: DateOf,
): Candidate | Failure {
  const all = partsOf(dataset, record);
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
  return choose(dataset, reading, parts, dateOf);
}

function choose(
  dataset: Dataset,
  reading: ParsedAddress,
  parts: readonly Candidate[],
  dateOf: DateOf,
): Candidate | Failure {
  const name = foldName(reading.city);
  const state = parts[0]?.area.state ?? reading.state;
  const cityAreas = cityCandidates(dataset, state, reading.city);
  const named = parts.filter((part) => part.incorporated
    && (foldName(part.city) === name || cityAreas.some((city) => city.area.id === part.area.id)));
  if (named.length > 0 && compareRates(dataset, named, dateOf).outcome === 'equal') {
    return first(named);
  }
  const possible = named.length > 0 ? parts : [...parts, ...within(cityAreas, parts)];
  const compared = compareRates(dataset, possible, dateOf);
  if (compared.outcome === 'equal') {
    const labelled = parts.filter((part) => !part.incorporated && foldName(part.city) === name);
    return first(named.length > 0 ? named : labelled.length > 0 ? labelled : parts);
  }
  if (compared.outcome === 'unknown' && compared.all) return fail('no-result', compared.reason);
  return fail('address-incomplete', several(reading.zip === '' ? reading.city : reading.zip));
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

function several(what: string): string {
  return `${what} overlaps several tax areas with different rates, and the address was not found`;
}

function cityCandidates(dataset: Dataset, state: string, city: string): Candidate[] {
  if (state === '' || city === '') return [];
  const record = dataset.city(state, plainName(city)) ?? dataset.city(state, foldName(city));
  return (record?.areas ?? []).map((id) => {
    const area = dataset.area(id);
    return { area, city: area.placeName.toUpperCase(), incorporated: true };
  });
}

function byCity(dataset: Dataset, reading: ParsedAddress, dateOf: DateOf): Candidate | Failure {
  if (reading.city === '' || reading.state === '') {
    return fail('address-incomplete', 'the address has neither a ZIP nor a city with its state');
  }
  const areas = cityCandidates(dataset, reading.state, reading.city);
  if (areas.length === 0) {
    const where = `${reading.city}, ${reading.state}`;
    return fail('address-incomplete', `${where} is no incorporated city we know: add the ZIP`);
  }
  const compared = compareRates(dataset, areas, dateOf);
  if (compared.outcome === 'equal') return first(areas);
  if (compared.outcome === 'unknown' && compared.all) return fail('no-result', compared.reason);
  return fail('address-incomplete', several(`${reading.city}, ${reading.state}`));
}

function situs(reading: ParsedAddress, found: Candidate, city: string): Situs {
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

function cityName(dataset: Dataset, state: string, city: string): string {
  if (city === '') return '';
  const record = dataset.city(state, plainName(city)) ?? dataset.city(state, foldName(city));
  return record?.name ?? titleCase(city);
}

/** The document of tax areas by the first character, or three, of a postal code. */
export const POSTAL_PREFIXES = 'postal-prefixes';

const SHORT = 1;
const LONG = 3;

function areaOfPrefix(dataset: Dataset, postalCode: string): number | null {
  const prefixes = dataset.document(POSTAL_PREFIXES);
  if (typeof prefixes !== 'object' || prefixes === null) return null;
  const found = Object.entries(prefixes);
  for (const length of [LONG, SHORT]) {
    const area: unknown = found.find(([prefix]) => prefix === postalCode.slice(0, length))?.[1];
    if (typeof area === 'number') return area;
  }
  return null;
}

/** Locates an address by its postal code, or by the province it names; precision `postal`. */
export function locateCanada(dataset: Dataset, reading: ParsedAddress): Situs | Failure {
  const { canadianPostalCode: code, state: named, city } = reading;
  if (code === '') {
    return fail('address-incomplete', 'a Canadian address needs its postal code');
  }
  const area = areaOfPrefix(dataset, code);
  if (area === null) return fail('address-incomplete', `postal code ${code} is in no province`);
  const { state } = dataset.area(area);
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
