/** Directionals of USPS Publication 28, section 233. */

const WORDS: readonly (readonly [string, string])[] = [
  ['N', 'NORTH'],
  ['S', 'SOUTH'],
  ['E', 'EAST'],
  ['W', 'WEST'],
  ['NE', 'NORTHEAST'],
  ['NW', 'NORTHWEST'],
  ['SE', 'SOUTHEAST'],
  ['SW', 'SOUTHWEST'],
];

const ABBREVIATION = new Map(WORDS.flatMap(([abbreviation, word]) =>
  [[abbreviation, abbreviation], [word, abbreviation]] as const));
const FULL = new Map(WORDS);

/** "NORTH" or "N" → "N"; '' for any other word. */
export function directionOf(word: string): string {
  return ABBREVIATION.get(word) ?? '';
}

/** "N" → "NORTH"; '' for anything but a standard abbreviation. */
export function directionWord(abbreviation: string): string {
  return FULL.get(abbreviation) ?? '';
}

/** New England's "No Main St" and "So Main St"; elsewhere the words may mean something else. */
export function isShortDirection(word: string): boolean {
  return word === 'NO' || word === 'SO';
}

/** "N", "W" → "NW"; '' where the two do not make an intermediate direction. */
export function joinDirections(first: string, second: string): string {
  const northSouth = directionOf(first);
  const eastWest = directionOf(second);
  if ((northSouth === 'N' || northSouth === 'S') && (eastWest === 'E' || eastWest === 'W')) {
    return northSouth + eastWest;
  }
  return '';
}
