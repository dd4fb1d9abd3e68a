/**
 * What is asked of addresses in one dataset: their doors, and where none is named or found the
 * place of a sale, the state alone, or a province of Canada.
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

/** Locates addresses by whatever they are asked for; keeps what is reused from one to the next. */
export class PlaceLocator {
  /** For doors, as most are asked for. */
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
   * Locates a line that is asked for as one of Canada. Without province and postal code it is
   * looked for in the United States where it names a state or a ZIP.
   */
  locateCanadian(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.#provinces.locateLine(text);
    if (found !== null) return found;
    const { zip = '', state = '' } = parseAddress(text, this.#gazetteer)[0] ?? {};
    const isAmerican = zip !== '' || (state !== '' && !this.#provinces.has(state));
    return isAmerican ? this.addresses.locate(text, dateOf) : needsProvince();
  }

  /** Why the rate of coordinates in a province is not held; null where it is. */
  unheldNear(area: number, lat: Microdegrees, lng: Microdegrees): string | null {
    return this.#provinces.unheldNear(area, lat, lng);
  }

  /**
   * Locates the place of a sale: where the line names no door (a post office box, no house number,
   * a city alone) its ZIP+4 decides, else its ZIP and city, which answer only where the choice
   * cannot be wrong.
   */
  locatePlace(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.addresses.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const [reading] = parseAddress(text, this.#gazetteer);
    if (reading === undefined || reading.country === 'CAN') return found;
    if (reading.kind === 'military') return found;
    // A street with a number was looked for by all evidence; a refusal that came of it stands.
    if (reading.kind === 'street' && reading.number !== '') return found;
    const city = { ...reading, kind: 'place-only', number: '', name: '', suffix: '' } as const;
    const state = reading.state || (this.#dataset.zip(Number(reading.zip))?.state ?? '');
    if (namesAnotherPlace(reading, state)) return found;
    const addOn = this.#doorless.byAddOn(city, state, dateOf);
    if (addOn !== null && !isFailure(addOn)) return addOn;
    const postal = this.#postal.locate(city, dateOf);
    return isFailure(postal) ? found : postal;
  }

  /** Locates where the state alone matters: by ZIP and city where only rates are in doubt. */
  locateInState(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.addresses.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const isPlain = found.failure === 'address-incomplete' && found.ambiguous !== true;
    const [reading] = isPlain ? [] : parseAddress(text, this.#gazetteer);
    const place = reading?.zip ? this.#alike.locate(reading, dateOf) : found;
    return isFailure(place) ? found : place;
  }
}
