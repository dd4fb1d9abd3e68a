/**
 * Values of a text that are read twice: once to know that all of it has its shape, and each again
 * when its turn comes. Megabytes that are read at once are kept through several collections of
 * memory before the last of them is used; a value that is read for its turn is gone with it.
 */
import { JsonCursor, MISFIT } from './json-cursor.js';
import type { Shape } from './shape.js';
import { once, type ReadValue } from './shape-reader.js';

/** The shape of values that are passed over: where each begins in the text. */
export function placed<T>({ rule, read, schema }: Shape<T>): Shape<number> {
  return {
    rule,
    schema,
    optional: false,
    read: once(() => {
      const passes = read();
      return (cursor) => {
        const place = cursor.place();
        return passes(cursor) === MISFIT ? MISFIT : place;
      };
    }),
  };
}

/** Reads values of a shape at their places in a text, where they were found to have it. */
export class PlacedValues<T> {
  readonly #cursor = new JsonCursor();
  readonly #read: ReadValue;

  constructor(text: Uint8Array, { read }: Shape<T>) {
    this.#read = read();
    this.#cursor.begin(text);
  }

  /** The value at a place, which is behind that of the value before. */
  at(place: number): T {
    this.#cursor.goTo(place);
    const value = this.#read(this.#cursor);
    if (value === MISFIT) throw new RangeError(`no value at ${place}`);
    return value as T;
  }
}
