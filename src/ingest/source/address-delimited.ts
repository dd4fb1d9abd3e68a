/** Address points of publishers that give rows with a header, tab or comma separated. */
import {
  toAddressPoint, type AddressPoint, type PointOptions, type RawPoint,
} from './address-point.js';
import { columnIndexes, readRows } from './address-rows.js';

/** Header names by meaning; "" where the layout has no such column. */
export type PointColumns = Readonly<Record<keyof RawPoint, string>>;

export interface PointLayout {
  readonly delimiter: ',' | '\t';
  readonly columns: PointColumns;
}

const NO_COLUMNS: PointColumns = {
  number: 'number', numberPrefix: '', numberSuffix: '', street: 'street', unit: '', city: '',
  municipality: '', county: '', state: '', zip: 'zip', zip4: '', lat: 'lat', lng: 'lon',
};

/** Known layouts, by the name that recipes use. */
export const POINT_LAYOUTS = {
  /** Site locations of an emergency number board: doors by municipality. */
  'e911-sites': {
    delimiter: '\t',
    columns: {
      ...NO_COLUMNS, numberPrefix: 'number_prefix', numberSuffix: 'number_suffix',
      municipality: 'town', county: 'county',
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
      ...NO_COLUMNS, unit: 'unit', city: 'city', county: 'district', state: 'region',
      zip: 'postcode',
    },
  },
} as const satisfies Readonly<Record<string, PointLayout>>;
export type PointLayoutName = keyof typeof POINT_LAYOUTS;

/**
 * Streams the points of a file; rows without a number, street or coordinates are left out.
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
    const field = (name: keyof PointColumns): string => fields[column[name]] ?? '';
    const point = toAddressPoint({
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
    }, options);
    if (point !== null) yield point;
  }
}

function degrees(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
