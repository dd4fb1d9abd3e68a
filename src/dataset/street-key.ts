/**
 * A key of the street table put together in place, byte by byte as street-format.ts lays it out:
 * to build its text and encode that would cost a lookup more than the read itself.
 */
import { Buffer } from 'node:buffer';

/** The table takes no longer keys; the words of an address come nowhere near. */
const KEY_BYTES_MAX = 1900;
const BAR = 124;
const COLON = 58;
const DIGIT_ZERO = 48;
const ZIP_DIGITS = 5;
const ASCII_MAX = 127;

/** One key at a time: every method starts anew and gives the key itself. */
export class StreetKey {
  readonly bytes = new Uint8Array(KEY_BYTES_MAX);
  length = 0;

  /** Streets of a folded name in a ZIP. */
  zipGroup(state: string, zip: number, fold: string): this {
    this.#begin('z', state);
    let rest = zip;
    for (let at = this.length + ZIP_DIGITS - 1; at >= this.length; at -= 1) {
      this.bytes[at] = DIGIT_ZERO + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.length += ZIP_DIGITS;
    return this.#end(fold);
  }

  /** Streets of a folded name in a locality, those whose ZIP is not known. */
  townGroup(state: string, locality: number, fold: string): this {
    return this.#ofLocality('t', state, locality, fold);
  }

  /** Where a locality has streets of a folded name. */
  city(state: string, locality: number, fold: string): this {
    return this.#ofLocality('c', state, locality, fold);
  }

  /** The key as text, for tables that are not read by bytes. */
  toString(): string {
    return Buffer.from(this.bytes.buffer, 0, this.length).toString('latin1');
  }

  #ofLocality(kind: string, state: string, locality: number, fold: string): this {
    this.#begin(kind, state);
    this.bytes[this.length] = COLON;
    this.length += 1;
    this.#text(String(locality));
    return this.#end(fold);
  }

  #begin(kind: string, state: string): void {
    this.length = 0;
    this.#text(kind);
    this.#bar();
    this.#text(state);
  }

  #end(fold: string): this {
    this.#bar();
    this.#text(fold);
    return this;
  }

  #bar(): void {
    this.bytes[this.length] = BAR;
    this.length += 1;
  }

  #text(text: string): void {
    const { bytes } = this;
    const at = this.length;
    if (at + text.length + ZIP_DIGITS + 2 > KEY_BYTES_MAX) throw new RangeError('key too long');
    let bits = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      bits |= code;
      bytes[at + index] = code;
    }
    if (bits > ASCII_MAX) throw new RangeError('a folded name has letters and figures alone');
    this.length = at + text.length;
  }
}

/** How lmdb is to write and read keys of the street table; the bytes are those of plain text. */
export const STREET_KEY_ENCODER = {
  /** Takes bytes too: lmdb has the bounds of a whole table that way. */
  writeKey(key: StreetKey | string | Uint8Array, target: Uint8Array, start: number): number {
    const { length } = key;
    const from = key instanceof StreetKey ? key.bytes
      : typeof key === 'string' ? Buffer.from(key, 'latin1') : key;
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
