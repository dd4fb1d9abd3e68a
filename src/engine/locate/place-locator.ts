/**
 * Locates addresses in one dataset in the way that is needed: the door, the place of a sale where
 * no door is named or found, only the state, or a province of Canada.
 */
import { parseAddress } from '../../address/parse.js';
import type { Dataset } from '../../dataset/dataset.js';
import { DatasetGazetteer, PlaceWriter } from '../../dataset/city-names.js';
import { isFailure, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { RatesByArea } from '../rate/on-day.js';
import type { Situs } from '../situs.js';
import { ALIKE, Doubts, type DateOf, namesAnotherPlace } from './doubt.js';
import { DoorlessLocator } from './doorless.js';
import { AddressLocator } from './locator.js';
import { PostalLocator } from './postal.js';
import { needsProvince, ProvinceLocator } from './province.js';
import { StreetSearch } from './search.js';
import { WiderSearch } from './wider-search.js';
import { ReadingLocator } from './word-by-word.js';

/** Locates addresses in these ways, with caches shared by all of them. */
export class PlaceLocator {
  /** Locates doors, which is the usual way. */
  readonly addresses: AddressLocator;
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #doorless: DoorlessLocator;
  readonly #postal: PostalLocator;
  readonly #alike: PostalLocator;
  readonly #provinces: ProvinceLocator;

  constructor(dataset: Dataset, rates: RatesByArea) {
    this.#dataset = dataset;
    const gazetteer = (this.#gazetteer = new DatasetGazetteer(dataset));
    const doubts = new Doubts(dataset, rates, gazetteer);
    const places = new PlaceWriter(dataset, gazetteer);
    const wider = new WiderSearch(dataset);
    const search = new StreetSearch(dataset, doubts, places, wider);
    const doorless = (this.#doorless = new DoorlessLocator(dataset, places));
    const postal = (this.#postal = new PostalLocator(dataset, doubts));
    this.#alike = new PostalLocator(dataset, new Doubts(dataset, ALIKE, gazetteer));
    const provinces = (this.#provinces = new ProvinceLocator(dataset));
    const evidence = { dataset, gazetteer, search, wider, doorless, doubts, postal, provinces };
    const readings = new ReadingLocator(evidence);
    const isApart = (state: string): boolean => provinces.has(state);
    this.addresses = new AddressLocator({ dataset, gazetteer, search, readings, isApart });
  }

  /**
   * Locates a line that is meant to be Canadian. Without province and postal code, it is located in
   * the United States if it names a state or a ZIP.
   */
  locateCanadian(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.#provinces.locateLine(text);
    if (found !== null) return found;
    const { zip = '', state = '' } = parseAddress(text, this.#gazetteer)[0] ?? {};
    const isAmerican = zip !== '' || (state !== '' && !this.#provinces.has(state));
    return isAmerican ? this.addresses.locate(text, dateOf) : needsProvince();
  }

  /** Why the rate at coordinates in a province is missing; null where it is known. */
  unheldNear(area: number, lat: Microdegrees, lng: Microdegrees): string | null {
    return this.#provinces.unheldNear(area, lat, lng);
  }

  /**
   * Locates the place of a sale. If the line names no door (a post office box, no house number,
   * only a city), its ZIP+4 decides, or else its ZIP and city, but only where the choice cannot be
   * wrong.
   */
  locatePlace(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.addresses.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const [reading] = parseAddress(text, this.#gazetteer);
    if (reading === undefined || reading.country === 'CAN') return found;
    if (reading.kind === 'military') return found;
    // A street with a number was already searched with all evidence, so its refusal stands.
    if (reading.kind === 'street' && reading.number !== '') return found;
    const city = { ...reading, kind: 'place-only', number: '', name: '', suffix: '' } as const;
    const state = reading.state || (this.#dataset.zip(Number(reading.zip))?.state ?? '');
    if (namesAnotherPlace(reading, state)) return found;
    const addOn = this.#doorless.byAddOn(city, state, dateOf);
    if (addOn !== null && !isFailure(addOn)) return addOn;
    const postal = this.#postal.locate(city, dateOf);
    return isFailure(postal) ? found : postal;
  }

  /** Locates where only the state matters; if only rates are in doubt, by ZIP and city. */
  locateInState(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.addresses.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const isPlain = found.failure === 'address-incomplete' && found.ambiguous !== true;
    const [reading] = isPlain ? [] : parseAddress(text, this.#gazetteer);
    const place = reading?.zip ? this.#alike.locate(reading, dateOf) : found;
    return isFailure(place) ? found : place;
  }
}
