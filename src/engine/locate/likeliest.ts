/** What is chosen of a ZIP or a city, and what is likeliest where its areas are not taxed alike. */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldName, plainName } from '../../address/place-name.js';
import { titleCase } from '../../address/title-case.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, CityRecord, ZipPart, ZipRecord } from '../../dataset/records.js';
import { fail, failAmbiguous, type Failure } from '../../failure.js';
import type { RateRange, Situs } from '../situs.js';
import { addressLine } from '../../dataset/city-names.js';
import { type Candidate, type DateOf, type Doubts, withoutSlivers } from './doubt.js';

const PPM = 1_000_000;
/**
 * A rate is assumed where so much of the ZIP has it, of its doors, else of its land as it is lived
 * on; more where an incorporated city that is named has another; half where it is that of most of
 * the city that is named, which has two. Chosen so that most people are answered while no more than
 * 3 % of ZIPs are assumed and wrong (docs/datasets.md).
 */
const LIKELY_PPM_MIN = 570_000;
const CONTRARY_PPM_MIN = 760_000;
const COUNTY_PPM_MIN = 500_000;

/** An area that was chosen; `assumed` where it is not certain. */
export interface Chosen {
  readonly kind: 'chosen';
  readonly candidate: Candidate;
  readonly assumed: RateRange | null;
  /** The state's boundary file says so. */
  readonly stated?: true;
}

/** The first of candidates that are taxed alike. */
export function certain(candidates: readonly Candidate[]): Chosen {
  return { kind: 'chosen', candidate: first(candidates), assumed: null };
}

/** The areas of candidates, in their order. */
export function areasOf(
  candidates: readonly { readonly area: AreaRecord }[],
): readonly AreaRecord[] {
  return candidates.map(({ area }) => area);
}

/** The first candidate; throws where there is none. */
function first([candidate]: readonly Candidate[]): Candidate {
  if (candidate === undefined) throw new Error('no candidate to choose from');
  return candidate;
}

/** An area with its share of the ZIP: of its doors, else of its land as it is lived on. */
export interface Weighed {
  readonly area: AreaRecord;
  readonly share: number;
}

/** A part of a ZIP as a candidate, with its shares. */
export type ZipCandidate = Candidate & Pick<ZipPart, 'weight' | 'land'>;

/** A ZIP as far as an address may lie in it. */
export interface ZipAreas {
  readonly record: ZipRecord;
  /** In the state of the address. */
  readonly parts: readonly ZipCandidate[];
  /** Areas beside the parts: what the ZIP may reach, and what it has in other states. */
  readonly beside: readonly Weighed[];
  /** Shares of the ZIP are known. */
  readonly isKnown: boolean;
}

/** What areas take in all on the day; null where it is not known. */
type TotalOf = (area: AreaRecord) => string | null;

/** A part with the share that it has of the ZIP. */
export function weighed({ area, weight, land }: ZipCandidate): Weighed {
  return { area, share: weight ?? land ?? 0 };
}

/**
 * The total that most of the areas have, with its share in parts per million; areas whose total is
 * not known count as other ones. Null where no share or no total is known.
 */
function likeliestTotal(
  areas: readonly Weighed[],
  totalOf: TotalOf,
): { readonly total: string; readonly ppm: number } | null {
  const shares = new Map<string, number>();
  let all = 0;
  for (const { area, share } of areas) {
    all += share;
    const total = totalOf(area);
    if (total !== null) shares.set(total, (shares.get(total) ?? 0) + share);
  }
  const [first] = [...shares].sort(
    (one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1),
  );
  return first === undefined || all === 0
    ? null
    : { total: first[0], ppm: Math.floor((first[1] / all) * PPM) };
}

/**
 * A part of the ZIP that takes what most of it does, one of the preferred if it can be, else the
 * largest; null where too little of the ZIP takes so.
 */
export function likeliestPart(
  { parts, beside }: ZipAreas,
  preferred: readonly ZipCandidate[],
  totalOf: TotalOf,
): ZipCandidate | null {
  const likeliest = likeliestTotal([...parts.map(weighed), ...beside], totalOf);
  if (likeliest === null) return null;
  const isAlike = ({ area }: Candidate): boolean => totalOf(area) === likeliest.total;
  if (likeliest.ppm < leastOf(preferred, isAlike)) return null;
  const [largest = null] = parts
    .filter(isAlike)
    .sort((one, other) => weighed(other).share - weighed(one).share);
  return preferred.find(isAlike) ?? largest;
}

/**
 * How much of a ZIP a rate must have to be assumed for the named parts, of which some have it. A
 * city in several counties is the one meant whatever its rate: which of its counties, its name does
 * not say, so the land decides there, with less to be wrong about. What divides it within a county
 * is a district, which the name says no more of than of a neighbour.
 */
function leastOf(named: readonly ZipCandidate[], isAlike: (part: ZipCandidate) => boolean): number {
  const cities = named.filter(({ incorporated }) => incorporated);
  const alike = cities.filter(isAlike);
  if (alike.length === cities.length) return LIKELY_PPM_MIN;
  const counties = new Set(cities.map(({ area }) => area.countyFips));
  const byCounty = counties.size === cities.length && 2 * shareOf(alike) > shareOf(cities);
  return byCounty ? COUNTY_PPM_MIN : CONTRARY_PPM_MIN;
}

function shareOf(parts: readonly ZipCandidate[]): number {
  return parts.reduce((sum, part) => sum + weighed(part).share, 0);
}

/** In place of a spot that is not known. */
const NOWHERE = { lat: 0, lng: 0 };

/**
 * Of areas that are taxed alike that of the city, else the first, with a spot of the ZIP in it or
 * in its municipality, else anywhere in the ZIP. `city` is a folded name, "" for none.
 */
export function statedCandidate(
  areas: readonly AreaRecord[],
  city: string,
  parts: readonly ZipCandidate[],
): Candidate {
  const area =
    areas.find(({ placeName }) => city !== '' && foldName(placeName) === city) ?? areas[0]!;
  const { lat, lng } =
    parts.find((part) => part.area.id === area.id) ??
    parts.find((part) => part.area.placeGeoid === area.placeGeoid) ??
    parts[0] ??
    NOWHERE;
  const { placeName, incorporated } = area;
  return { area, city: placeName.toUpperCase(), incorporated, lat, lng };
}

/** The candidates in a county of the others; counties are known well, cities less. */
export function within(
  candidates: readonly Candidate[],
  others: readonly Candidate[],
): Candidate[] {
  const counties = new Set(others.map(({ area }) => area.stateFips + area.countyFips));
  return candidates.filter(({ area }) => counties.has(area.stateFips + area.countyFips));
}

/** What was chosen, written out; `city` as it is printed. */
export function situsIn(
  reading: ParsedAddress,
  { candidate, assumed, stated }: Chosen,
  city: string,
): Situs {
  const { area, lat, lng } = candidate;
  const { state } = area;
  const postalCode = reading.zip4 === '' ? reading.zip : `${reading.zip}-${reading.zip4}`;
  const region = postalCode === '' ? state : `${state} ${postalCode}`;
  return {
    area: area.id,
    precision: assumed === null ? 'postal' : 'city',
    lat,
    lng,
    // The street was not found, so it is not said to be there.
    place: addressLine(city, region, area.country),
    houseNumber: '',
    street: '',
    city,
    postalCode,
    ...(assumed === null ? {} : { assumed }),
    ...(stated === undefined ? {} : { stated }),
  };
}

/** Cities of one dataset by their names: the weakest evidence, which is assumed and says so. */
export class CitiesByName {
  readonly #dataset: Dataset;
  readonly #doubts: Doubts;

  constructor(dataset: Dataset, doubts: Doubts) {
    this.#dataset = dataset;
    this.#doubts = doubts;
  }

  /** An address by its city and state alone. */
  locate({ city, state }: ParsedAddress, dateOf: DateOf): Chosen | Failure {
    if (city === '' || state === '') {
      return fail('address-incomplete', 'the address has neither a ZIP nor a city with its state');
    }
    const zips = (this.find(state, city)?.zips ?? [])
      .map((zip) => this.#dataset.zip(zip))
      .filter((record) => record !== null);
    const parts = zips.flatMap((record) => withoutSlivers(record.parts));
    const candidates = this.candidates(state, city, parts);
    if (candidates.length === 0) {
      return fail(
        'address-incomplete',
        `${city}, ${state} is no incorporated city we know: add the ZIP`,
      );
    }
    const around = [
      ...parts.map(({ doubt, area }) => doubt ?? area),
      ...zips.flatMap(({ reach }) => reach.map(({ area }) => area)),
    ]
      .map((id) => this.#dataset.area(id))
      .filter((area) => area.state === state);
    const possible = [...areasOf(candidates), ...around];
    if (this.#doubts.compare(possible, dateOf) === 'equal')
      return this.#placed(certain(candidates));
    const assumed = this.#assumed(candidates, possible, dateOf);
    if (assumed !== null) return this.#placed(assumed);
    const told = this.#doubts.compare(areasOf(candidates), dateOf);
    return typeof told === 'object' ? told : several(`${city}, ${state}`);
  }

  /** With a spot where the name has no ZIPs: of those of the place's own name ("New York City"). */
  #placed(chosen: Chosen): Chosen {
    const { area, lat, lng } = chosen.candidate;
    if (lat !== 0 || lng !== 0) return chosen;
    const zips = this.find(area.state, area.placeName)?.zips ?? [];
    const parts = zips.flatMap((zip) => this.#dataset.zip(zip)?.parts ?? []);
    const spot = parts.find((part) => part.area === area.id) ?? NOWHERE;
    return { ...chosen, candidate: { ...chosen.candidate, lat: spot.lat, lng: spot.lng } };
  }

  /** The first of the parts of a city, if they are taxed alike and any rate is known. */
  #assumed(
    named: readonly Candidate[],
    possible: readonly AreaRecord[],
    dateOf: DateOf,
  ): Chosen | null {
    if (this.#doubts.compare(areasOf(named), dateOf) !== 'equal') return null;
    const range = this.#doubts.range(possible, dateOf);
    return range === null ? null : { kind: 'chosen', candidate: first(named), assumed: range };
  }

  /** The areas of a city, each with a spot that one of the parts has in it. */
  candidates(state: string, city: string, parts: readonly ZipPart[]): Candidate[] {
    if (state === '' || city === '') return [];
    return (this.find(state, city)?.areas ?? []).map((id) => {
      const area = this.#dataset.area(id);
      const { lat, lng } = parts.find((part) => part.area === id) ?? NOWHERE;
      return { area, city: area.placeName.toUpperCase(), incorporated: true, lat, lng };
    });
  }

  /** A city by either spelling of its name; null where there is none. */
  find(state: string, city: string): CityRecord | null {
    return this.#dataset.city(state, plainName(city)) ?? this.#dataset.city(state, foldName(city));
  }

  /** The city that is named, where there is such a city; else the ZIP's own. */
  nameOf(state: string, named: string, zip: ZipRecord | null): string {
    const known = named === '' ? null : this.find(state, named);
    if (known !== null) return known.name;
    const [first = ''] = zip?.cities ?? [];
    return first === '' ? '' : (this.find(state, first)?.name ?? titleCase(first));
  }
}

/** A refusal: what is named leads to several tax areas. */
export function several(what: string): Failure {
  return failAmbiguous(
    `${what} overlaps several tax areas with different rates, and the address was not found`,
  );
}
