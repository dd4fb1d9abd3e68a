/**
 * A bounded cache by small whole numbers, of one place per slot: a number that shares its slot
 * with another displaces it. Two array reads, where a map costs many times as much.
 */
const EMPTY = -1;

export class SlotCache<V> {
  readonly #mask: number;
  readonly #keys: Int32Array;
  readonly #values: (V | undefined)[] = [];

  /** `slots` is a power of two. */
  constructor(slots: number) {
    if (slots < 1 || (slots & (slots - 1)) !== 0) throw new RangeError('slots: a power of two');
    this.#mask = slots - 1;
    this.#keys = new Int32Array(slots).fill(EMPTY);
    for (let slot = 0; slot < slots; slot += 1) this.#values.push(undefined);
  }

  /** The value kept for an integer from 0 to 2³¹ − 1. */
  get(key: number): V | undefined {
    const slot = key & this.#mask;
    return this.#keys[slot] === key ? this.#values[slot] : undefined;
  }

  set(key: number, value: V): void {
    const slot = key & this.#mask;
    this.#keys[slot] = key;
    this.#values[slot] = value;
  }
}
