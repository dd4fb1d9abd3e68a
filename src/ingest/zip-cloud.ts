/**
 * Where a listed city's boundary is not loaded, land near it may be in the city or outside: the
 * remainder of its county is unknown in ZIPs of its name and within 15 km of their points.
 */
import { foldName } from '../engine/postal-name.js';
import type { ZipGround } from './zip-counties.js';
import { kilometres } from './zip-surroundings.js';
import type { UnplacedCity, ZipPoint } from './zip-model.js';

const NEAR_KM = 15;
const NONE: ReadonlySet<string> = new Set();

function isNear(one: ZipPoint, other: ZipPoint): boolean {
  return kilometres(one, other) <= NEAR_KM;
}

/**
 * `pointOf` gives a ZIP's point where it can be trusted. Gives, per ZIP, the counties whose
 * remainder cannot be told from a city.
 */
export function cloudedCounties(
  zips: readonly ZipGround[],
  pointOf: (zip: ZipGround) => ZipPoint | null,
  unplaced: readonly UnplacedCity[],
): (zip: ZipGround) => ReadonlySet<string> {
  const clouded = new Map<number, Set<string>>();
  const cloud = (zip: number, county: string): void => {
    const counties = clouded.get(zip);
    if (counties === undefined) clouded.set(zip, new Set([county]));
    else counties.add(county);
  };
  const inCounty = new Map<string, ZipGround[]>();
  for (const { county } of unplaced) inCounty.set(county, []);
  for (const zip of zips) for (const county of zip.counties) inCounty.get(county)?.push(zip);
  for (const { county, name } of unplaced) {
    const near = inCounty.get(county) ?? [];
    const named = near.filter((zip) =>
      zip.names.some((other) => foldName(other) === foldName(name)));
    const spots = named.map((zip) => pointOf(zip)).filter((spot) => spot !== null);
    for (const zip of named) cloud(zip.zip, county);
    for (const zip of near) {
      const spot = spots.length === 0 ? null : pointOf(zip);
      if (spot !== null && spots.some((other) => isNear(spot, other))) cloud(zip.zip, county);
    }
  }
  return (zip) => clouded.get(zip.zip) ?? NONE;
}
