/** Towns that are divisions of their county, and the cities and villages that places are there. */
import { type AreaTuple, TOWN_DIGITS } from '../model.js';
import type { Gazetteer } from '../rates/gazetteer.js';

/** Areas of a municipality; those of a town outside its villages first, whose name is its own. */
export function townFirst(
  municipality: string, areas: readonly number[], tuples: readonly AreaTuple[],
): readonly number[] {
  if (municipality.length !== TOWN_DIGITS) return areas;
  const isVillage = (area: number): boolean => tuples[area]?.place !== '';
  return [...areas.filter((area) => !isVillage(area)), ...areas.filter(isVillage)];
}

/**
 * The town that all areas of a place lie in: a file names either. Without boundaries of towns a
 * city is known to be one of them by its name ("Vergennes city"), and a village is in none known.
 */
export function townOf(
  place: string, county: string, towns: ReadonlySet<string>, gazetteer: Gazetteer,
): string {
  const [drawn = ''] = towns;
  if (drawn !== '' || towns.size > 1) return towns.size === 1 ? drawn : '';
  const name = gazetteer.place(place)?.fullName;
  return gazetteer.towns(county).find(({ fullName }) => fullName === name)?.geoid ?? '';
}
