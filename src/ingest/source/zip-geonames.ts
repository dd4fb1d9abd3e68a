/**
 * GeoNames postal codes (US.txt): tab-separated, no header: country, ZIP, place, state, state
 * code, county, county code, two more levels, latitude, longitude, accuracy. Licence CC BY 4.0.
 * Military rows carry no state and end their place with AA, AE or AP.
 */
import { toMicrodegrees } from '../../geo/microdegrees.js';
import { splitRows } from '../rates/table.js';
import type { ZipPoint } from '../zip-model.js';

const ZIP = /^\d{5}$/;
const MILITARY = /^(.*?) ?(AA|AE|AP)$/;

/** Reads the rows; `fipsOf` gives a state's two digits, "" for one without. */
export function readGeonamesZips(text: string, fipsOf: (state: string) => string): ZipPoint[] {
  const points: ZipPoint[] = [];
  for (const cells of splitRows(text, '\t')) {
    const [, zip = '', place = '', , code = '', , county = '', , , lat = '', lng = ''] = cells;
    if (!ZIP.test(zip)) continue;
    const military = code === '' ? MILITARY.exec(place.trim()) : null;
    const state = military?.[2] ?? code;
    const fips = fipsOf(state);
    points.push({
      zip: Number(zip),
      name: (military?.[1] ?? place).trim(),
      state,
      county: fips !== '' && /^\d{3}$/.test(county) ? fips + county : '',
      lat: toMicrodegrees(Number(lat)),
      lng: toMicrodegrees(Number(lng)),
    });
  }
  return points;
}
