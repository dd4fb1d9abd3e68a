/** An address point as publishers state it, before any street index exists. */
import { isObject, type JsonObject, jsonOf } from '../../base/json-object.js';
import { type Microdegrees, toMicrodegrees } from '../../geo/microdegrees.js';
import { columnIndexes, readLines, readRows } from './rows.js';
import type { PointOptions } from './address-source.js';

/** Members that a point and an unchecked row have in common. */
interface PointTexts {
  readonly street: string;
  readonly unit: string;
  /** Postal city, if the source gives one. */
  readonly city: string;
  /** Municipality of the door by its emergency address, if the source gives one. */
  readonly municipality: string;
  readonly county: string;
  /** Two-letter code. */
  readonly state: string;
  /** Five digits or "". */
  readonly zip: string;
  /** Four digits or "". */
  readonly zip4: string;
}

export interface AddressPoint extends PointTexts {
  /** House number with what belongs to it: "12", "12A", "123 1/2". */
  readonly number: string;
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
  /** Name of the source. */
  readonly source: string;
}

/** The fields of a row by meaning, unchecked. */
interface RawPoint extends PointTexts {
  readonly number: string;
  readonly numberPrefix: string;
  readonly numberSuffix: string;
  /** Degrees; null where the row has none, NaN where they are not numbers. */
  readonly lat: number | null;
  readonly lng: number | null;
}

/** What may follow a number as part of it; a longer text is a unit. */
const NUMBER_SUFFIX = /^(?:[A-Z]|\d\/\d)$/;
const NUMBER_PREFIX = /^[A-Z]$/;
const ZIP = /^(\d{5})(?:-?(\d{4}))?$/;

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** Why a row is no door: it lacks number, street or place, or its place does not exist on earth. */
function absence(row: RawPoint): { readonly reason: string; readonly malformed: boolean } | null {
  const number = row.number.trim();
  const lacks = (reason: string): ReturnType<typeof absence> => ({ reason, malformed: false });
  if (number === '' || /^0+$/.test(number)) return lacks('without a house number');
  if (!/\d/.test(number)) return lacks('with a house number that has no digit');
  if (row.street.trim() === '') return lacks('without a street');
  if (row.lat === null || row.lng === null || (row.lat === 0 && row.lng === 0)) {
    return lacks('without coordinates');
  }
  const [lat, lng] = [Math.abs(row.lat), Math.abs(row.lng)];
  if (lat <= 90 && lng <= 180) return null;
  return { reason: 'with coordinates that are no degrees', malformed: true };
}

/** Checks a row; null for one without a number, a street or a place on earth. */
export function toAddressPoint(
  row: RawPoint,
  options: PointOptions,
  at: number,
): AddressPoint | null {
  const absent = absence(row);
  if (absent !== null) {
    if (absent.malformed) options.fallen?.fault(at, absent.reason);
    else options.fallen?.leave(at, absent.reason);
    return null;
  }
  const number = row.number.trim().toUpperCase();
  const street = row.street.trim();
  const prefix = row.numberPrefix.trim().toUpperCase();
  const suffix = row.numberSuffix.trim().toUpperCase();
  const isPrefix = NUMBER_PREFIX.test(prefix);
  const isSuffix = NUMBER_SUFFIX.test(suffix);
  const zip = ZIP.exec(row.zip.trim());
  const zip4 = zip?.[2] ?? (/^\d{4}$/.test(row.zip4.trim()) ? row.zip4.trim() : '');
  const city = row.city.trim() || (options.city ?? '');
  return {
    number: `${isPrefix ? prefix : ''}${number}${isSuffix ? suffixText(suffix) : ''}`,
    street,
    unit: join(row.unit.trim(), isPrefix ? '' : prefix, isSuffix ? '' : suffix),
    city: options.cityIsMunicipality === true ? '' : city,
    municipality: row.municipality.trim() || (options.cityIsMunicipality === true ? city : ''),
    county: row.county.trim(),
    state: (row.state.trim() || options.state).toUpperCase(),
    zip: zip?.[1] ?? '',
    // Some publishers write 0000 for "not known"; no address has it.
    zip4: zip4 === '0000' ? '' : zip4,
    lat: toMicrodegrees(row.lat ?? 0),
    lng: toMicrodegrees(row.lng ?? 0),
    source: options.source,
  };
}

function suffixText(suffix: string): string {
  return suffix.includes('/') ? ` ${suffix}` : suffix;
}

// Address points of publishers that give rows with a header, tab or comma separated.

/** Header names by meaning; "" where the layout has no such column. */
type PointColumns = Readonly<Record<keyof RawPoint, string>>;

export interface PointLayout {
  readonly delimiter: ',' | '\t';
  readonly columns: PointColumns;
}

const NO_COLUMNS: PointColumns = {
  number: 'number',
  numberPrefix: '',
  numberSuffix: '',
  street: 'street',
  unit: '',
  city: '',
  municipality: '',
  county: '',
  state: '',
  zip: 'zip',
  zip4: '',
  lat: 'lat',
  lng: 'lon',
};

/** Layouts with one row a door. */
export const POINT_LAYOUTS = {
  /** Site locations of an emergency number board: doors by municipality. */
  'e911-sites': {
    delimiter: '\t',
    columns: {
      ...NO_COLUMNS,
      numberPrefix: 'number_prefix',
      numberSuffix: 'number_suffix',
      municipality: 'town',
      county: 'county',
    },
  },
  /** A county's points by postal city, with ZIP+4 where it is known. */
  'county-zip4': {
    delimiter: '\t',
    columns: { ...NO_COLUMNS, numberSuffix: 'number_suffix', city: 'postal_city', zip4: 'zip4' },
  },
  /** A county's points by city, with units. */
  'city-units': {
    delimiter: '\t',
    columns: { ...NO_COLUMNS, city: 'city', unit: 'unit' },
  },
  openaddresses: {
    delimiter: ',',
    columns: {
      ...NO_COLUMNS,
      unit: 'unit',
      city: 'city',
      county: 'district',
      state: 'region',
      zip: 'postcode',
    },
  },
} as const satisfies Readonly<Record<string, PointLayout>>;

/**
 * Yields the points of a file; rows without a number, street or coordinates are left out.
 * @throws Error when the header lacks a column of the layout.
 */
export async function* readDelimitedPoints(
  path: string,
  layout: PointLayout,
  options: PointOptions,
): AsyncGenerator<AddressPoint> {
  let at: Readonly<Record<keyof PointColumns, number>> | null = null;
  for await (const fields of readRows(path, layout.delimiter)) {
    if (at === null) {
      at = columnIndexes(path, fields, layout.columns);
      continue;
    }
    const column = at;
    const row = (options.fallen?.next() ?? 0) + 1;
    const field = (name: keyof PointColumns): string => fields[column[name]] ?? '';
    const point = toAddressPoint(
      {
        number: field('number'),
        numberPrefix: field('numberPrefix'),
        numberSuffix: field('numberSuffix'),
        street: field('street'),
        unit: field('unit'),
        city: field('city'),
        municipality: field('municipality'),
        county: field('county'),
        state: field('state'),
        zip: field('zip'),
        zip4: field('zip4'),
        lat: degrees(field('lat')),
        lng: degrees(field('lng')),
      },
      options,
      row,
    );
    if (point !== null) yield point;
  }
}

/** Degrees as written; null for "", NaN for what is not a number. */
export function degrees(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

// Address points as newline-delimited GeoJSON, the newer form of OpenAddresses.

function text(fields: JsonObject, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

interface PointFeature {
  readonly properties: JsonObject;
  readonly position: readonly unknown[];
}

/** The feature in a line, or the line's fault. */
function featureOf(line: string): PointFeature | string {
  const feature = jsonOf(line, isObject);
  if (feature === null) return 'that are no JSON object';
  const { properties, geometry } = feature;
  if (!isObject(properties) || !isObject(geometry)) return 'that are no feature with properties';
  const position: unknown = geometry.coordinates;
  if (geometry.type !== 'Point' || !Array.isArray(position)) return 'that are no point';
  return { properties, position };
}

/** Yields the points of a file with one feature a line; other lines are left out. */
export async function* readGeoJsonPoints(
  path: string,
  options: PointOptions,
): AsyncGenerator<AddressPoint> {
  for await (const line of readLines(path)) {
    if (line === '') continue;
    const row = options.fallen?.next() ?? 0;
    const feature = featureOf(line);
    if (typeof feature === 'string') {
      options.fallen?.fault(row, feature);
      continue;
    }
    const { properties, position } = feature;
    const point = toAddressPoint(
      {
        number: text(properties, 'number'),
        numberPrefix: '',
        numberSuffix: '',
        street: text(properties, 'street'),
        unit: text(properties, 'unit'),
        city: text(properties, 'city'),
        municipality: '',
        county: text(properties, 'district'),
        state: text(properties, 'region'),
        zip: text(properties, 'postcode'),
        zip4: '',
        lng: Number(position[0]),
        lat: Number(position[1]),
      },
      options,
      row,
    );
    if (point !== null) yield point;
  }
}
