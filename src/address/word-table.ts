/**
 * Words with what they mean. Nearly every word asked for has no entry, and its first letter and
 * length tell: a look at one number, where a map would hash the word.
 */
export class WordTable<V> {
  readonly #words: ReadonlyMap<string, V>;
  /** By first character: one bit for each length, those from 32 on over again. */
  readonly #lengths = new Int32Array(128);

  constructor(entries: Iterable<readonly [string, V]>) {
    this.#words = new Map(entries);
    for (const word of this.#words.keys()) {
      this.#lengths[word.charCodeAt(0) & 127]! |= 1 << (word.length & 31);
    }
  }

  /** Undefined for a word without entry. */
  get(word: string): V | undefined {
    const lengths = this.#lengths[word.charCodeAt(0) & 127]!;
    return ((lengths >>> (word.length & 31)) & 1) === 0 ? undefined : this.#words.get(word);
  }

  has(word: string): boolean {
    return this.get(word) !== undefined;
  }
}

/** A set of words. */
export function wordSet(words: Iterable<string>): WordTable<true> {
  return new WordTable([...words].map((word) => [word, true] as const));
}
