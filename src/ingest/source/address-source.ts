/** Address sources in recipes: a file, its layout, and what the file itself does not say. */
import { join } from 'node:path';
import { READERS, type Reader, SST_LAYOUT } from '../readers.js';
import { FallenRows, settled, toleranceOf } from './fallen.js';
import type { AddressPoint } from './points.js';
import type { StreetRange } from './ranges.js';
import type { BoundaryRecord } from './sst-boundary.js';

export interface PointSource extends PointOptions {
  /** Path below the folder of sources. */
  readonly file: string;
  /** Name of a reader in the table of readers. */
  readonly layout: string;
  /** Percent of rows that may be unreadable; see TOLERANCE_PERCENT. */
  readonly tolerance?: string;
}

export type RangeSource = PointSource;

function readerOf<Read>(readers: ReadonlyMap<string, Reader<Read>>, layout: string): Read {
  const reader = readers.get(layout);
  if (reader === undefined) throw new RangeError(`no layout "${layout}"`);
  return reader.read;
}

/** Is given a sentence about rows that were left out. */
export type Report = (line: string, fallen: FallenRows) => void;
const UNHEARD: Report = () => undefined;

/**
 * Yields the points of a source.
 * @throws Error at the end, if it had no row or too many that cannot be read.
 */
export function readPoints(
  folder: string,
  source: PointSource,
  report: Report = UNHEARD,
): AsyncGenerator<AddressPoint> {
  const fallen = new FallenRows(source.file, toleranceOf(source.file, source.tolerance));
  const read = readerOf(READERS.points, source.layout);
  return settled(read(join(folder, source.file), { ...source, fallen }), fallen, report);
}

/**
 * Yields the ranges of a source.
 * @throws Error at the end, if it had no row or too many that cannot be read.
 */
export function readRanges(
  folder: string,
  source: RangeSource,
  report: Report = UNHEARD,
): AsyncGenerator<StreetRange> {
  const fallen = new FallenRows(source.file, toleranceOf(source.file, source.tolerance));
  const read = readerOf(READERS.ranges, source.layout);
  return settled(read(join(folder, source.file), { ...source, fallen }), fallen, report);
}

/** An entry of a file that gives the jurisdictions of addresses and ZIP+4s. */
export interface BoundaryRecordSource {
  readonly file: string;
  /** Name of a reader in the table of readers; SST_LAYOUT if absent. */
  readonly layout?: string;
  readonly state: string;
  readonly source: string;
  readonly tolerance?: string;
  /**
   * Sources of the catalogue that are more reliable: if one was fetched, this entry is left out.
   */
  readonly unless?: readonly string[];
}

/**
 * Yields the records of a boundary file at `path`.
 * @throws Error at the end, if it had no row or too many that cannot be read.
 */
export function readRecords(
  path: string,
  source: BoundaryRecordSource,
  report: Report = UNHEARD,
): AsyncGenerator<BoundaryRecord> {
  const fallen = new FallenRows(source.file, toleranceOf(source.file, source.tolerance));
  const read = readerOf(READERS.sst, source.layout ?? SST_LAYOUT);
  return settled(read(path, fallen), fallen, report);
}

/** What a file of points or ranges does not say itself. */
export interface PointOptions {
  readonly source: string;
  /** State of rows that do not name one. */
  readonly state: string;
  /** City of rows that do not name one. */
  readonly city?: string;
  /** Whether the city column holds municipalities, which are evidence of where a door lies. */
  readonly cityIsMunicipality?: boolean;
  /** Counts rows that are left out; if absent, they are not reported. */
  readonly fallen?: FallenRows;
}
