/** Locates an address whose door is not known, by its street or by its ZIP+4. */
import type { ParsedAddress } from '../../address/parsed.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { PlaceWriter } from '../../dataset/city-names.js';
import { failAmbiguous, type Failure } from '../../failure.js';
import type { Situs } from '../situs.js';
import type { Candidates } from './candidates.js';
import { AMBIGUOUS, type DateOf } from './doubt.js';
import { plus4Sent, type Query } from './search.js';

/** Locates such addresses in one dataset. */
export class DoorlessLocator {
  readonly #dataset: Dataset;
  readonly #places: PlaceWriter;

  constructor(dataset: Dataset, places: PlaceWriter) {
    this.#dataset = dataset;
    this.#places = places;
  }

  /** The answer for a street that lacks the number and lies in one tax area. */
  onStreet(query: Query, found: Candidates): Situs {
    const { reading, state, zip: asked } = query;
    const { streetArea: area, streetZip: zip } = found;
    const street = {
      state,
      city: found.streetCity,
      municipality: found.streetMunicipality,
      zip,
      cityAsked: reading.city,
    };
    const { place, city, postalCode } = this.#places.write(
      street,
      area,
      asked,
      plus4Sent(query, zip),
    );
    return {
      area,
      precision: 'street',
      lat: 0,
      lng: 0,
      place,
      houseNumber: reading.number,
      street: found.streetLabel,
      city,
      postalCode,
      apart: false,
    };
  }

  /** Locates by the ZIP+4 that was given, with the state's boundary file of the day. */
  byAddOn(reading: ParsedAddress, state: string, dateOf: DateOf): Situs | Failure | null {
    const { streets } = this.#dataset;
    if (reading.zip === '' || reading.zip4 === '' || !streets.hasState(state)) return null;
    const [zip, plus4] = [Number(reading.zip), Number(reading.zip4)];
    const [area, ...others] = streets.addOn(state, zip, plus4, dateOf(state));
    if (area === undefined) return null;
    if (others.length > 0) return failAmbiguous(AMBIGUOUS);
    const found = { state, city: 0, municipality: 0, zip, cityAsked: reading.city };
    const { place, city, postalCode } = this.#places.write(found, area, zip, plus4);
    return {
      area,
      precision: 'zip9',
      lat: 0,
      lng: 0,
      place,
      // Nothing confirms that the street exists there.
      houseNumber: '',
      street: '',
      city,
      postalCode,
      apart: false,
      stated: true,
    };
  }
}
