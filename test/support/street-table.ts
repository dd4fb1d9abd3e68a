/** A street table over whatever holds its entries by the text of their keys. */
import type { StreetTable } from '../../src/dataset/layout.js';

export function streetTableOf(get: (key: string) => Uint8Array | null): StreetTable {
  return { get, group: (key) => get(key.toString()) };
}
