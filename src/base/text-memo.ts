/** Slots; a power of two. */
const SLOTS = 32_768;

interface Kept<V> {
  readonly piece: string;
  readonly value: V;
}

/**
 * What is made of pieces of text that come again and again. A piece has a slot of its own, which
 * holds the last one met of all that share it, so that memory is bounded and a look goes to few
 * places. No piece is cut out of its text to be looked for.
 */
export class TextMemo<V> {
  readonly #make: (piece: string) => V | undefined;
  readonly #slots = new Array<Kept<V> | undefined>(SLOTS).fill(undefined);

  /** What `make` gives no value for is not kept; a piece beyond Latin-1 must have none. */
  constructor(make: (piece: string) => V | undefined) {
    this.#make = make;
  }

  /** What the text from an index on makes. */
  get(text: string, from: number): V | undefined {
    let hash = 0;
    const { length } = text;
    for (let at = from; at < length; at += 1)
      hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const kept = this.#slots[slot];
    if (kept !== undefined && kept.piece.length === length - from && text.endsWith(kept.piece)) {
      return kept.value;
    }
    const piece = text.slice(from);
    const made = this.#make(piece);
    if (made === undefined) return undefined;
    // In memory of its own: a piece would keep all of the text it was cut out of.
    this.#slots[slot] = { piece: Buffer.from(piece, 'latin1').toString('latin1'), value: made };
    return made;
  }
}
