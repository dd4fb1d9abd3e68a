/** Names and codes of jurisdictions as the wire shows them. */
import type { PlaceFact } from '../model.js';
import type { CountyFact } from './facts.js';

const PLACE_DIGITS = 7;

/** Words the Census puts after a county equivalent's name, longest first. */
const COUNTY_SUFFIX = new RegExp(' (City and Borough|Census Area|Planning Region|County|Parish|'
  + 'Borough|Municipality|Municipio|city)$');

/** "Orange County" to "Orange"; "Carson City" and "District of Columbia" stay. */
export function plainCounty(fullName: string): string {
  return fullName.replace(COUNTY_SUFFIX, '');
}

/** The county's code: the state's own number where it has one, else the last three digits. */
export function countyCode(county: CountyFact): string {
  return county.code || county.fips.slice(2);
}

/**
 * Five digits of a place. A governing town has those of the city that is one with it, and none
 * where there is no such city: the numbers of town lists are not the Census Bureau's.
 */
export function placeCode(
  geoid: string, within: PlaceFact | undefined, name: string,
): string | null {
  if (geoid.length <= PLACE_DIGITS) return geoid.slice(-5);
  return within?.name === name ? within.geoid.slice(-5) : null;
}

/** What the Census adds to the name of a city that is one with its county. */
const GOVERNMENT = new RegExp(' (metropolitan|metro|unified|consolidated) government'
  + '( \\(balance\\))?$| \\(balance\\)$');

/** "Nashville-Davidson metropolitan government (balance)" to "Nashville-Davidson". */
export function plainPlace(name: string): string {
  return name.replace(GOVERNMENT, '');
}

/** Label of a place: capitals, as publishers print it. */
export function placeLabel(place: PlaceFact): string {
  return plainPlace(place.name).toUpperCase();
}

/** Label of a district: its name in capitals, or its code where no name is known. */
export function districtLabel(name: string, code: string): string {
  return name ? name.toUpperCase() : `LOCAL DISTRICT: ${code}`;
}
