/** Address sources as recipes name them: a file, its layout and what the file does not say. */
import { join } from 'node:path';
import { READERS, type Reader } from '../readers.js';
import type { AddressPoint, PointOptions } from './points.js';
import type { RangeOptions, StreetRange } from './ranges.js';

export interface PointSource extends PointOptions {
  /** Path below the folder of sources. */
  readonly file: string;
  /** Name of a reader in the table of readers. */
  readonly layout: string;
}

export interface RangeSource extends RangeOptions {
  readonly file: string;
  readonly layout: string;
}

function readerOf<Read>(readers: ReadonlyMap<string, Reader<Read>>, layout: string): Read {
  const reader = readers.get(layout);
  if (reader === undefined) throw new RangeError(`no layout "${layout}"`);
  return reader.read;
}

/** Streams the points of a source. */
export function readPoints(folder: string, source: PointSource): AsyncGenerator<AddressPoint> {
  return readerOf(READERS.points, source.layout)(join(folder, source.file), source);
}

/** Streams the ranges of a source. */
export function readRanges(folder: string, source: RangeSource): AsyncGenerator<StreetRange> {
  return readerOf(READERS.ranges, source.layout)(join(folder, source.file), source);
}
