/**
 * A table of words that does not change. Most words that are asked for are not in it, which their
 * length and three of their characters tell: a Map would first hash all of a word that was just
 * cut out of a line, and go to several places of its memory.
 */
export class WordTable<V> {
  /** For each sum of characters the number of its first entry; 0 for none. */
  readonly #first = new Uint16Array(SUMS);
  /** Entries from 1 on: the word, what it stands for, and the next entry with the same sum. */
  readonly #words: string[] = [''];
  readonly #values: V[];
  readonly #next: number[] = [0];

  /** Of a word that comes twice the last value counts. At most 65,535 words. */
  constructor(entries: Iterable<readonly [string, V]>) {
    const known = new Map(entries);
    // The first value is never read; it keeps the array one of values alone.
    this.#values = [...known.values()].slice(0, 1);
    for (const [word, value] of known) {
      const sum = sumOf(word);
      this.#next.push(this.#first[sum]!);
      this.#first[sum] = this.#words.push(word) - 1;
      this.#values.push(value);
    }
  }

  get(word: string): V | undefined {
    if (word === '') return undefined;
    for (let at = this.#first[sumOf(word)]!; at !== 0; at = this.#next[at]!) {
      if (this.#words[at] === word) return this.#values[at];
    }
    return undefined;
  }

  has(word: string): boolean {
    return this.get(word) !== undefined;
  }
}

/** A power of two. */
const SUMS = 2048;

function sumOf(word: string): number {
  const { length } = word;
  return (
    (word.charCodeAt(0) * 5 +
      word.charCodeAt(length >> 1) * 67 +
      word.charCodeAt(length - 1) * 277 +
      length * 31) &
    (SUMS - 1)
  );
}

/** A table of words that stand for nothing but themselves. */
export function wordsOf(words: Iterable<string>): WordTable<true> {
  return new WordTable([...words].map((word) => [word, true] as const));
}
