/**
 * ZIP to county crosswalks with a header line, by column name: HUD's (zip, fips, county, state;
 * commas) and the Census Bureau's tabulation areas (zip, state, county_fips; tabs).
 */
import { readTable } from '../rates/table.js';
import type { ZipCounty } from '../zip-model.js';

const ZIP = /^\d{5}$/;
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
