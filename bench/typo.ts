/** Makes typing errors, with which the accuracy measurement tests the matcher. */
import { typoAllowed, withinOneTypo } from '../src/address/typo.js';
import { foldStreetName, type StreetName } from '../src/address/street-name.js';

/** A neighbour of each key, for realistic substitutions and insertions. */
const NEIGHBOUR: Readonly<Record<string, string>> = {
  A: 'S',
  B: 'V',
  C: 'X',
  D: 'F',
  E: 'R',
  F: 'G',
  G: 'H',
  H: 'J',
  I: 'O',
  J: 'K',
  K: 'L',
  L: 'K',
  M: 'N',
  N: 'M',
  O: 'P',
  P: 'O',
  Q: 'W',
  R: 'T',
  S: 'D',
  T: 'Y',
  U: 'I',
  V: 'B',
  W: 'E',
  X: 'C',
  Y: 'U',
  Z: 'X',
};

const KINDS = 4;

/** Kind 0 drops a letter, 1 doubles or adds one, 2 hits the key beside it, 3 swaps two letters. */
function slip(name: string, kind: number, at: number): string {
  const letter = name.charAt(at);
  const before = name.slice(0, at);
  const after = name.slice(at + 1);
  const beside = NEIGHBOUR[letter] ?? letter;
  if (kind === 0) return before + after;
  if (kind === 1) return before + letter + (at % 2 === 0 ? letter : beside) + after;
  if (kind === 2) return before + beside + after;
  const next = after.charAt(0);
  if (next === letter || NEIGHBOUR[next] === undefined) return before + beside + after;
  return before + next + letter + after.slice(1);
}

/**
 * The street with one typo in its name, always the same for a seed. Consecutive seeds go through
 * all kinds and places. The first letter stays, as in most typing errors. Names that may not be
 * matched with a typo are returned unchanged.
 */
export function withOneTypo(street: StreetName, seed: number): StreetName {
  const { name } = street;
  if (!typoAllowed(name)) return street;
  const places: number[] = [];
  for (let index = 1; index < name.length; index++) {
    // A change beside a space would join or split words.
    const inside = name.charAt(index) !== ' ' && name.charAt(index - 1) !== ' ';
    if (inside && NEIGHBOUR[name.charAt(index)] !== undefined) places.push(index);
  }
  const steady = Math.abs(Math.trunc(seed)) || 0;
  const key = foldStreetName(name);
  const first = Math.floor(steady / KINDS);
  for (let step = 0; step < places.length; step++) {
    const place = places[(first + step) % places.length] ?? 0;
    const typed = slip(name, steady % KINDS, place);
    const typedKey = foldStreetName(typed);
    // An error in "MOUNT" is more than one in its key, "MT"; such a place is skipped.
    if (typedKey !== key && withinOneTypo(typedKey, key)) return { ...street, name: typed };
  }
  return street;
}
