/**
 * Keeps files of jobs at the broker of a fleet: the upload of a job until it ends, and then its
 * result, so that the job outlives its node. Each file is an object in a separate bucket, named
 * after its job.
 */
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { FilesAddress } from '../../distribution/address.js';
import { messageOf, type Log } from '../../log.js';
import { FilesBroker } from './files-broker.js';
import { PIECE_BYTES, type ObjectBucket } from './object-bucket.js';

const KEPT_FILES = ['input', 'result'] as const;
type KeptFile = (typeof KEPT_FILES)[number];

/** The bytes of a file, in pieces. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  try {
    for (let at = 0; ; ) {
      const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function write(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of pieces) await file.appendFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

export class KeptFiles {
  readonly #address: FilesAddress;
  readonly #log: Log;

  constructor(address: FilesAddress, log: Log) {
    this.#address = address;
    this.#log = log;
  }

  /** Stores a file at the broker; false where it is too large to be kept, or that fails now. */
  async put(job: string, which: KeptFile, path: string, bytes: number): Promise<boolean> {
    if (bytes > this.#address.keptBytesMax) return false;
    try {
      await this.#with((bucket) => bucket.putPieces(`${job}.${which}`, bytesOf(path)));
      return true;
    } catch (error) {
      this.#log.warn('file of a job not kept at the broker', { job, message: messageOf(error) });
      return false;
    }
  }

  /**
   * Fetches a file completely or not at all; false where it does not exist or cannot be fetched.
   */
  async bring(job: string, which: KeptFile, path: string): Promise<boolean> {
    const part = `${path}.${randomUUID()}`;
    try {
      return await this.#with(async (bucket) => {
        const pieces = await bucket.read(`${job}.${which}`);
        if (pieces === null) return false;
        await write(part, pieces);
        await rename(part, path);
        return true;
      });
    } catch (error) {
      this.#log.warn('file of a job not had from the broker', { job, message: messageOf(error) });
      await rm(part, { force: true });
      return false;
    }
  }

  /**
   * Removes files of a job. Those that cannot be removed now are removed for their age. Never
   * throws.
   */
  async remove(job: string, files: readonly KeptFile[] = KEPT_FILES): Promise<void> {
    await this.#with((bucket) => bucket.remove(files.map((which) => `${job}.${which}`))).catch(
      () => undefined,
    );
  }

  /** Runs `work` with a connection of its own, since jobs are few and their files large. */
  async #with<T>(work: (bucket: ObjectBucket) => Promise<T>): Promise<T> {
    const broker = await FilesBroker.open(this.#address, 'situs jobs', false);
    try {
      return await work(broker.kept);
    } finally {
      await broker.close();
    }
  }
}
