/**
 * A few rows of each rate list that is held in another form than its authority publishes: places
 * that the fact tables know, with figures that are invented.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

function table(separator: string, rows: readonly string[]): string {
  return rows.map((row) => `${row.split('|').join(separator)}\n`).join('');
}

const QUARTER = '20260401|20260630';

/** Towns, a town in two counties, a transit district's two parts, and an older quarter. */
const WASHINGTON = [
  'location_code|location|state_rate|local_rate|rta_rate|total_rate|effective_from|effective_to',
  '100|ADAMS COUNTY|0.065|0.011|0|0.076|20260101|20260331',
  `100|ADAMS COUNTY|0.065|0.012|0|0.077|${QUARTER}`,
  `101|HATTON|0.065|0.013|0|0.078|${QUARTER}`,
  `103|OTHELLO|0.065|0.014|0|0.079|${QUARTER}`,
  `1724|AUBURN/KING|0.065|0.031|0|0.096|${QUARTER}`,
  `2724|AUBURN/PIERCE|0.065|0.032|0|0.097|${QUARTER}`,
  `2433|COLVILLE TRIBES - OKANOGAN|0.065|0.012|0|0.077|${QUARTER}`,
  `2700|PIERCE COUNTY RTA|0.065|0.033|0|0.098|${QUARTER}`,
  `4000|PIERCE COUNTY NON-RTA|0.065|0.021|0|0.086|${QUARTER}`,
];

const TEXAS_DAY = '2024-08-30|invented';

const TEXAS = [
  'state|level|name|code|fips|combined_pct|local_pct|effective_from|as_of|source',
  `TX|city|Abbott|2109064|4800100|8|1.25||${TEXAS_DAY}`,
  `TX|city|Abilene|2221012|4801000|8.25|1.75||${TEXAS_DAY}`,
  'TX|city|Abilene|2221012|4801000|8.25|1.5|2026-07-01|2026-07-01|invented',
  `TX|city|Houston|2101017|4835000|8|1||${TEXAS_DAY}`,
  `TX|county|Hill County|4109000|48217|6.75|0.5||${TEXAS_DAY}`,
  `TX|district|Houston MTA|3101990||7|0.75||${TEXAS_DAY}`,
  `TX|district|Harris ESD 1|5101730||7.25|1||${TEXAS_DAY}`,
  `TX|district|Harris ESD 2|5101776||7.25|0.25||${TEXAS_DAY}`,
  `TX|combined|Abbott/Hill Co ESD 2-A|6109607||8.25|1.5||${TEXAS_DAY}`,
];

const TEXAS_AREAS = [
  'area|county|city_code|county_code|spd_codes|transit_codes|combined_pct|as_of',
  'Abbott|Hill|2109064|4109000|||8|2024-08-30',
  'Abbott/Hill Co ESD 2-A|Hill|6109607|4109000|||8.25|2024-08-30',
  'Abilene|Jones|2221012||||8.25|2024-08-30',
  'Abilene|Taylor|2221012||||8.25|2024-08-30',
  'Houston|Harris|2101017|||3101990|8|2024-08-30',
  'Houston|Harris|2101017||5101730|3101990|8.25|2024-08-30',
  'Houston|Harris|2101017||5101730;5101776|3101990|8.25|2024-08-30',
];

const ILLINOIS_DAY = '2026-01-01|invented';

/** Cities, counties, one whose rate varies by address, and two with a lower rate in part. */
const ILLINOIS = [
  'state|level|name|code|fips|combined_pct|local_pct|effective_from|as_of|source',
  `IL|city|Abingdon (Knox)|048-0002-8|1700113|7.5|0|2015-07-01|${ILLINOIS_DAY}`,
  `IL|county|Adams County|001-5000-5|17001|6.75|0.5|2015-07-01|${ILLINOIS_DAY}`,
  `IL|city|Addison (DuPage)|022-0002-3|1700243|8.5|1.5|2025-07-01|${ILLINOIS_DAY}`,
  `IL|city|Albion (Edwards)|024-0001-4|1700568||0|2016-07-01|${ILLINOIS_DAY}`,
  `IL|city|Cahokia (St. Clair)|082-0025-4|1710370|8.25|1.5|2023-01-01|${ILLINOIS_DAY}`,
  'IL|city|Cahokia (St. Clair) (lower-rate part)|082-0025-4|1710370|7.5||2023-01-01' +
    `|${ILLINOIS_DAY}`,
  `IL|city|Freeburg (St. Clair)|082-0007-6|1727806|7.25|0.5|2019-01-01|${ILLINOIS_DAY}`,
  'IL|city|Freeburg (St. Clair) (lower-rate part)|082-0007-6|1727806|6.5||2019-01-01' +
    `|${ILLINOIS_DAY}`,
  `IL|county|Madison County|060-5000-2|17119|7|0.75|2009-01-01|${ILLINOIS_DAY}`,
  'IL|county|Madison County (part outside the mass transit district)|060-5000-2|17119|6.5|0.25' +
    `|2009-01-01|${ILLINOIS_DAY}`,
];

/** Cities above the rate of their counties, one below it, and a county without any. */
const CALIFORNIA = [
  'Location,Rate,Rate_Percent,County,Type,Notes',
  'Adelanto,0.08,8.0,San Bernardino,City,',
  'Agoura Hills,0.095,9.5,Los Angeles,City,"The rate begins, and ends, with the year"',
  'Alameda,0.11,11.0,Alameda,City,',
  'Alameda County,0.1,10.0,Alameda,County,',
  'Alpine County,0.0725,7.249999999999999,Alpine,County,',
  'Los Angeles County,0.0975,9.75,Los Angeles,County,',
  'San Bernardino County,0.0775,7.75,San Bernardino,County,',
];

/** Writes the excerpts below a folder, where the whole lists have their places. */
export function writeExcerpts(folder: string): void {
  const files: readonly (readonly [path: string, text: string])[] = [
    ['wa-dor-rates/wa_location_rates.tsv', table('\t', WASHINGTON)],
    ['local-rates-more/TX.tsv', table('\t', TEXAS)],
    ['local-rates-more/TX-areas.tsv', table('\t', TEXAS_AREAS)],
    ['local-rates-more/IL.tsv', table('\t', ILLINOIS)],
    ['ca-cdtfa/cdtfa_rates_2026-01-01.csv', table(',', CALIFORNIA)],
  ];
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
