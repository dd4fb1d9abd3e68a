/**
 * Query strings that tell a location and nothing else, as most do: they are read without a place
 * for each parameter that there is.
 */
import { type AddressQuery, NO_OPTIONS, type PointQuery } from '../../engine/lookup-query.js';
import { toMicrodegrees } from '../../geo/microdegrees.js';
import {
  ADDRESS_CHARS_MAX,
  firstVersion,
  LAT_DEGREES_MAX,
  LNG_DEGREES_MAX,
  plainNumber,
} from './parameter-table.js';
import { addressAlone } from './query-string.js';

const LAT = 'lat=';
const LNG = '&lng=';
const COORDINATES_SINCE = firstVersion('lat');

/** Null for any other query string, which says nothing about it. */
export function locationAlone(text: string, version: number): AddressQuery | PointQuery | null {
  if (text.startsWith(LAT)) return version < COORDINATES_SINCE ? null : pointAlone(text);
  const address = addressAlone(text, ADDRESS_CHARS_MAX);
  return address === null ? null : { kind: 'address', address, options: NO_OPTIONS };
}

/** Coordinates in plain figures, the latitude first. */
function pointAlone(text: string): PointQuery | null {
  const end = text.indexOf(LNG, LAT.length);
  if (end < 0) return null;
  const lat = plainNumber(text, LAT.length, end);
  const lng = plainNumber(text, end + LNG.length, text.length);
  if (lat === null || lng === null) return null;
  if (Math.abs(lat) > LAT_DEGREES_MAX || Math.abs(lng) > LNG_DEGREES_MAX) return null;
  return {
    kind: 'point',
    lat: toMicrodegrees(lat),
    lng: toMicrodegrees(lng),
    latDegrees: lat,
    lngDegrees: lng,
    options: NO_OPTIONS,
  };
}
