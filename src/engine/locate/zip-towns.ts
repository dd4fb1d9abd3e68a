/** The towns whose streets come without their ZIPs, by the ZIPs that reach into them. */
import { NumberCache } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { Locality } from '../../dataset/locality-list.js';
import type { ZipRecord } from '../../dataset/records.js';
import type { StreetCursor } from '../../dataset/street-cursor.js';
import { withoutSlivers } from './doubt.js';
import { lies } from './search.js';

/** ZIPs whose towns are remembered, in each of two generations. */
const ZIPS_MAX = 10_000;

/** The towns without ZIPs that a ZIP reaches of a state. */
export interface Reached {
  readonly towns: readonly Locality[];
  /** Some of them, which share their name with another: only streets in these areas are meant. */
  readonly namesakes: readonly Locality[];
  readonly areas: ReadonlySet<number>;
}

/** In place of a ZIP that is not known, or of one without such towns. */
export const NOWHERE: Reached = { towns: [], namesakes: [], areas: new Set() };

/** Finds them in one dataset; keeps what was asked for. */
export class ZipTowns {
  readonly #dataset: Dataset;
  readonly #known = new NumberCache<Reached>(ZIPS_MAX);

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  /** What a ZIP reaches of a state: by its postal names and by the places that it has parts of. */
  of(state: string, zip: ZipRecord): Reached {
    if (zip.state !== state) return this.#find(state, zip);
    let reached = this.#known.get(zip.zip);
    if (reached === undefined) this.#known.set(zip.zip, (reached = this.#find(state, zip)));
    return reached;
  }

  #find(state: string, { cities, parts }: ZipRecord): Reached {
    const { streets } = this.#dataset;
    if (!streets.hasState(state)) return NOWHERE;
    const areas = withoutSlivers(parts)
      .map(({ area }) => this.#dataset.area(area))
      .filter((area) => area.state === state && area.placeName !== '');
    const names = [...cities, ...areas.map(({ placeName }) => placeName.toUpperCase())];
    const found = [...new Set(names)].map((name) => streets.localities(state, name));
    const towns = withoutZips(found.flat());
    if (towns.length === 0) return NOWHERE;
    const namesakes = withoutZips(found.filter(({ length }) => length > 1).flat());
    return { towns, namesakes, areas: new Set(areas.map(({ id }) => id)) };
  }
}

function withoutZips(localities: readonly Locality[]): readonly Locality[] {
  return [...new Set(localities.filter((locality) => locality.withoutZips))];
}

/** Whether the street under the cursor is one of a town's that the ZIP may have. */
export function mayReach(cursor: StreetCursor, { towns, namesakes, areas }: Reached): boolean {
  if (!lies(cursor, towns)) return false;
  if (!lies(cursor, namesakes)) return true;
  for (let index = 0; index < cursor.areaCount; index += 1) {
    if (areas.has(cursor.areaOf(index))) return true;
  }
  return false;
}
