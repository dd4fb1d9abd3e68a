/** Remembers what was asked, so that only what is asked again takes memory for its answer. */

/** Numbers that are remembered; a power of two. */
const ASKED_MAX = 65_536;
/**
 * Places that a number may be remembered at. With one, two that share it and are asked in turns
 * would never be known: of 2,000 every thirtieth.
 */
const PLACES = 4;

/** The last numbers that were asked, as far as there is room; 0 is none. */
export class AskedBefore {
  readonly #asked = new Int32Array(ASKED_MAX);

  /** Whether a hash was met before, as far as is remembered; it is from now on. */
  met(hash: number): boolean {
    const asked = this.#asked;
    const first = (hash >>> 1) & (ASKED_MAX - PLACES);
    const last = first + PLACES - 1;
    for (let at = first; at <= last; at += 1) if (asked[at] === hash) return true;
    for (let at = last; at > first; at -= 1) asked[at] = asked[at - 1]!;
    asked[first] = hash;
    return false;
  }
}
