/** Address range features of the Census Bureau: one shapefile a county, ranges on both sides. */
import { open } from 'shapefile';
import { toMicrodegrees } from '../../geo/microdegrees.js';
import {
  plausibleSide, rangePlace, rangeSide, type RangeOptions, type RangeSide, type StreetRange,
} from './street-ranges-model.js';

type Properties = Readonly<Record<string, unknown>>;

function text(properties: Properties, name: string): string {
  const value = properties[name];
  return typeof value === 'string' ? value.trim() : '';
}

function side(
  properties: Properties,
  letter: 'L' | 'R',
  geometry: readonly number[],
): RangeSide | null {
  const read = rangeSide(
    text(properties, `${letter}FROMHN`),
    text(properties, `${letter}TOHN`),
    text(properties, `PARITY${letter}`),
    text(properties, `ZIP${letter}`),
    text(properties, `PLUS4${letter}`),
    text(properties, `OFFSET${letter}`) === 'Y',
  );
  return plausibleSide(read, geometry);
}

/**
 * Streams the features that have a name and numbers. An edge with several names comes once for
 * each. `path` is the .shp file; the .dbf file lies beside it.
 */
export async function* readTigerRanges(
  path: string,
  options: RangeOptions,
): AsyncGenerator<StreetRange> {
  const source = await open(path, path.replace(/\.shp$/i, '.dbf'), { encoding: 'utf-8' });
  const place = rangePlace(options);
  for (;;) {
    const { done, value } = await source.read();
    if (done) return;
    const { properties, geometry } = value;
    if (properties === null || geometry.type !== 'LineString') continue;
    const shape: number[] = [];
    for (const [lng, lat] of geometry.coordinates) {
      shape.push(toMicrodegrees(lat ?? 0), toMicrodegrees(lng ?? 0));
    }
    const left = side(properties, 'L', shape);
    const right = side(properties, 'R', shape);
    const street = text(properties, 'FULLNAME');
    if (street === '' || shape.length < 4 || (left === null && right === null)) continue;
    yield {
      street, ...place, state: options.state, left, right, geometry: shape,
      area: null, begin: null, source: options.source,
    };
  }
}
