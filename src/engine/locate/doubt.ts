/**
 * Reasons to refuse an address, and doubts about a door that only part of the evidence supports. If
 * the rest of the evidence leads to a place whose streets are not known, that place may have a
 * street of the same name.
 */
import { ADDRESS_CHARS_MAX, namesTwoZips } from '../../address/parse.js';
import { foldName } from '../../address/place-name.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { DatasetGazetteer } from '../../dataset/city-names.js';
import type { AreaRecord, ZipPart, ZipRecord } from '../../dataset/records.js';
import { isFailure, type Failure, fail } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import { sumRates } from '../../tax/rate.js';
import type { RatesByArea } from '../rate/on-day.js';
import type { RateRange } from '../situs.js';
import type { Query } from './search.js';
import type { ParsedAddress } from '../../address/parsed.js';
import { AREA_MIXED } from './street-fit.js';

const INCOMPLETE = 'give a house number and street with a city and state or a ZIP code';
const TWO_ZIPS = 'two ZIP codes stand behind each other: give the one that is meant';
export const AMBIGUOUS =
  'the address matches several places, which may be taxed differently: add or check the ' +
  'ZIP code, city, street type or direction';
export const CONTRADICTION =
  'the street is known in one place and the ZIP code or city leads to another, ' +
  'which may be taxed differently: check them';

/** The refusal of a line that has no reading which could be located. */
export function unreadable(text: string, gazetteer: DatasetGazetteer): Failure {
  const isTwo = text.length <= ADDRESS_CHARS_MAX && namesTwoZips(text, gazetteer);
  return fail('address-incomplete', isTwo ? TWO_ZIPS : INCOMPLETE);
}

/** The refusal of a line that names no door, in any dataset; null for others. */
export function refuse(reading: ParsedAddress): Failure | null {
  switch (reading.kind) {
    case 'po-box':
      return fail('address-incomplete', 'a post office box has no location: give a street');
    case 'military':
      return fail('address-incomplete', 'military addresses lie in no tax area of a state');
    case 'intersection':
      return fail('address-incomplete', 'an intersection is no address: give a house number');
    case 'place-only':
      return fail('address-incomplete', INCOMPLETE);
    case 'street':
      return null;
  }
}

/** Gives the day on which rates of a state are compared. */
export type DateOf = (state: string) => DateInt;

/** Parts with less than this share of a ZIP's doors (0.5 %) are ignored. */
export const SLIVER_PPM = 5_000;

/** ZIPs as near as this to those of a city may use its name: 30 km, in microdegrees of latitude. */
const NEAR_MICRO = 270_000;

/** The parts of a ZIP that an address may lie in. */
export function withoutSlivers(parts: readonly ZipPart[]): readonly ZipPart[] {
  return parts.filter(({ weight }) => weight === null || weight >= SLIVER_PPM);
}

/**
 * Which evidence supports the door: `agreed`, all that was given; `elsewhere`, the city but another
 * ZIP; `beside`, another ZIP of the city but not the city; `foreign`, the ZIP but another city.
 */
export type Support = 'agreed' | 'elsewhere' | 'beside' | 'foreign';

/** A tax area that an address may lie in. */
export interface Candidate {
  readonly area: AreaRecord;
  /** Upper-case name of the row. */
  readonly city: string;
  readonly incorporated: boolean;
  /** A spot inside the area; both zero where none is known. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** Whether two known spots are at most NEAR_MICRO apart in both directions. */
function isNear(one: ZipPart, other: ZipPart): boolean {
  if ((one.lat === 0 && one.lng === 0) || (other.lat === 0 && other.lng === 0)) return false;
  const shrink = Math.cos((one.lat * Math.PI) / 180_000_000);
  return (
    Math.abs(one.lat - other.lat) <= NEAR_MICRO &&
    Math.abs(one.lng - other.lng) * shrink <= NEAR_MICRO
  );
}

/** Decides for one dataset whether it matters in which of several tax areas an address lies. */
export class Doubts {
  readonly #dataset: Dataset;
  readonly #rates: Pick<RatesByArea, 'at'>;
  readonly #gazetteer: DatasetGazetteer;

  constructor(dataset: Dataset, rates: Pick<RatesByArea, 'at'>, gazetteer: DatasetGazetteer) {
    this.#dataset = dataset;
    this.#rates = rates;
    this.#gazetteer = gazetteer;
  }

  /**
   * Whether a door that lacks some evidence is doubtful: the places where it might lie instead
   * cannot be ruled out, and are taxed differently on the day.
   */
  isDoubtful(query: Query, support: Support, area: number, dateOf: DateOf): boolean {
    const { state, zip, zipRecord, city } = query;
    let others: readonly number[];
    if (support === 'beside') {
      const parts = withoutSlivers(zipRecord?.parts ?? []).map((part) => part.area);
      return !this.isAlike([area, ...parts, ...(city?.areas ?? [])], dateOf);
    }
    if (support === 'elsewhere') {
      // If a ZIP does not belong to the city and all of its streets are known, the ZIP is a
      // mistake. Any other ZIP may have the street.
      const isOfCity = city?.zips.includes(zip) === true;
      const isHeld = this.#dataset.streets.hasZip(state, zip) || this.#isListed(state, zipRecord);
      if (!isOfCity && isHeld) return false;
      others = withoutSlivers(zipRecord?.parts ?? []).map((part) => part.area);
      if (others.length === 0) return true;
    } else {
      // Without a ZIP, doors that the municipality's own list lacks are ruled out.
      const covered = query.localities.some((locality) => locality.isMunicipality);
      if (covered && support === 'agreed') return false;
      if (city === null || city.areas.length === 0) return false;
      others = city.areas;
    }
    if (others.includes(area) || others.some((other) => this.#isSamePlace(area, other))) {
      return false;
    }
    return !this.isAlike([area, ...others], dateOf);
  }

  /** Whether areas are taxed the same on the day; AREA_MIXED is equal to nothing. */
  isAlike(areas: readonly number[], dateOf: DateOf): boolean {
    if (areas.includes(AREA_MIXED)) return false;
    return (
      this.compare(
        areas.map((id) => this.#dataset.area(id)),
        dateOf,
      ) === 'equal'
    );
  }

  /** Whether every place that a ZIP reaches has a list of doors from its municipality. */
  #isListed(state: string, zip: ZipRecord | null): boolean {
    const parts = withoutSlivers(zip?.parts ?? []);
    return (
      parts.length > 0 &&
      parts.every(({ area }) => {
        const { placeName } = this.#dataset.area(area);
        const places = this.#dataset.streets.localities(state, placeName.toUpperCase());
        return places.some(({ isMunicipality }) => isMunicipality);
      })
    );
  }

  /**
   * The city that an address names, if it is a place other than the ZIP's and taxed differently
   * from `area`, to which the ZIP alone leads; otherwise null. A name that no place of the state
   * has is ignored. A city near by may lend its name to ZIPs around it; if it is far away, either
   * the city or the ZIP is a mistake.
   */
  elsewhere(
    name: string,
    zip: ZipRecord,
    area: AreaRecord,
    dateOf: DateOf,
  ): { readonly areas: readonly AreaRecord[]; readonly isNear: boolean } | null {
    const city = name === '' ? null : this.#gazetteer.city(area.state, name);
    if (city === null || city.zips.includes(zip.zip)) return null;
    if (zip.cities.some((own) => foldName(own) === foldName(name))) return null;
    const held = new Set([
      ...zip.parts.flatMap((part) => [part.area, part.doubt ?? part.area]),
      ...zip.reach.map((beside) => beside.area),
    ]);
    const parts = city.zips.flatMap((other) => this.#dataset.zip(other)?.parts ?? []);
    const ids = city.areas.length > 0 ? city.areas : parts.map((part) => part.area);
    if (ids.length === 0 || ids.some((own) => held.has(own))) return null;
    const areas = ids.map((own) => this.#dataset.area(own));
    if (this.compare([area, ...areas], dateOf) === 'equal') return null;
    return { areas, isNear: parts.some((one) => zip.parts.some((own) => isNear(one, own))) };
  }

  /** Whether two areas are in one city, divided only by a district or a county line. */
  #isSamePlace(one: number, other: number): boolean {
    const { placeGeoid } = this.#dataset.area(one);
    return placeGeoid !== '' && placeGeoid === this.#dataset.area(other).placeGeoid;
  }

  /**
   * Compares totals, each on the day in its state. `equal` if all sales and use totals are known
   * and the same, even if the rows differ. An area with unknown rates equals no other. Where no
   * rates are known at all, the result is the refusal.
   */
  compare(areas: readonly AreaRecord[], dateOf: DateOf): 'equal' | 'different' | Failure {
    if (new Set(areas.map(({ id }) => id)).size <= 1) return 'equal';
    let gap: Failure | null = null;
    const totals = new Set<string>();
    for (const area of areas) {
      const rates = this.#rates.at(area.id, dateOf(area.state));
      if (isFailure(rates)) gap ??= rates;
      else totals.add(totalOf(rates));
    }
    if (gap !== null) return totals.size === 0 ? gap : 'different';
    return totals.size <= 1 ? 'equal' : 'different';
  }

  /** The area's total rates on the day, as a text to compare; null where they are not known. */
  total({ id, state }: AreaRecord, dateOf: DateOf): string | null {
    const rates = this.#rates.at(id, dateOf(state));
    return isFailure(rates) ? null : totalOf(rates);
  }

  /** The lowest and the highest combined sales rate of the areas; null where none is known. */
  range(areas: readonly AreaRecord[], dateOf: DateOf): RateRange | null {
    const all = areas.map(({ id, state }) => this.#rates.at(id, dateOf(state)));
    const known = all
      .flatMap((rates) => (isFailure(rates) ? [] : [rates.sales]))
      .sort((a, b) => a - b);
    const [lowest] = known;
    const highest = known.at(-1);
    return lowest === undefined || highest === undefined
      ? null
      : { lowest, highest, isOpen: known.length < all.length };
  }
}

function totalOf({ sales, use }: { readonly sales: number; readonly use: number }): string {
  return `${sales}|${use}`;
}

/** Whether a line also names another place than the one at its end. */
export function namesAnotherPlace({ otherPlace }: ParsedAddress, state: string): boolean {
  return otherPlace !== '' && otherPlace !== state;
}

const NONE = sumRates([]);
/** Used as the rates where it does not matter that places are taxed differently. */
export const ALIKE = { at: () => ({ sales: NONE, use: NONE, rows: [] }) };
