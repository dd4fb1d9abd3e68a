/** Names of streets that are one typo away from the one asked for. */
import { foldStreetName } from '../../address/street-name.js';
import { typoAllowed } from '../../address/typo.js';
import type { StreetIndex } from '../../dataset/street-index.js';
import type { Reached } from './place-names.js';
import type { Query } from './search.js';

/** Most ZIPs of one city that are tried; only the largest cities have this many. */
export const CITY_ZIPS_MAX = 200;

/** Shortest name that is searched for typos: one of four letters may have lost one. */
const MISSPELT_LETTERS_MIN = 3;

/** Folded names near the place; `reached` are the towns that the ZIP reaches. */
export function similarNames(
  streets: StreetIndex,
  query: Query,
  reached: () => Reached,
): readonly string[] {
  const { state, zip, localities } = query;
  const { name } = query.reading;
  if (name.length < MISSPELT_LETTERS_MIN || !streets.hasState(state)) return [];
  const names: string[] = [];
  if (zip > 0) streets.similarInZip(state, zip, name, names);
  for (const { id } of localities) streets.similarInCity(state, id, name, names);
  const towns = localities.length > 0 ? [] : reached().towns;
  for (const { id } of towns) streets.similarInCity(state, id, name, names);
  if (names.length === 0) {
    for (const other of query.city?.zips.slice(0, CITY_ZIPS_MAX) ?? []) {
      streets.similarInZip(state, other, name, names);
    }
  }
  return [...new Set(names.filter(typoAllowed).map(foldStreetName))];
}
