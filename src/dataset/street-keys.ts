/**
 * Keys of the street table as they are written, and as lmdb takes them; what each leads to is told
 * in street-format.ts.
 */
import { Buffer } from 'node:buffer';
import { zipText } from './city-names.js';
import { StreetKey } from './street-bytes.js';

export const STATES_KEY = 's';

export function localitiesKey(state: string): string {
  return `p|${state}`;
}

export function zipGroupKey(state: string, zip: number, fold: string): string {
  return `z|${state}${zipText(zip)}|${fold}`;
}

export function townGroupKey(state: string, locality: number, fold: string): string {
  return `t|${state}:${locality}|${fold}`;
}

export function cityKey(state: string, locality: number, fold: string): string {
  return `c|${state}:${locality}|${fold}`;
}

function ofZip(kind: string): (state: string, zip: number) => string {
  return (state, zip) => `${kind}|${state}${zipText(zip)}`;
}

export const zipNamesKey = ofZip('n');
export const addOnsKey = ofZip('4');
export const statedZipKey = ofZip('5');

export function cityNamesKey(state: string, locality: number): string {
  return `m|${state}:${locality}`;
}

/** How lmdb is to write and read keys of the street table; the bytes are those of plain text. */
export const STREET_KEY_ENCODER = {
  /** Takes bytes too: lmdb has the bounds of a whole table that way. */
  writeKey(key: StreetKey | string | Uint8Array, target: Uint8Array, start: number): number {
    const { length } = key;
    const from =
      key instanceof StreetKey
        ? key.bytes
        : typeof key === 'string'
          ? Buffer.from(key, 'latin1')
          : key;
    for (let index = 0; index < length; index += 1) target[start + index] = from[index]!;
    const end = start + length;
    // The table compares by words, so that what follows the key must be zero.
    target[end] = target[end + 1] = target[end + 2] = target[end + 3] = 0;
    return end;
  },
  readKey(source: Uint8Array, start: number, end: number): string {
    return Buffer.from(source.buffer, source.byteOffset + start, end - start).toString('latin1');
  },
  /** Asked for by lmdb: keys end in zeros already. */
  enableNullTermination(): void {},
};
