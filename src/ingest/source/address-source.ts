/** Address sources as recipes name them: a file, its layout and what the file does not say. */
import { join } from 'node:path';
import { POINT_LAYOUTS, readDelimitedPoints, type PointLayoutName } from './address-delimited.js';
import { readGeoJsonPoints } from './address-geojson.js';
import type { AddressPoint, PointOptions } from './address-point.js';
import { readDelimitedRanges } from './street-ranges-delimited.js';
import type { RangeOptions, StreetRange } from './street-ranges-model.js';
import { readTigerRanges } from './tiger-addrfeat.js';

export interface PointSource extends PointOptions {
  /** Path below the folder of sources. */
  readonly file: string;
  readonly layout: PointLayoutName | 'geojson';
}

export interface RangeSource extends RangeOptions {
  readonly file: string;
  readonly layout: 'segments' | 'tiger-addrfeat';
}

/** Streams the points of a source. */
export function readPoints(folder: string, source: PointSource): AsyncGenerator<AddressPoint> {
  const path = join(folder, source.file);
  return source.layout === 'geojson'
    ? readGeoJsonPoints(path, source)
    : readDelimitedPoints(path, POINT_LAYOUTS[source.layout], source);
}

/** Streams the ranges of a source. */
export function readRanges(folder: string, source: RangeSource): AsyncGenerator<StreetRange> {
  const path = join(folder, source.file);
  return source.layout === 'segments'
    ? readDelimitedRanges(path, source)
    : readTigerRanges(path, source);
}
