/** Land that may lie in a listed city whose boundary is not loaded. */
import { foldName } from '../../address/place-name.js';
import type { PostalZip } from './counties.js';
import type { UnplacedCity, ZipPoint } from './zip-facts.js';
import { kilometres } from './placed.js';

// Where a listed city's boundary is not loaded, land near it may be in the city or outside: the
// remainder of its county is unknown in ZIPs of its name and within 15 km of their points.

const NEAR_KM = 15;
const NONE: ReadonlySet<string> = new Set();

function isNear(one: ZipPoint, other: ZipPoint): boolean {
  return kilometres(one, other) <= NEAR_KM;
}

function isNamed(zip: PostalZip, name: string): boolean {
  return zip.names.some((other) => foldName(other) === foldName(name));
}

/**
 * `pointOf` gives a ZIP's point where it can be trusted. Gives, per ZIP, the counties whose
 * remainder cannot be told from a city.
 */
export function doubtfulCounties(
  zips: readonly PostalZip[],
  pointOf: (zip: PostalZip) => ZipPoint | null,
  unplaced: readonly UnplacedCity[],
): (zip: PostalZip) => ReadonlySet<string> {
  const doubtful = new Map<number, Set<string>>();
  const doubt = (zip: number, county: string): void => {
    const counties = doubtful.get(zip);
    if (counties === undefined) doubtful.set(zip, new Set([county]));
    else counties.add(county);
  };
  const inCounty = new Map<string, PostalZip[]>();
  const cities = unplaced.flatMap((city) => city.county !== '' ? [city] : countiesOf(zips, city)
    .map((county) => ({ ...city, county })));
  for (const { county } of cities) inCounty.set(county, []);
  for (const zip of zips) for (const county of zip.counties) inCounty.get(county)?.push(zip);
  for (const { county, name } of cities) {
    const near = inCounty.get(county) ?? [];
    const named = near.filter((zip) => isNamed(zip, name));
    const spots = named.map((zip) => pointOf(zip)).filter((spot) => spot !== null);
    for (const zip of named) doubt(zip.zip, county);
    for (const zip of near) {
      // Where no ZIP bears its name the city may lie in any.
      if (named.length === 0) doubt(zip.zip, county);
      const spot = spots.length === 0 ? null : pointOf(zip);
      if (spot !== null && spots.some((other) => isNear(spot, other))) doubt(zip.zip, county);
    }
  }
  return (zip) => doubtful.get(zip.zip) ?? NONE;
}

/** Counties of a city whose list gives none: those of the ZIPs of its name, else all there are. */
function countiesOf(zips: readonly PostalZip[], { state, name }: UnplacedCity): readonly string[] {
  const home = zips.filter((zip) => zip.state === state);
  const named = home.filter((zip) => isNamed(zip, name));
  return [...new Set((named.length > 0 ? named : home).flatMap(({ counties }) => counties))];
}
