/**
 * Reads the values of a text twice: once to check that all of it has its shape, and each value
 * again when it is needed. Values of a body of megabytes that were all kept would survive several
 * collections of memory before the last was used; a value that is read when needed is freed soon
 * after.
 */
import { JsonCursor, MISFIT } from './json-cursor.js';
import type { Shape } from './shape.js';
import { once, type ReadValue } from './shape-reader.js';

/**
 * A shape whose values are checked but not kept: reading one returns the place where it begins in
 * the text.
 */
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

/** Reads values of a shape at places where a first pass has found them. */
export class PlacedValues<T> {
  readonly #cursor = new JsonCursor();
  readonly #read: ReadValue;

  constructor(text: Uint8Array, { read }: Shape<T>) {
    this.#read = read();
    this.#cursor.begin(text);
  }

  /** The value at a place. Calls come in the order of the text. */
  at(place: number): T {
    this.#cursor.goTo(place);
    const value = this.#read(this.#cursor);
    if (value === MISFIT) throw new RangeError(`no value at ${place}`);
    return value as T;
  }
}
