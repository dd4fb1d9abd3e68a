/** What is chosen of a ZIP, and what is likeliest where its areas are not taxed alike. */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldName } from '../../address/place-name.js';
import type { AreaRecord, ZipPart, ZipRecord } from '../../dataset/records.js';
import type { RateRange, Situs } from '../situs.js';
import type { Candidate } from './doubt.js';
import { addressLine } from './address-writer.js';

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
export function first([candidate]: readonly Candidate[]): Candidate {
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
export const NOWHERE = { lat: 0, lng: 0 };

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
    normalizedAddress: addressLine('', city, region, area.country),
    houseNumber: '',
    street: '',
    city,
    postalCode,
    ...(assumed === null ? {} : { assumed }),
    ...(stated === undefined ? {} : { stated }),
  };
}
