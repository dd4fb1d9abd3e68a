/** Layers over what a recipe has: boundaries, places of districts and product rules. */
import { type Boundaries, type BoundaryFeature, drawnOver } from '../boundary/overlay.js';
import { plainName } from '../rates/gazetteer.js';
import type { ListReport } from '../rates/list.js';
import type { RateBookInput } from '../rates/book.js';
import { drawnDistricts, OwnDistricts } from './districts.js';
import { placeDistricts, type ZipCounties } from './places.js';
import { type ProductRow, withProducts } from './products.js';
import type { LayeredRates } from './rates.js';
import type { Layer } from './layer-files.js';

export type Documents = ReadonlyMap<string, readonly ProductRow[]>;

/** What a recipe has before its layers are laid over it. */
export interface Unlayered {
  readonly boundaries: Boundaries;
  readonly documents: Documents;
  readonly rates: {
    readonly input: Pick<RateBookInput, 'members' | 'states'>;
    readonly layered: Pick<LayeredRates, 'districts' | 'lines'>;
  };
  /** Asked for where a district has ZIPs. */
  readonly zipCounties: () => ZipCounties;
}

/** The same with the layers. */
export interface Layered {
  readonly boundaries: Boundaries;
  readonly documents: Documents;
  readonly districts: OwnDistricts;
  /** What was replaced, a sentence each. */
  readonly lines: readonly string[];
}

function replacedPolygons(
  what: string, held: readonly BoundaryFeature[], own: readonly BoundaryFeature[],
): readonly string[] {
  const keys = new Set(held.map(({ polygon }) => polygon.key));
  return own.filter(({ polygon }) => keys.has(polygon.key)).map(({ polygon, properties }) =>
    `layers draw the ${what} ${properties['NAME'] ?? ''} (${polygon.key}) anew`);
}

/** Cities that layers draw, over those of the recipe. */
export function withCities(
  boundaries: Boundaries, own: readonly BoundaryFeature[],
): { readonly boundaries: Boundaries; readonly lines: readonly string[] } {
  return {
    boundaries: { ...boundaries, places: drawnOver(boundaries.places, own) },
    lines: replacedPolygons('city', boundaries.places, own),
  };
}

/** Takes what layers draw from the listed cities that no boundary is held for. */
export function placeUnplaced(reports: readonly ListReport[], layers: readonly Layer[]): void {
  const drawn = new Set(layers.flatMap(({ rates }) => rates)
    .filter(({ level, boundary }) => level === 'city' && boundary !== '')
    .map(({ state, name }) => `${state}/${plainName(name)}`));
  if (drawn.size === 0) return;
  for (const { unplaced } of reports) {
    const left = unplaced.filter(({ state, name }) => !drawn.has(`${state}/${plainName(name)}`));
    unplaced.splice(0, unplaced.length, ...left);
  }
}

/**
 * Lays the layers over boundaries and documents; rates have them already.
 * @throws Error with the rows that cannot be placed or applied.
 */
export async function lay(layers: readonly Layer[], given: Unlayered): Promise<Layered> {
  const { boundaries, documents, rates: { input, layered } } = given;
  const { features, districts } = await placeDistricts(layered.districts, input.members,
    layered.districts.some(({ row }) => row.zips.length > 0) ? given.zipCounties() : new Map());
  const products = withProducts(documents.get('products') ?? [], layers,
    new Set((documents.get('tic') ?? []).map((row) => row['tic'] ?? '')),
    new Set(input.states.map(({ code }) => code)));
  const own = new Set(districts.map(({ code }) => code));
  const drawn = new Set(boundaries.districts.map(({ polygon }) => polygon.key)
    .filter((code) => !own.has(code)));
  const hasRules = layers.some((layer) => layer.products.length > 0);
  return {
    boundaries: { ...boundaries, districts: drawnOver(boundaries.districts, features) },
    documents: hasRules ? new Map([...documents, ['products', products.rows]]) : documents,
    districts: new OwnDistricts([...districts, ...drawnDistricts(drawn)]),
    lines: [
      ...layered.lines, ...replacedPolygons('district', boundaries.districts, features),
      ...products.lines,
    ],
  };
}
