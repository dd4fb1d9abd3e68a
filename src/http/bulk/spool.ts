/** Output that waits on the disk until the whole of it may be sent. */
import { open, mkdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BulkSink } from './pump.js';

/** Bytes that may wait to be written. */
const WAITING_BYTES_MAX = 1_048_576;
const READ_BYTES = 262_144;

/** What all streams together may have on the disk. */
export class SpoolSpace {
  readonly dir: string;
  readonly bytesMax: number;
  #used = 0;

  constructor(dir: string, bytesMax: number) {
    this.dir = dir;
    this.bytesMax = bytesMax;
  }

  /** False when there is no room. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.bytesMax) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

export interface SpoolEvents {
  drained(): void;
  /** There is no room, or the disk refused. */
  failed(error: unknown): void;
}

/** One stream's file; removed when it is closed. */
export class Spool implements BulkSink {
  readonly #space: SpoolSpace;
  readonly #events: SpoolEvents;
  readonly #path: string;
  #file: Promise<FileHandle>;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #taken = 0;
  #writing: Promise<void> | null = null;
  #closed = false;

  constructor(space: SpoolSpace, name: string, events: SpoolEvents) {
    this.#space = space;
    this.#events = events;
    this.#path = join(space.dir, name);
    this.#file = mkdir(space.dir, { recursive: true }).then(() => open(this.#path, 'wx+', 0o600));
    this.#file.catch((error: unknown) => this.#fail(error));
  }

  write(output: Uint8Array): boolean {
    if (this.#closed) return true;
    if (!this.#space.take(output.length)) {
      this.#fail(null);
      return true;
    }
    this.#taken += output.length;
    this.#waiting.push(output);
    this.#waitingBytes += output.length;
    this.#writing ??= this.#drain();
    return this.#waitingBytes <= WAITING_BYTES_MAX;
  }

  /** Reads the whole of it back; `each` resolves when it wants the next piece. */
  async read(each: (piece: Uint8Array) => Promise<void>): Promise<void> {
    await this.#writing;
    const file = await this.#file;
    for (let at = 0; at < this.#taken && !this.#closed;) {
      const piece = Buffer.allocUnsafeSlow(READ_BYTES);
      const { bytesRead } = await file.read(piece, 0, READ_BYTES, at);
      if (bytesRead === 0) throw new Error('a spool file is shorter than what was written');
      at += bytesRead;
      await each(piece.subarray(0, bytesRead));
    }
  }

  /** Removes the file. Never throws. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    try {
      await this.#writing;
      await (await this.#file).close();
      await rm(this.#path, { force: true });
    } catch {
      // It was never made, or the disk is gone; the space counts as free in either case.
    }
    this.#space.give(this.#taken);
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    void this.close();
    this.#events.failed(error);
  }

  async #drain(): Promise<void> {
    try {
      const file = await this.#file;
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        await file.writeFile(next);
        const before = this.#waitingBytes;
        this.#waitingBytes -= next.length;
        if (before > WAITING_BYTES_MAX && this.#waitingBytes <= WAITING_BYTES_MAX) {
          this.#events.drained();
        }
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = null;
    }
  }
}
