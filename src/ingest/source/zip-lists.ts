/**
 * GeoNames postal codes (US.txt): tab-separated, no header: country, ZIP, place, state, state
 * code, county, county code, two more levels, latitude, longitude, accuracy. Licence CC BY 4.0.
 * Military rows carry no state and end their place with AA, AE or AP.
 */
import { toMicrodegrees } from '../../geo/microdegrees.js';
import type { ZipCity, ZipCounty, ZipPoint } from '../zip/model.js';
import { readTable, splitRows } from './rows.js';

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

// ZIP to county crosswalks with a header line, by column name: HUD's (zip, fips, county, state;
// commas) and the Census Bureau's tabulation areas (zip, state, county_fips; tabs).

const COUNTY = /^\d{5}$/;

/** Reads pairs; a row without a five-digit ZIP and county is left out. */
export function readZipCounties(text: string): ZipCounty[] {
  const firstLine = text.slice(0, text.indexOf('\n'));
  const pairs: ZipCounty[] = [];
  for (const row of readTable(text, firstLine.includes('\t') ? '\t' : ',')) {
    const zip = row.get('zip');
    const county = row.get('county_fips') || row.get('fips');
    if (ZIP.test(zip) && COUNTY.test(county)) pairs.push({ zip: Number(zip), county });
  }
  return pairs;
}

// Authorities bound to ZIPs (state, level, name, zip, zip4_low, zip4_high; tabs). Only its city
// rows are read: the table binds a ZIP to a single county, which is wrong where ZIPs cross one.

/** Reads the city rows. */
export function readZipAuthorities(text: string): ZipCity[] {
  const cities: ZipCity[] = [];
  for (const row of readTable(text, '\t')) {
    if (row.get('level') !== 'city' || !ZIP.test(row.get('zip'))) continue;
    cities.push({ zip: Number(row.get('zip')), state: row.get('state'), name: row.get('name') });
  }
  return cities;
}
