/** Chooses an area of a ZIP or a city, and the likeliest one where areas are not taxed the same. */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldName, plainName } from '../../address/place-name.js';
import { ownText } from '../../base/own-text.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, CityRecord, ZipPart, ZipRecord } from '../../dataset/records.js';
import { fail, failAmbiguous, type Failure } from '../../failure.js';
import type { RateRange, Situs } from '../situs.js';
import { addressLine } from '../../dataset/city-names.js';
import { type Candidate, type DateOf, type Doubts, withoutSlivers } from './doubt.js';

const PPM = 1_000_000;
/**
 * A rate is assumed if at least this share of the ZIP has it: of its doors, or else of its
 * inhabited land. More is needed where a named city has another rate or the ZIP has land in another
 * state; half is enough where most of the named city has it, which has two. Chosen so that most
 * people get an answer while at most 3 % of ZIPs are assumed wrongly (docs/datasets.md).
 */
const LIKELY_PPM_MIN = 570_000;
const CONTRARY_PPM_MIN = 760_000;
const COUNTY_PPM_MIN = 500_000;

/** The chosen area; `assumed` where it is not certain. */
export interface Chosen {
  readonly kind: 'chosen';
  readonly candidate: Candidate;
  readonly assumed: RateRange | null;
  /** Set where the state's boundary file decided. */
  readonly stated?: true;
}

/** The first of candidates that are all taxed the same. */
export function certain(candidates: readonly Candidate[]): Chosen {
  return { kind: 'chosen', candidate: first(candidates), assumed: null };
}

/** The areas of candidates, in their order. */
export function areasOf(
  candidates: readonly { readonly area: AreaRecord }[],
): readonly AreaRecord[] {
  return candidates.map(({ area }) => area);
}

/** The first candidate. @throws Error where there is none. */
function first([candidate]: readonly Candidate[]): Candidate {
  if (candidate === undefined) throw new Error('no candidate to choose from');
  return candidate;
}

/** An area with its share of the ZIP: of its doors, or else of its inhabited land. */
export interface Weighed {
  readonly area: AreaRecord;
  readonly share: number;
}

/** A part of a ZIP as a candidate, with its shares. */
export type ZipCandidate = Candidate & Pick<ZipPart, 'weight' | 'land'>;

/** The part of a ZIP that an address may lie in. */
export interface ZipAreas {
  readonly record: ZipRecord;
  /** Parts in the state of the address. */
  readonly parts: readonly ZipCandidate[];
  /** Other areas: those that the ZIP may reach, and those that it has in other states. */
  readonly beside: readonly Weighed[];
  /** Whether shares of the ZIP are known. */
  readonly isKnown: boolean;
}

/**
 * Gives the total rates of an area on the day, as a text to compare; null where they are not known.
 */
type TotalOf = (area: AreaRecord) => string | null;

/** A part with the share that it has of the ZIP. */
export function weighed({ area, weight, land }: ZipCandidate): Weighed {
  return { area, share: weight ?? land ?? 0 };
}

/**
 * The total of most areas, and its share in parts per million. An area with an unknown total counts
 * as different. Null where no share or no total is known.
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
 * A part of the ZIP that is taxed as most of the ZIP is: a preferred one if possible, or else the
 * largest. Null where too little of the ZIP is taxed so.
 */
export function likeliestPart(
  { parts, beside }: ZipAreas,
  preferred: readonly ZipCandidate[],
  totalOf: TotalOf,
): ZipCandidate | null {
  const likeliest = likeliestTotal([...parts.map(weighed), ...beside], totalOf);
  if (likeliest === null) return null;
  const isAlike = ({ area }: Candidate): boolean => totalOf(area) === likeliest.total;
  const { state } = parts[0]!.area;
  const isAbroad = beside.some(({ area, share }) => share > 0 && area.state !== state);
  if (likeliest.ppm < (isAbroad ? CONTRARY_PPM_MIN : leastOf(preferred, isAlike))) return null;
  const [largest = null] = parts
    .filter(isAlike)
    .sort((one, other) => weighed(other).share - weighed(one).share);
  return preferred.find(isAlike) ?? largest;
}

/**
 * The least share of a ZIP that a rate needs in order to be assumed. If a city in several counties
 * is named, it is the one meant whatever its rates, but its name does not say which county; the
 * land decides, with less risk of a mistake. Within a county it is a district that divides the
 * city, of which the name says as little as of a neighbouring city.
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

/** Used where no spot is known. */
const NOWHERE = { lat: 0, lng: 0 };

/**
 * Of areas that are taxed the same, the one in the city, or else the first. Its spot is one of the
 * ZIP in the area or its municipality, or else any of the ZIP. `city` is a folded name, "" for
 * none.
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

/** The candidates in the same counties as others. Counties are known more reliably than cities. */
export function within(
  candidates: readonly Candidate[],
  others: readonly Candidate[],
): Candidate[] {
  const counties = new Set(others.map(({ area }) => area.stateFips + area.countyFips));
  return candidates.filter(({ area }) => counties.has(area.stateFips + area.countyFips));
}

/** The answer for a chosen area; `city` is as it is printed. */
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
    // The street was not found, so the answer does not confirm it.
    place: addressLine(city, region, area.country),
    houseNumber: '',
    street: '',
    city,
    postalCode,
    ...(assumed === null ? {} : { assumed }),
    ...(stated === undefined ? {} : { stated }),
  };
}

/**
 * Locates cities of one dataset by name. This is the weakest evidence; answers by it are marked as
 * assumed.
 */
export class CitiesByName {
  readonly #dataset: Dataset;
  readonly #doubts: Doubts;

  constructor(dataset: Dataset, doubts: Doubts) {
    this.#dataset = dataset;
    this.#doubts = doubts;
  }

  /** Locates an address by its city and state only. */
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

  /**
   * Adds a spot where the name has no ZIPs: from the ZIPs of the city's own name ("Manhattan").
   */
  #placed(chosen: Chosen): Chosen {
    const { area, lat, lng } = chosen.candidate;
    if (lat !== 0 || lng !== 0) return chosen;
    const zips = this.find(area.state, area.placeName)?.zips ?? [];
    const parts = zips.flatMap((zip) => this.#dataset.zip(zip)?.parts ?? []);
    const spot = parts.find((part) => part.area === area.id) ?? NOWHERE;
    return { ...chosen, candidate: { ...chosen.candidate, lat: spot.lat, lng: spot.lng } };
  }

  /**
   * The first of a city's parts, as an assumption, if they are taxed the same and a rate is known.
   */
  #assumed(
    named: readonly Candidate[],
    possible: readonly AreaRecord[],
    dateOf: DateOf,
  ): Chosen | null {
    if (this.#doubts.compare(areasOf(named), dateOf) !== 'equal') return null;
    const range = this.#doubts.range(possible, dateOf);
    return range === null ? null : { kind: 'chosen', candidate: first(named), assumed: range };
  }

  /** The areas of a city, each with a spot of one of the parts, if one lies in it. */
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
}

/** The refusal of a name that leads to several tax areas. */
export function several(what: string): Failure {
  return failAmbiguous(
    `${what} overlaps several tax areas with different rates, and the address was not found`,
  );
}

/** The same failure, whose text keeps nothing in memory that it was made of. */
export function ownFailure({ failure, detail, field, ambiguous }: Failure): Failure {
  if (detail === undefined) return { failure, field };
  const own = { failure, detail: ownText(detail), field };
  return ambiguous === undefined ? own : { ambiguous, ...own };
}
