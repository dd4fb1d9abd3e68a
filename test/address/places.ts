/** A small gazetteer for the parser's tests. */
import type { Gazetteer } from '../../src/address/parsed.js';

const STATES: Readonly<Record<string, string>> = {
  AL: 'ALABAMA',
  CA: 'CALIFORNIA',
  CO: 'COLORADO',
  CT: 'CONNECTICUT',
  DC: 'DISTRICT OF COLUMBIA',
  FL: 'FLORIDA',
  HI: 'HAWAII',
  IL: 'ILLINOIS',
  IN: 'INDIANA',
  LA: 'LOUISIANA',
  MD: 'MARYLAND',
  MI: 'MICHIGAN',
  MN: 'MINNESOTA',
  MO: 'MISSOURI',
  MT: 'MONTANA',
  NC: 'NORTH CAROLINA',
  NE: 'NEBRASKA',
  NY: 'NEW YORK',
  ON: 'ONTARIO',
  OR: 'OREGON',
  TX: 'TEXAS',
  UT: 'UTAH',
  VA: 'VIRGINIA',
  VT: 'VERMONT',
  WA: 'WASHINGTON',
  WI: 'WISCONSIN',
  WV: 'WEST VIRGINIA',
};

const CITIES: Readonly<Record<string, string>> = {
  CA: 'IRVINE|LOS ANGELES|SAN FRANCISCO',
  CT: 'HARTFORD|STAMFORD',
  DC: 'WASHINGTON',
  FL: 'MIAMI',
  HI: 'WAIPAHU',
  MD: 'PIKESVILLE|COLLEGE PARK',
  MN: 'MINNEAPOLIS|SAINT PAUL|SAINT CLOUD',
  MO: 'KANSAS CITY|SAINT LOUIS',
  NE: 'OMAHA',
  NY: 'NEW YORK|ALBANY|ASTORIA|BROOKLYN',
  TX: 'HOUSTON',
  UT: 'SALT LAKE CITY|PROVO|WEST JORDAN',
  VT: 'BURLINGTON|SOUTH BURLINGTON|MONTPELIER|EAST MONTPELIER|SAINT ALBANS|STOWE|SHELBURNE',
  WA: 'SEATTLE',
  WI: 'MADISON|MENOMONEE FALLS|MILWAUKEE|SUSSEX',
};

const stateByWords = new Map<string, string>();
for (const [code, name] of Object.entries(STATES)) {
  stateByWords.set(code, code);
  stateByWords.set(name, code);
}
const cities = new Set<string>();
for (const [state, names] of Object.entries(CITIES)) {
  for (const name of names.split('|')) {
    cities.add(`${state}|${name}`);
    cities.add(`|${name}`);
  }
}

export const PLACES: Gazetteer = {
  stateOf: (words) => stateByWords.get(words) ?? '',
  isCity: (state, city) => cities.has(`${state}|${city}`),
};
