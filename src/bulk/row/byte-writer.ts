/** Bytes that grow as they are written. */
import type { BodyPart } from '../../pool/types.js';

export class ByteWriter {
  #buffer: Buffer;
  #used = 0;

  constructor(capacityBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(capacityBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#used;
  }

  /** Begins anew in the same memory: what `bytes` gave is no longer valid. */
  clear(): void {
    this.#used = 0;
  }

  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#used += this.#buffer.write(text, this.#used, 'utf8');
  }

  copy(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.#reserve(to - from);
    this.#buffer.set(bytes.subarray(from, to), this.#used);
    this.#used += to - from;
  }

  part(part: BodyPart): void {
    if (typeof part === 'string') this.text(part);
    else this.copy(part);
  }

  /** Replaces one byte that was written. */
  put(at: number, byte: number): void {
    this.#buffer[at] = byte;
  }

  /** What was written, as a view. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#used);
  }

  #reserve(more: number): void {
    const need = this.#used + more;
    if (need <= this.#buffer.length) return;
    const next = Buffer.allocUnsafeSlow(Math.max(need, this.#buffer.length * 2));
    this.#buffer.copy(next, 0, 0, this.#used);
    this.#buffer = next;
  }
}
