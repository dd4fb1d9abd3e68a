/** Output that waits on the disk until all of it may be sent. */
import { open, mkdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BulkSink } from './pump-options.js';

/** How many bytes may wait to be written. */
const WAITING_BYTES_MAX = 1_048_576;
const READ_BYTES = 262_144;

/** The part of the disk space that one account may use. */
export const SPOOL_ACCOUNT_PART = 1 / 4;

/** Counts the disk space that all uploads together, and those of each account, use. */
export class SpoolSpace {
  readonly dir: string;
  readonly bytesMax: number;
  readonly accountBytesMax: number;
  #used = 0;
  readonly #accounts = new Map<string, number>();

  constructor(dir: string, bytesMax: number) {
    this.dir = dir;
    this.bytesMax = bytesMax;
    this.accountBytesMax = Math.floor(bytesMax * SPOOL_ACCOUNT_PART);
  }

  /** Reserves bytes. Returns the limit that would be exceeded; null when they were reserved. */
  take(account: string, bytes: number): SpoolLimit | null {
    const own = (this.#accounts.get(account) ?? 0) + bytes;
    if (own > this.accountBytesMax) return { limit: this.accountBytesMax, own: true };
    if (this.#used + bytes > this.bytesMax) return { limit: this.bytesMax, own: false };
    this.#used += bytes;
    this.#accounts.set(account, own);
    return null;
  }

  give(account: string, bytes: number): void {
    this.#used -= bytes;
    const own = (this.#accounts.get(account) ?? 0) - bytes;
    if (own > 0) this.#accounts.set(account, own);
    else this.#accounts.delete(account);
  }
}

/** A limit in bytes: that of an account (`own`) or of all accounts. */
export interface SpoolLimit {
  readonly limit: number;
  readonly own: boolean;
}

/** The account of a spooled file, and its name. */
interface SpoolFile {
  readonly account: string;
  readonly name: string;
}

interface SpoolEvents {
  drained(): void;
  /** The space is used up, so the file was closed. */
  full(limit: SpoolLimit): void;
  /** The disk failed, so the file was closed. */
  failed(error: unknown): void;
}

/** Output of one run, in a file that is removed when it is closed. */
export class Spool implements BulkSink {
  readonly #space: SpoolSpace;
  readonly #account: string;
  readonly #events: SpoolEvents;
  readonly #path: string;
  #file: Promise<FileHandle>;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #taken = 0;
  #writing: Promise<void> | null = null;
  #closed = false;

  constructor(space: SpoolSpace, { account, name }: SpoolFile, events: SpoolEvents) {
    this.#space = space;
    this.#account = account;
    this.#events = events;
    this.#path = join(space.dir, name);
    this.#file = mkdir(space.dir, { recursive: true }).then(() => open(this.#path, 'wx+', 0o600));
    this.#file.catch((error: unknown) => this.#fail(error));
  }

  write(output: Uint8Array): boolean {
    if (this.#closed) return true;
    const full = this.#space.take(this.#account, output.length);
    if (full !== null) {
      void this.close();
      this.#events.full(full);
      return true;
    }
    this.#taken += output.length;
    this.#waiting.push(output);
    this.#waitingBytes += output.length;
    this.#writing ??= this.#drain();
    return this.#waitingBytes <= WAITING_BYTES_MAX;
  }

  /** Reads all of the output back. `each` resolves when it wants the next piece. */
  async read(each: (piece: Uint8Array) => Promise<void>): Promise<void> {
    await this.#writing;
    const file = await this.#file;
    for (let at = 0; at < this.#taken && !this.#closed; ) {
      const piece = Buffer.allocUnsafeSlow(READ_BYTES);
      const { bytesRead } = await file.read(piece, 0, READ_BYTES, at);
      if (bytesRead === 0) throw new Error('a spool file is shorter than what was written');
      at += bytesRead;
      await each(piece.subarray(0, bytesRead));
    }
  }

  /** Removes the file and frees its space. Never throws. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    try {
      await this.#writing;
      await (await this.#file).close();
      await rm(this.#path, { force: true });
    } catch {
      // The file was never created, or the disk has failed; its space is freed in either case.
    }
    this.#space.give(this.#account, this.#taken);
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
