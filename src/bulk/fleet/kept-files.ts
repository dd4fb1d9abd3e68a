/**
 * Files of jobs at the broker of a fleet: the upload of one that has not ended, and the result of
 * one that has, so that a job outlives the node that has it. Each is an object of a bucket of its
 * own, named by its job.
 */
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { FilesAddress } from '../../distribution/address.js';
import { messageOf, type Log } from '../../log.js';
import { FilesBroker } from './files-broker.js';
import { PIECE_BYTES, type ObjectBucket } from './object-bucket.js';

const KEPT_FILES = ['input', 'result'] as const;
type KeptFile = (typeof KEPT_FILES)[number];

/** Hands out the bytes of a file. */
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

  /** Puts a file there; false where it is larger than what is kept, or cannot be put now. */
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

  /** Brings a file here, whole or not at all; false where it is not there or cannot be had. */
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

  /** Removes what there is of a job; what cannot be removed now ages away. Never throws. */
  async remove(job: string, files: readonly KeptFile[] = KEPT_FILES): Promise<void> {
    await this.#with((bucket) => bucket.remove(files.map((which) => `${job}.${which}`))).catch(
      () => undefined,
    );
  }

  /** Jobs are few and their files large: each has a connection of its own. */
  async #with<T>(work: (bucket: ObjectBucket) => Promise<T>): Promise<T> {
    const broker = await FilesBroker.open(this.#address, 'situs jobs', false);
    try {
      return await work(broker.kept);
    } finally {
      await broker.close();
    }
  }
}
