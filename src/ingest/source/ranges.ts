/** A stretch of street with the house numbers of its sides, as publishers state it. */
import { FIVE_DIGITS } from '../../base/patterns.js';
import { distanceMetres, toMicrodegrees } from '../../geo/microdegrees.js';
import type { DateInt } from '../../tax/date.js';
import { type LineShape, readLineShapes } from './line-shapes.js';
import type { PointOptions } from './address-source.js';
import { columnIndexes, readRows } from './rows.js';

export interface RangeSide {
  /** First and last number along the line; `from` may be the larger one. */
  readonly from: number;
  readonly to: number;
  readonly parity: 'odd' | 'even' | 'both';
  readonly zip: string;
  readonly zip4: string;
  /**
   * Whether doors stand farther from the line than usual, because another boundary runs along it.
   */
  readonly wideSetback: boolean;
}

export interface StreetRange {
  readonly street: string;
  readonly city: string;
  readonly municipality: string;
  readonly state: string;
  readonly left: RangeSide | null;
  readonly right: RangeSide | null;
  /** Microdegrees: lat, lng, lat, lng … along the line; empty where the source has no shape. */
  readonly geometry: readonly number[];
  /** Tax area that the source itself gives; null where it follows from the shape. */
  readonly area: number | null;
  /**
   * First and last day for which a state's boundary file states the range; null for other sources.
   */
  readonly begin: DateInt | null;
  readonly end?: DateInt;
  /** Set if it is stated for some units of its buildings only. */
  readonly units?: boolean;
  readonly source: string;
}

const NUMBER_MAX = 999_999;

/** Most house numbers per metre of a street; with more, an end of the range is wrong. */
const NUMBERS_PER_METRE_MAX = 10;
const NUMBERS_ALWAYS_FINE = 200;

/** The side; null where its range is too long for its street, so that one of its ends is wrong. */
function plausibleSide(side: RangeSide | null, geometry: readonly number[]): RangeSide | null {
  if (side === null) return null;
  const span = Math.abs(side.to - side.from);
  if (span <= NUMBERS_ALWAYS_FINE) return side;
  let metres = 0;
  for (let at = 2; at + 1 < geometry.length; at += 2) {
    metres += distanceMetres(
      geometry[at - 2]!,
      geometry[at - 1]!,
      geometry[at]!,
      geometry[at + 1]!,
    );
  }
  return span > metres * NUMBERS_PER_METRE_MAX ? null : side;
}

/** A side by its two numbers as written; null where there are none. */
export function rangeSide(
  from: string,
  to: string,
  parity: string,
  zip: string,
  zip4: string,
  wideSetback = false,
): RangeSide | null {
  const first = houseInteger(from);
  const last = houseInteger(to);
  if (first < 0 || last < 0 || (first === 0 && last === 0)) return null;
  return {
    from: first,
    to: last,
    parity: parityOf(parity, first, last),
    zip: FIVE_DIGITS.test(zip) ? zip : '',
    zip4: /^\d{4}$/.test(zip4) ? zip4 : '',
    wideSetback,
  };
}

function houseInteger(text: string): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : -1;
  return value > NUMBER_MAX ? -1 : value;
}

/** The stated parity if both ends agree with it, or else the parity of the ends. */
function parityOf(stated: string, first: number, last: number): RangeSide['parity'] {
  const mixed = (first + last) % 2 === 1;
  if (mixed || stated.toUpperCase() === 'B') return 'both';
  return first % 2 === 1 ? 'odd' : 'even';
}

type RangePlace = Pick<StreetRange, 'city' | 'municipality'>;

/** The recipe's names for the place of a range's street. */
function rangePlace(options: PointOptions): RangePlace {
  const city = options.city ?? '';
  return options.cityIsMunicipality === true
    ? { city: '', municipality: city }
    : { city, municipality: '' };
}

/** A stretch of a street, as in its row. */
interface Stretch {
  readonly street: string;
  readonly stated: readonly [RangeSide | null, RangeSide | null];
  readonly geometry: readonly number[];
}

/** The range of a stretch; null where nothing of it is usable, which is recorded. */
function rangeOf(
  { street, stated, geometry }: Stretch,
  options: PointOptions,
  place: RangePlace,
  row: number,
): StreetRange | null {
  const left = plausibleSide(stated[0], geometry);
  const right = plausibleSide(stated[1], geometry);
  if (street !== '' && geometry.length >= 4 && (left !== null || right !== null)) {
    return {
      street,
      ...place,
      state: options.state,
      left,
      right,
      geometry,
      area: null,
      begin: null,
      source: options.source,
    };
  }
  if (street === '') options.fallen?.leave(row, 'without a street');
  else if (stated[0] === null && stated[1] === null) {
    options.fallen?.leave(row, 'without house numbers');
  } else if (geometry.length < 4) options.fallen?.fault(row, 'without a line');
  else options.fallen?.leave(row, 'with more numbers than their street can bear');
  return null;
}

// Street segments with ranges and shapes as rows with a header, one segment a row.

const COLUMNS = {
  street: 'street',
  leftFrom: 'l_from',
  leftTo: 'l_to',
  rightFrom: 'r_from',
  rightTo: 'r_to',
  zipLeft: 'zip_left',
  zipRight: 'zip_right',
  geometry: 'geometry',
} as const;

/** Reads "lon,lat lon,lat …"; empty where a pair is not a position. */
function parseShape(text: string): number[] {
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
 * Yields the segments of a tab-separated file that have numbers on at least one side.
 * @throws Error when a column is missing.
 */
export async function* readDelimitedRanges(
  path: string,
  options: PointOptions,
): AsyncGenerator<StreetRange> {
  let at: Readonly<Record<keyof typeof COLUMNS, number>> | null = null;
  const place = rangePlace(options);
  for await (const fields of readRows(path, '\t')) {
    if (at === null) {
      at = columnIndexes(path, fields, COLUMNS);
      continue;
    }
    const column = at;
    const row = (options.fallen?.next() ?? 0) + 1;
    const field = (name: keyof typeof COLUMNS): string => fields[column[name]] ?? '';
    const geometry = parseShape(field('geometry'));
    const stated = [
      rangeSide(field('leftFrom'), field('leftTo'), '', field('zipLeft'), ''),
      rangeSide(field('rightFrom'), field('rightTo'), '', field('zipRight'), ''),
    ] as const;
    const range = rangeOf(
      { street: field('street').trim(), stated, geometry },
      options,
      place,
      row,
    );
    if (range !== null) yield range;
  }
}

// Address range features of the Census Bureau: one shapefile a county, ranges on both sides.

const NAME = 0;
const LEFT = 1;
const RIGHT = 7;
/** Columns: the name, and for each side first and last number, parity, ZIP, ZIP+4, offset. */
const TIGER_COLUMNS = [
  'FULLNAME',
  ...['L', 'R'].flatMap((side) => [
    `${side}FROMHN`,
    `${side}TOHN`,
    `PARITY${side}`,
    `ZIP${side}`,
    `PLUS4${side}`,
    `OFFSET${side}`,
  ]),
];

function tigerSide(feature: LineShape, first: number): RangeSide | null {
  const from = feature.text(first);
  const to = feature.text(first + 1);
  if (from === '' || to === '') return null;
  return rangeSide(
    from,
    to,
    feature.text(first + 2),
    feature.text(first + 3),
    feature.text(first + 4),
    feature.text(first + 5) === 'Y',
  );
}

/**
 * Yields the features that have a name and numbers. An edge with several names comes once for
 * each. `path` is the .shp file, with its .dbf beside it, or the zip archive they are in.
 */
export async function* readTigerRanges(
  path: string,
  options: PointOptions,
): AsyncGenerator<StreetRange> {
  const place = rangePlace(options);
  for await (const feature of readLineShapes(path, TIGER_COLUMNS)) {
    const row = options.fallen?.next() ?? 0;
    const street = feature.text(NAME);
    const stated = [tigerSide(feature, LEFT), tigerSide(feature, RIGHT)] as const;
    const bare = street === '' || (stated[0] === null && stated[1] === null);
    const geometry = bare ? [] : feature.line();
    const range = rangeOf({ street, stated, geometry }, options, place, row);
    if (range !== null) yield range;
  }
}
