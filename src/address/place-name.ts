/**
 * Keys for names of cities, counties and states, equal for the postal and the municipal spelling of
 * a name.
 */

/** Leading words that the post office, the Census Bureau and people abbreviate differently. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['ST', 'SAINT'],
  ['STE', 'SAINTE'],
  ['FT', 'FORT'],
  ['MT', 'MOUNT'],
  ['PT', 'POINT'],
  ['N', 'NORTH'],
  ['S', 'SOUTH'],
  ['E', 'EAST'],
  ['W', 'WEST'],
  ['MTN', 'MOUNTAIN'],
  ['SPGS', 'SPRINGS'],
  ['HTS', 'HEIGHTS'],
  ['JCT', 'JUNCTION'],
  ['VLY', 'VALLEY'],
  ['PK', 'PARK'],
  ['BCH', 'BEACH'],
  ['CTR', 'CENTER'],
  ['TWP', 'TOWNSHIP'],
  ['VLG', 'VILLAGE'],
]);

const COUNTY_KIND = new RegExp(
  ' (COUNTY|PARISH|BOROUGH|CENSUS AREA|MUNICIPALITY|MUNICIPIO|CITY AND BOROUGH|ISLAND)$',
);

const ACCENTS = /\p{M}+/gu;

/** Capitals without accents and punctuation: "Coeur d'Alene" is "COEUR DALENE". */
export function plainName(name: string): string {
  return name
    .normalize('NFD')
    .replace(ACCENTS, '')
    .toUpperCase()
    .replace(/['’`.]/g, '')
    .replace(/[^A-Z0-9]+/g, ' ')
    .trim();
}

/** `plainName` with abbreviated words spelled out: "St. Paul" and "SAINT PAUL" fold alike. */
export function foldName(name: string): string {
  const plain = plainName(name);
  if (plain === '') return plain;
  return plain
    .split(' ')
    .map((word) => WORDS.get(word) ?? word)
    .join(' ');
}

/** `foldName` without blanks: "Mc Cook" and "McCook" are one name. */
export function closedName(name: string): string {
  return foldName(name).replaceAll(' ', '');
}

/** Folds a county's name without its kind: "Orange County" and "ORANGE" fold alike. */
export function foldCounty(name: string): string {
  return foldName(name)
    .replace(COUNTY_KIND, '')
    .replace(/ CITY$/, '');
}

/** Words of cities' names that are written in two ways. */
const OTHER_SPELLINGS: Readonly<Record<string, string>> = {
  ST: 'SAINT',
  SAINT: 'ST',
  MT: 'MOUNT',
  MOUNT: 'MT',
  FT: 'FORT',
  FORT: 'FT',
  STE: 'SAINTE',
  N: 'NORTH',
  S: 'SOUTH',
  E: 'EAST',
  W: 'WEST',
  HTS: 'HEIGHTS',
  SPGS: 'SPRINGS',
  JCT: 'JUNCTION',
};

/** The other way to write a city's name in capitals: "ST PAUL" for "SAINT PAUL" and the reverse. */
export function otherSpelling(name: string): string {
  return name
    .split(' ')
    .map((word) => OTHER_SPELLINGS[word] ?? word)
    .join(' ');
}
