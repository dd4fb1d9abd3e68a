/** Address points as newline-delimited GeoJSON, the newer form of OpenAddresses. */
import { toAddressPoint, type AddressPoint, type PointOptions } from './address-point.js';
import { readLines } from './address-rows.js';

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function parseLine(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

/** Streams the points of a file with one feature a line; other lines are left out. */
export async function* readGeoJsonPoints(
  path: string,
  options: PointOptions,
): AsyncGenerator<AddressPoint> {
  for await (const line of readLines(path)) {
    const feature = parseLine(line);
    if (feature === null) continue;
    const { properties, geometry } = feature;
    if (!isFields(properties) || !isFields(geometry) || geometry.type !== 'Point') continue;
    const position: unknown = geometry.coordinates;
    if (!Array.isArray(position)) continue;
    const point = toAddressPoint({
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
    }, options);
    if (point !== null) yield point;
  }
}
