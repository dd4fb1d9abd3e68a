/** Street segments with ranges and shapes as rows with a header, one segment a row. */
import { toMicrodegrees } from '../../geo/microdegrees.js';
import { columnIndexes, readRows } from './address-rows.js';
import {
  plausibleSide, rangePlace, rangeSide, type RangeOptions, type RangeSide, type StreetRange,
} from './street-ranges-model.js';

const COLUMNS = {
  street: 'street', leftFrom: 'l_from', leftTo: 'l_to', rightFrom: 'r_from', rightTo: 'r_to',
  zipLeft: 'zip_left', zipRight: 'zip_right', geometry: 'geometry',
} as const;

/** Reads "lon,lat lon,lat …"; empty when a pair is not a position. */
export function parseShape(text: string): number[] {
  const shape: number[] = [];
  for (const pair of text.trim().split(' ')) {
    const [lng, lat] = pair.split(',').map(Number);
    if (lng === undefined || lat === undefined) return [];
    if (!Number.isFinite(lng) || !Number.isFinite(lat)) return [];
    shape.push(toMicrodegrees(lat), toMicrodegrees(lng));
  }
  return shape;
}

/**
 * Streams the segments of a tab-separated file that have numbers on at least one side.
 * @throws Error when a column is missing.
 */
export async function* readDelimitedRanges(
  path: string,
  options: RangeOptions,
): AsyncGenerator<StreetRange> {
  let at: Readonly<Record<keyof typeof COLUMNS, number>> | null = null;
  const place = rangePlace(options);
  for await (const fields of readRows(path, '\t')) {
    if (at === null) {
      at = columnIndexes(path, fields, COLUMNS);
      continue;
    }
    const column = at;
    const field = (name: keyof typeof COLUMNS): string => fields[column[name]] ?? '';
    const geometry = parseShape(field('geometry'));
    const side = (from: string, to: string, zip: string): RangeSide | null =>
      plausibleSide(rangeSide(from, to, '', zip, ''), geometry);
    const left = side(field('leftFrom'), field('leftTo'), field('zipLeft'));
    const right = side(field('rightFrom'), field('rightTo'), field('zipRight'));
    const street = field('street').trim();
    if ((left === null && right === null) || geometry.length < 4 || street === '') continue;
    yield {
      street, ...place, state: options.state, left, right, geometry,
      area: null, begin: null, source: options.source,
    };
  }
}
