/** Finds the name that was probably meant by a misspelt one. */

/** Names that differ by more than this share of the longer one are different names. */
const DISTANCE_SHARE_MAX = 0.4;
/** Longer texts are no misspelt name, and comparing them would take long. */
const NAME_CHARS_MAX = 100;

/**
 * The number of letters to insert, drop, replace or swap with a neighbour that makes one text the
 * other. The package that compares names of settings counts a swap as two letters, which would make
 * a short key with two swapped letters too different.
 */
export function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1];
      next.push(
        Math.min(
          last[column]! + 1,
          next[column - 1]! + 1,
          last[column - 1]! + (isSame ? 0 : 1),
          isSwap ? before[column - 2]! + 1 : Infinity,
        ),
      );
    }
    [before, last] = [last, next];
  }
  return last[other.length]!;
}

/** The most similar of the names, in any case; null where none is similar. */
export function nearestName(name: string, names: Iterable<string>): string | null {
  if (name.length > NAME_CHARS_MAX) return null;
  let nearest: string | null = null;
  let least = Infinity;
  for (const known of names) {
    const distance = editDistance(name.toLowerCase(), known.toLowerCase());
    const isNear = distance <= Math.max(name.length, known.length) * DISTANCE_SHARE_MAX;
    if (isNear && distance < least) [nearest, least] = [known, distance];
  }
  return nearest;
}

/** 'unknown key "untill"; did you mean "until"?', or a list of all names where none is similar. */
export function unknownName(what: string, name: string, names: Iterable<string>): string {
  const known = [...names];
  const nearest = nearestName(name, known);
  const hint = nearest === null ? `there is: ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return `unknown ${what} "${name}"; ${hint}`;
}
