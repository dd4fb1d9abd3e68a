/** The upload of a duplex exchange: read on while who works on it keeps up, some bytes a turn. */
import { PacedBytes } from '../base/turns.js';
import type { RawResponse } from './transport.js';

export class PacedUpload {
  #raw: RawResponse | null;
  readonly #pieces: PacedBytes;
  /** Who works on the upload wants no more for now. */
  #paused = false;
  /** The native response was told to read no more. */
  #still = false;

  /** `bring` is called with each piece, whose memory is only its own until it returns. */
  constructor(raw: RawResponse, bring: (piece: Uint8Array, isLast: boolean) => void) {
    this.#raw = raw;
    this.#pieces = new PacedBytes(bring, () => this.#settle());
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Brings a piece at once or when it is its turn. */
  push(piece: Uint8Array, isLast: boolean): void {
    this.#pieces.push(piece, isLast, true);
    this.#settle();
  }

  /** Brings no more until `resume`, and reads no more; a few pieces may still arrive. */
  pause(): void {
    this.#paused = true;
    this.#pieces.rest();
    this.#settle();
  }

  resume(): void {
    this.#paused = false;
    this.#pieces.go();
    this.#settle();
  }

  /** Stops the native response again, after what may have woken it. */
  hold(): void {
    if (this.#still) this.#raw?.pause();
  }

  /** Tells the native response that it is not forgotten. */
  nudge(): void {
    this.#raw?.pause();
    if (!this.#still) this.#raw?.resume();
  }

  /** Drops what waits for its turn; how many bytes that were. */
  drop(): number {
    const bytes = this.#pieces.clear();
    this.#settle();
    return bytes;
  }

  /** The native response is touched no more. */
  close(): void {
    this.#raw = null;
    this.#pieces.clear();
  }

  /** Has the native response read or not: one that is told without need reads no more. */
  #settle(): void {
    const still = this.#paused || this.#pieces.holds;
    if (this.#raw === null || still === this.#still) return;
    this.#still = still;
    if (still) this.#raw.pause();
    else this.#raw.resume();
  }
}
