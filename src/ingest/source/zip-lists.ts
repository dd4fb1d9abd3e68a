/**
 * GeoNames postal codes (US.txt): tab-separated, no header: country, ZIP, place, state, state
 * code, county, county code, two more levels, latitude, longitude, accuracy. Licence CC BY 4.0.
 * Military rows carry no state and end their place with AA, AE or AP.
 */
import { FIVE_DIGITS } from '../../base/patterns.js';
import { toMicrodegrees } from '../../geo/microdegrees.js';
import type { ZipCity, ZipCounty, ZipPoint } from '../zip/zip-facts.js';
import { readTable, splitRows, type TableRow, withoutMark } from './table-text.js';

const MILITARY = /^(.*?) ?(AA|AE|AP)$/;

/**
 * Reads the rows; `fipsOf` gives a state's two digits, "" for one without.
 * @throws RangeError for a ZIP whose coordinates are no degrees.
 */
export function readGeonamesZips(text: string, fipsOf: (state: string) => string): ZipPoint[] {
  const points: ZipPoint[] = [];
  for (const cells of splitRows(text, '\t')) {
    const [, zip = '', place = '', , code = '', , county = '', , , lat = '', lng = ''] = cells;
    if (!FIVE_DIGITS.test(zip)) continue;
    const [north = NaN, east = NaN] = [lat, lng].map((text) => Number(text.trim() || NaN));
    if (!(Math.abs(north) <= 90 && Math.abs(east) <= 180)) {
      throw new RangeError(`its layout is another: ${zip} lies at "${lat}", "${lng}", no degrees`);
    }
    const military = code === '' ? MILITARY.exec(place.trim()) : null;
    const state = military?.[2] ?? code;
    const fips = fipsOf(state);
    points.push({
      zip: Number(zip),
      name: (military?.[1] ?? place).trim(),
      state,
      county: fips !== '' && /^\d{3}$/.test(county) ? fips + county : '',
      lat: toMicrodegrees(north),
      lng: toMicrodegrees(east),
    });
  }
  return points;
}

// The Census Bureau's relations of its ZIP areas (tab20_zcta520_county20_natl.txt and _place20_):
// parted by |, a header whose columns end in the year of either geography, one row an overlap with
// its land in square metres. Rows without a ZIP area are land that has none.

interface Overlap {
  readonly zip: number;
  readonly row: TableRow;
  /** Column name of the other geography, by that of the ZIP's: "GEOID" for its code. */
  readonly other: (column: string) => string;
}

/** Overlaps with land; null where the text is no such relation. */
function overlapsOf(text: string, geography: string): readonly Overlap[] | null {
  const header = text
    .slice(0, text.indexOf('\n'))
    .split('|')
    .map((name) => name.trim());
  const year = (column: RegExp): string | undefined =>
    header.map((name) => column.exec(withoutMark(name))?.[1]).find((found) => found !== undefined);
  const zips = year(/^GEOID_ZCTA5_(\d\d)$/);
  const others = year(new RegExp(`^GEOID_${geography}_(\\d\\d)$`));
  if (zips === undefined || others === undefined) return null;
  if (!header.includes('AREALAND_PART')) {
    throw new RangeError('its layout is another: it has no column AREALAND_PART');
  }
  return readTable(text, '|')
    .filter((row) => row.get(`GEOID_ZCTA5_${zips}`) !== '' && Number(row.get('AREALAND_PART')) > 0)
    .map((row) => {
      const zip = row.get(`GEOID_ZCTA5_${zips}`);
      if (!FIVE_DIGITS.test(zip)) throw new RangeError(`line ${row.line}: no ZIP area: ${zip}`);
      return {
        zip: Number(zip),
        row,
        other: (column) => row.get(`${column}_${geography}_${others}`),
      };
    });
}

// ZIP to county crosswalks with a header line, by column name: HUD's (zip, fips, county, state;
// commas), tabulation areas (zip, state, county_fips; tabs), and the Census Bureau's relations.

/** Reads pairs; a row without a five-digit ZIP and county is left out. */
export function readZipCounties(text: string): ZipCounty[] {
  const overlaps = overlapsOf(text, 'COUNTY');
  if (overlaps !== null) {
    return overlaps
      .map(({ zip, other }) => ({ zip, county: other('GEOID') }))
      .filter(({ county }) => FIVE_DIGITS.test(county));
  }
  const firstLine = text.slice(0, text.indexOf('\n'));
  const pairs: ZipCounty[] = [];
  for (const row of readTable(text, firstLine.includes('\t') ? '\t' : ',')) {
    const zip = row.get('zip');
    const county = row.get('county_fips') || row.get('fips');
    if (FIVE_DIGITS.test(zip) && FIVE_DIGITS.test(county)) pairs.push({ zip: Number(zip), county });
  }
  return pairs;
}

// Authorities bound to ZIPs (state, level, name, zip, zip4_low, zip4_high; tabs). Only its city
// rows are read: the table binds a ZIP to a single county, which is wrong where ZIPs cross one. Of
// the Census Bureau's relation with places the incorporated ones are.

const INCORPORATED = /^C[125678]$/;
/** The kind that the Census Bureau adds to a place's name. */
const KIND = / (?:city|town|village|borough|municipality|CDP|corporation)$/;

/** Reads the city rows; `stateOf` gives a state's letters by its two digits. */
export function readZipCities(text: string, stateOf: (fips: string) => string): ZipCity[] {
  const overlaps = overlapsOf(text, 'PLACE');
  if (overlaps !== null) {
    return overlaps
      .filter(({ other }) => INCORPORATED.test(other('CLASSFP')))
      .map(({ zip, other }) => ({
        zip,
        state: stateOf(other('GEOID').slice(0, 2)),
        name: other('NAMELSAD').replace(KIND, ''),
      }));
  }
  const cities: ZipCity[] = [];
  for (const row of readTable(text, '\t')) {
    if (row.get('level') !== 'city' || !FIVE_DIGITS.test(row.get('zip'))) continue;
    cities.push({ zip: Number(row.get('zip')), state: row.get('state'), name: row.get('name') });
  }
  return cities;
}
