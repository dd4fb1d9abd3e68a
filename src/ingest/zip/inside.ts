/** Spots inside areas that no ZIP's estimated land includes, such as those of territories. */
import type { AreaTuple } from '../model.js';
import { spotKey } from './cities.js';
import { kilometres, type Spot } from './placed.js';
import type { ZipLists } from './zip-facts.js';

/**
 * Points along each side of a boundary's box, in two attempts: the second only if the first has
 * none inside.
 */
const GRIDS = [16, 64] as const;

type Outlines = Pick<ZipLists, 'polygonOf' | 'tupleAt'>;
type Holds = (here: AreaTuple) => boolean;

/** Grid points in a boundary's box at which `holds` is true, beginning in the middle. */
function sampled(code: string, { polygonOf, tupleAt }: Outlines, holds: Holds): readonly Spot[] {
  const outline = code === '' ? undefined : polygonOf?.(code);
  if (outline === undefined || tupleAt === undefined) return [];
  const { minX, minY, maxX, maxY } = outline;
  const middle = { lat: (minY + maxY) / 2, lng: (minX + maxX) / 2 };
  for (const grid of GRIDS) {
    const spots: Spot[] = [];
    for (let at = 0; at < grid * grid; at += 1) {
      const lat = Math.floor(minY + ((maxY - minY) * (Math.floor(at / grid) + 0.5)) / grid);
      const lng = Math.floor(minX + ((maxX - minX) * ((at % grid) + 0.5)) / grid);
      const here = tupleAt(lat, lng);
      if (here !== null && holds(here)) spots.push({ lat, lng });
    }
    if (spots.length > 0) {
      return spots.sort((one, other) => kilometres(middle, one) - kilometres(middle, other));
    }
  }
  return [];
}

/**
 * Spots of a tuple, within its own boundaries. A list may name a city in a county in which it has
 * no land; then the spots are those of the city or else of the county.
 */
function spotsInside(tuple: AreaTuple, outlines: Outlines): readonly Spot[] {
  const { county, place, town } = tuple;
  const key = spotKey(tuple);
  const code = town || place;
  const tries: readonly (readonly [string, Holds])[] = [
    [code, (here) => spotKey(here) === key],
    [county, (here) => spotKey(here) === key],
    [code, (here) => (town === '' ? here.place === place : here.town === town)],
    [county, (here) => here.county === county],
  ];
  for (const [outline, holds] of tries) {
    const spots = sampled(outline, outlines, holds);
    if (spots.length > 0) return spots;
  }
  return [];
}

/** Finds these spots, and remembers those of each tuple. */
export class SpotsInside {
  readonly #outlines: Outlines;
  readonly #known = new Map<string, readonly Spot[]>();

  constructor(outlines: Outlines) {
    this.#outlines = outlines;
  }

  /** The spots of a tuple, beginning in the middle; none without boundaries. */
  of(tuple: AreaTuple): readonly Spot[] {
    const key = spotKey(tuple);
    let spots = this.#known.get(key);
    if (spots === undefined) this.#known.set(key, (spots = spotsInside(tuple, this.#outlines)));
    return spots;
  }
}
