/**
 * Authorities bound to ZIPs (state, level, name, zip, zip4_low, zip4_high; tabs). Only its city
 * rows are read: the table binds a ZIP to a single county, which is wrong where ZIPs cross one.
 */
import { readTable } from '../rates/table.js';
import type { ZipCity } from '../zip-model.js';

const ZIP = /^\d{5}$/;

/** Reads the city rows. */
export function readZipAuthorities(text: string): ZipCity[] {
  const cities: ZipCity[] = [];
  for (const row of readTable(text, '\t')) {
    if (row.get('level') !== 'city' || !ZIP.test(row.get('zip'))) continue;
    cities.push({ zip: Number(row.get('zip')), state: row.get('state'), name: row.get('name') });
  }
  return cities;
}
