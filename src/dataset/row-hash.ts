/**
 * The hash of all rows of a release. For each row: u32 bytes of the key, u32 of the value, key,
 * value.
 */
import { createHash } from 'node:crypto';

/** Rows are hashed in pieces of this size, since a call for each row costs more than its bytes. */
const PIECE_BYTES = 1 << 16;
const LENGTHS_BYTES = 8;

export class RowHash {
  readonly #hash = createHash('sha256');
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #length = 0;

  /** Begins a table; its rows follow. */
  table(name: string): void {
    this.#flush();
    this.#hash.update(name);
  }

  /** Adds a row; the key is the bytes of its text. */
  row(key: Uint8Array, value: Uint8Array): void {
    const bytes = LENGTHS_BYTES + key.length + value.length;
    if (this.#length + bytes > PIECE_BYTES) this.#flush();
    const piece = this.#piece;
    piece.writeUInt32LE(key.length, this.#length);
    piece.writeUInt32LE(value.length, this.#length + 4);
    this.#length += LENGTHS_BYTES;
    if (bytes > PIECE_BYTES) {
      this.#flush();
      this.#hash.update(key).update(value);
      return;
    }
    piece.set(key, this.#length);
    piece.set(value, this.#length + key.length);
    this.#length += key.length + value.length;
  }

  /** The hash in hexadecimal; no rows may be added afterwards. */
  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#piece.subarray(0, this.#length));
    this.#length = 0;
  }
}
