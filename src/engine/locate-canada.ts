/**
 * Canadian addresses: taxes there depend on the province alone, and the postal code's first
 * characters tell the province.
 */
import type { ParsedAddress } from '../address/parsed.js';
import { formatStreetName } from '../address/street-name.js';
import { titleCase } from '../address/title-case.js';
import type { Dataset } from '../dataset/dataset.js';
import { fail, type Failure } from '../failure.js';
import type { Situs } from './situs.js';

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
