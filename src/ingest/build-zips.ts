/** The ZIP stage: lists of ZIPs, counts of doors and facts → ZIP and city records. */
import type { Boundaries, Overlay } from './build-boundaries.js';
import type { InternArea, PlaceFact } from './model.js';
import type { CountyFact } from './rates/facts.js';
import type { Recipe } from './recipe.js';
import type { SourceFiles } from './source-files.js';
import type { StateFact } from './state-facts.js';
import { readZipAuthorities } from './source/zip-authority.js';
import { readZipCounties } from './source/zip-county.js';
import { readGeonamesZips } from './source/zip-geonames.js';
import { bindZips, type ZipBinding } from './zip-bind.js';
import { loadZipFacts } from './zip-facts.js';
import type { UnplacedCity, ZipCount } from './zip-model.js';

export interface ZipStageInput {
  readonly recipe: Recipe;
  readonly files: SourceFiles;
  readonly states: readonly StateFact[];
  readonly counties: readonly CountyFact[];
  readonly places: readonly PlaceFact[];
  readonly boundaries: Boundaries;
  readonly overlay: Overlay;
  readonly unplaced: readonly UnplacedCity[];
  readonly counts: readonly ZipCount[];
  readonly intern: InternArea;
}

/** Binds every ZIP of the recipe's lists. */
export function buildZips(input: ZipStageInput): ZipBinding {
  const { recipe: { zips }, files, states, boundaries, overlay } = input;
  const fips = new Map(states.map((state) => [state.code, state.fips]));
  const codes = new Map(states.map((state) => [state.fips, state.code]));
  const pairs = (path: string | undefined): ReturnType<typeof readZipCounties> =>
    path === undefined ? [] : readZipCounties(files.text(path));
  return bindZips({
    states,
    counties: input.counties,
    places: input.places,
    placesLoaded: new Set([...boundaries.placesLoaded].map((state) => codes.get(state) ?? '')),
    unplaced: input.unplaced,
    points: readGeonamesZips(files.text(zips.points), (state) => fips.get(state) ?? ''),
    delivered: pairs(zips.delivered),
    tabulated: pairs(zips.tabulated),
    cities: zips.cities === undefined ? [] : readZipAuthorities(files.text(zips.cities)),
    counts: input.counts,
    countedStates: new Set(zips.counted ?? []),
    facts: loadZipFacts(files.factsDir),
    // Polygons of counties alone would say nothing that the crosswalks do not say better.
    ...(boundaries.places.length === 0 ? {} : { tupleAt: overlay.tupleAt }),
    intern: input.intern,
  });
}
