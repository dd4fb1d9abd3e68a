/** Writes output to a file in order. A checkpoint is saved only when its output is on the disk. */
import type { FileHandle } from 'node:fs/promises';
import { grown, NO_BYTES } from '../../base/growing-bytes.js';
import type { Checkpoint } from '../run/checkpoint.js';

/** How many bytes may wait to be written. */
const WAITING_BYTES_MAX = 4_194_304;

/** Shorter pieces are joined before they are written. */
const PIECE_BYTES = 16_384;

/** Thrown when output has used up the disk space that it may take; has the limit in bytes. */
export class DiskLimit extends Error {
  override readonly name = 'DiskLimit';
  readonly bytesMax: number;

  constructor(bytesMax: number, whose = 'All jobs together') {
    super(`${whose} may take ${bytesMax} bytes of disk.`);
    this.bytesMax = bytesMax;
  }
}

interface DurableOptions {
  readonly file: FileHandle;
  /** The position in the file where writing begins. */
  readonly at: number;
  /** Saves a checkpoint; null where there are none, so that the file is flushed only at its end. */
  readonly save: ((checkpoint: Checkpoint) => Promise<void>) | null;
  /** Reserves bytes of disk space, or throws. */
  readonly take?: (bytes: number) => void;
}

/** What an output calls back. */
export interface OutputEvents {
  /** Bytes can be written again after `write` returned false. */
  drained(): void;
  /** The disk, its limit or the store failed; nothing more is written. */
  failed(error: unknown): void;
}

/** The output of a run. */
export interface RunOutput {
  listen(events: OutputEvents): void;
  /**
   * Takes bytes, which must not change afterwards. False when no more should come until `drained`.
   */
  write(output: Uint8Array): boolean;
  /** Tells that the output so far ends with a complete chunk. */
  reached(checkpoint: Checkpoint): void;
  /** Resolves when everything is on the disk; rejects when that failed. */
  flush(): Promise<void>;
}

/** The pieces without their first `bytes` bytes. */
function after(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes;
  const index = pieces.findIndex(({ length }) => {
    if (left < length) return true;
    left -= length;
    return false;
  });
  return index < 0 ? [] : [pieces[index]!.subarray(left), ...pieces.slice(index + 1)];
}

/**
 * Appends to a file. Chunks that come while the disk is busy are written together, so that each
 * becomes durable as soon as possible.
 */
export class DurableOutput implements RunOutput {
  readonly #options: DurableOptions;
  #events: OutputEvents = { drained: () => undefined, failed: () => undefined };
  #at: number;
  /** Pieces to be written next. */
  #waiting: Uint8Array[] = [];
  /** Short pieces that follow them, joined, since pieces may have one byte each. */
  #small = NO_BYTES;
  #waitingBytes = 0;
  #checkpoint: Checkpoint | null = null;
  #writing: Promise<void> | null = null;
  #fault: { readonly error: unknown } | null = null;

  constructor(options: DurableOptions) {
    this.#options = options;
    this.#at = options.at;
  }

  listen(events: OutputEvents): void {
    this.#events = events;
  }

  write(output: Uint8Array): boolean {
    if (this.#fault !== null) return true;
    try {
      this.#options.take?.(output.length);
    } catch (error) {
      this.#fail(error);
      return true;
    }
    if (output.length < PIECE_BYTES) this.#small = grown(this.#small, output);
    else this.#waiting.push(...this.#takeSmall(), output);
    this.#waitingBytes += output.length;
    this.#start();
    return this.#waitingBytes <= WAITING_BYTES_MAX;
  }

  reached(checkpoint: Checkpoint): void {
    if (this.#options.save === null || this.#fault !== null) return;
    this.#checkpoint = checkpoint;
    this.#start();
  }

  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#fault !== null) throw this.#fault.error;
    await this.#options.file.datasync();
  }

  #start(): void {
    this.#writing ??= this.#drain();
  }

  #fail(error: unknown): void {
    if (this.#fault !== null) return;
    this.#fault = { error };
    this.#takeWaiting();
    this.#checkpoint = null;
    this.#events.failed(error);
  }

  #takeSmall(): readonly Uint8Array[] {
    const small = this.#small;
    this.#small = NO_BYTES;
    return small.length === 0 ? [] : [small];
  }

  #takeWaiting(): readonly Uint8Array[] {
    return [...this.#waiting.splice(0), ...this.#takeSmall()];
  }

  async #drain(): Promise<void> {
    const { file, save } = this.#options;
    try {
      // Begins in the next turn of the event loop, so that a chunk and its checkpoint are written
      // together.
      await new Promise(setImmediate);
      while (this.#fault === null && (this.#waitingBytes > 0 || this.#checkpoint !== null)) {
        const output = this.#takeWaiting();
        const checkpoint = this.#checkpoint;
        this.#checkpoint = null;
        const bytes = await this.#append(output);
        if (save !== null) {
          await file.datasync();
          if (checkpoint !== null) await save(checkpoint);
        }
        const before = this.#waitingBytes;
        this.#waitingBytes -= bytes;
        if (before > WAITING_BYTES_MAX && this.#waitingBytes <= WAITING_BYTES_MAX) {
          this.#events.drained();
        }
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      // Set here rather than when the promise is fulfilled, since more may be written before that.
      this.#writing = null;
    }
  }

  /** Writes pieces and returns how many bytes they have. */
  async #append(output: readonly Uint8Array[]): Promise<number> {
    const from = this.#at;
    for (let left = output; left.length > 0; ) {
      const { bytesWritten } = await this.#options.file.writev(left, this.#at);
      this.#at += bytesWritten;
      left = after(left, bytesWritten);
    }
    return this.#at - from;
  }
}
