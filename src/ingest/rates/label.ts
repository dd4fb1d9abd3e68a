/** Names and codes of jurisdictions as the wire shows them. */
import type { PlaceFact } from '../model.js';
import type { CountyFact } from './facts.js';

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

/** Five digits of a place or county subdivision. */
export function placeCode(geoid: string): string {
  return geoid.slice(-5);
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
