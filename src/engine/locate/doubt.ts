/**
 * Why an address is refused, and doubts about a door that only part of the evidence supports: where
 * the rest of it leads to a place whose streets are not held, a street of the same name may be
 * there.
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

/** Of a line that gives no reading which could be looked up. */
export function unreadable(text: string, gazetteer: DatasetGazetteer): Failure {
  const isTwo = text.length <= ADDRESS_CHARS_MAX && namesTwoZips(text, gazetteer);
  return fail('address-incomplete', isTwo ? TWO_ZIPS : INCOMPLETE);
}

/** Lines that name no door, whatever the dataset holds. */
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

/** The day to compare rates on, by state. */
export type DateOf = (state: string) => DateInt;

/** Parts below this share of a ZIP's doors are slivers (0.5 %). */
const SLIVER_PPM = 5_000;

/** ZIPs so near to those of a city may use its name: 30 km, in microdegrees of latitude. */
const NEAR_MICRO = 270_000;

/** The parts of a ZIP that an address may lie in. */
export function withoutSlivers(parts: readonly ZipPart[]): readonly ZipPart[] {
  return parts.filter(({ weight }) => weight === null || weight >= SLIVER_PPM);
}

/**
 * Which evidence the door has: all that was given, the city without the ZIP, another ZIP of the
 * city but not the city, or the ZIP without the city.
 */
export type Support = 'agreed' | 'elsewhere' | 'beside' | 'foreign';

/** A tax area that an address may lie in. */
export interface Candidate {
  readonly area: AreaRecord;
  /** Upper-case name of the row. */
  readonly city: string;
  readonly incorporated: boolean;
  /** A spot inside the area; zeros where none is known. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** Whether two spots that are known lie within NEAR_MICRO of each other, north and east. */
function isNear(one: ZipPart, other: ZipPart): boolean {
  if ((one.lat === 0 && one.lng === 0) || (other.lat === 0 && other.lng === 0)) return false;
  const shrink = Math.cos((one.lat * Math.PI) / 180_000_000);
  return (
    Math.abs(one.lat - other.lat) <= NEAR_MICRO &&
    Math.abs(one.lng - other.lng) * shrink <= NEAR_MICRO
  );
}

/** Decides whether it matters which of several tax areas an address lies in, in one dataset. */
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
   * Whether the tax area of a door that lacks some evidence is to be doubted: the places that it
   * might lie in instead cannot be ruled out and are not taxed alike on the day.
   */
  isDoubtful(query: Query, support: Support, area: number, dateOf: DateOf): boolean {
    const { state, zip, zipRecord, city } = query;
    let others: readonly number[];
    if (support === 'beside') {
      const parts = withoutSlivers(zipRecord?.parts ?? []).map((part) => part.area);
      return !this.isAlike([area, ...parts, ...(city?.areas ?? [])], dateOf);
    }
    if (support === 'elsewhere') {
      // A ZIP whose streets are all held, and which the city does not have, is a slip of the
      // writer's; any other ZIP may have the street.
      const isOfCity = city?.zips.includes(zip) === true;
      const isHeld = this.#dataset.streets.hasZip(state, zip) || this.#isListed(state, zipRecord);
      if (!isOfCity && isHeld) return false;
      others = withoutSlivers(zipRecord?.parts ?? []).map((part) => part.area);
      if (others.length === 0) return true;
    } else {
      // Without a ZIP, the municipality's own list of doors rules out what is not on it.
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

  /** Whether areas are taxed alike on the day; AREA_MIXED is like none. */
  isAlike(areas: readonly number[], dateOf: DateOf): boolean {
    if (areas.includes(AREA_MIXED)) return false;
    return (
      this.compare(
        areas.map((id) => this.#dataset.area(id)),
        dateOf,
      ) === 'equal'
    );
  }

  /** Whether municipalities list the doors of every place that a ZIP reaches. */
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
   * The city that an address names, where it is another place than its ZIP's and taxed otherwise
   * than the `area` that the ZIP alone leads to; null where it is not. A name that no place of the
   * state has says nothing. Cities near by lend their name to ZIPs around them; of one that is far
   * city or ZIP is a slip, and nobody can tell which.
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

  /** Two areas of one city: a district or a county line within it is no doubt about the city. */
  #isSamePlace(one: number, other: number): boolean {
    const { placeGeoid } = this.#dataset.area(one);
    return placeGeoid !== '' && placeGeoid === this.#dataset.area(other).placeGeoid;
  }

  /**
   * Compares totals on the day at each area's state; `equal` where every area's sales and use
   * totals are known and the same, though their rows may differ. An area that is unknown on the day
   * equals no other, unless it is the only one; where none is known that is the refusal.
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

  /** What an area takes in all on the day, to be compared; null where it is not known. */
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

/** Whether a line names another place than the one that its end leads to. */
export function namesAnotherPlace({ otherPlace }: ParsedAddress, state: string): boolean {
  return otherPlace !== '' && otherPlace !== state;
}

const NONE = sumRates([]);
/** In place of rates, where what divides places by them does not matter. */
export const ALIKE = { at: () => ({ sales: NONE, use: NONE, rows: [] }) };
