/** Facts about ZIPs and postal cities that no list carries. */
import { oneOf, readFacts } from './state-table.js';
import type { ZipFacts } from './zip-model.js';

const MUNICIPAL = 'zip_municipal_counties.tsv';

/** Reads zip_city_aliases.tsv, zip_municipal_counties.tsv and zip_territories.tsv. */
export function loadZipFacts(factsDir: string): ZipFacts {
  return {
    aliases: readFacts(factsDir, 'zip_city_aliases.tsv').map((row) => ({
      state: row.get('state'),
      name: row.get('name'),
      place: row.get('place'),
      county: row.get('county'),
    })),
    municipal: readFacts(factsDir, MUNICIPAL).map((row) => ({
      county: row.get('county'),
      place: row.get('place'),
      sole: oneOf(MUNICIPAL, row, 'sole', ['yes', 'no']) === 'yes',
    })),
    territories: readFacts(factsDir, 'zip_territories.tsv').map((row) => ({
      zip: Number(row.get('zip')),
      state: row.get('state'),
      city: row.get('city'),
      county: row.get('county'),
    })),
  };
}
