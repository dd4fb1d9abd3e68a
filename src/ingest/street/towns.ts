/** Towns that are divisions of their county, and the cities and villages in them. */
import type { AreaTuple } from '../model.js';
import type { Gazetteer } from '../rates/gazetteer.js';
import type { StatedTuple } from './boundary-records.js';

/**
 * Areas of a municipality, those with exactly this place and town first. A town may contain
 * villages, and borders of different maps leave slivers of a city in the towns beside it.
 */
export function ownFirst(
  { place, town }: Pick<AreaTuple, 'place' | 'town'>,
  areas: readonly number[],
  tuples: readonly AreaTuple[],
): readonly number[] {
  const isOwn = (area: number): boolean =>
    tuples[area]?.place === place && tuples[area]?.town === town;
  return [...areas.filter(isOwn), ...areas.filter((area) => !isOwn(area))];
}

/**
 * The town of a place, since a file names either. A city that is a town of its own has that town by
 * its full name ("Vergennes city"), even if a coarser border has slivers of the city elsewhere. A
 * village has the town in which all its areas lie, or none without boundaries of towns.
 */
export function townOf(
  place: string,
  county: string,
  towns: ReadonlySet<string>,
  gazetteer: Gazetteer,
): string {
  const name = gazetteer.place(place)?.fullName;
  const own = gazetteer.towns(county).find(({ fullName }) => fullName === name);
  const [drawn = ''] = towns;
  return own?.geoid ?? (towns.size === 1 ? drawn : '');
}

/**
 * The municipality of a code: seven digits of a place, with its county if the code is for one part;
 * or ten digits of a town.
 */
export function placeOf(
  gazetteer: Gazetteer,
  { state: fips, county, place }: StatedTuple,
  state: string,
): string | null {
  const aliased = gazetteer.city(state, `#${place}`, '');
  if (aliased.kind === 'code') return aliased.code;
  if (aliased.kind === 'dropped') return '';
  if (gazetteer.place(fips + place) !== undefined) return fips + place;
  const town = fips + county + place;
  return county !== '' && gazetteer.place(town) !== undefined ? town : null;
}
