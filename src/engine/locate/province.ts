/** Canadian addresses: the province follows from the postal code, and is all that taxes ask for. */
import type { ParsedAddress } from '../../address/parsed.js';
import { formatStreetName } from '../../address/street-name.js';
import { titleCase } from '../../address/title-case.js';
import type { Dataset } from '../../dataset/dataset.js';
import { fail, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { Situs } from '../situs.js';

/** The document of provinces' tax areas by the first character, or three, of a postal code. */
export const POSTAL_PREFIXES = 'postal-prefixes';

/** A province's tax area and a spot in it. */
interface Prefix {
  readonly area: number;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

const SHORT = 1;
const LONG = 3;

/** Locates Canadian addresses of one dataset. */
export class ProvinceLocator {
  readonly #dataset: Dataset;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** Locates an address by its postal code; precision `postal`. */
  locate(reading: ParsedAddress): Situs | Failure {
    const { canadianPostalCode: code, state: named, city } = reading;
    if (code === '') {
      return fail('address-incomplete', 'a Canadian address needs its postal code');
    }
    const prefix = this.#ofPrefix(code);
    if (prefix === null) return fail('address-incomplete', `postal code ${code} is in no province`);
    const { area, lat, lng } = prefix;
    const { state } = this.#dataset.area(area);
    if (named !== '' && named !== state) {
      return fail('address-incomplete', `postal code ${code} is not in ${named}`);
    }
    const street = formatStreetName(reading);
    const line = [reading.number, street].filter((word) => word !== '').join(' ');
    const label = titleCase(city);
    return {
      area, precision: 'postal', lat, lng,
      normalizedAddress: [line, label, `${state} ${code}`, 'Canada']
        .filter((word) => word !== '').join(', '),
      houseNumber: reading.number, street, city: label, postalCode: code,
    };
  }

  #ofPrefix(postalCode: string): Prefix | null {
    const prefixes = this.#dataset.document(POSTAL_PREFIXES) as Readonly<Record<string, Prefix>>;
    return prefixes?.[postalCode.slice(0, LONG)] ?? prefixes?.[postalCode.slice(0, SHORT)] ?? null;
  }
}
