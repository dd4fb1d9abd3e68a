/** Writes the body of a job to the disk: unpacks it, checks its limits and hashes it. */
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { limited, problem, type Problem } from '../../base/problem.js';
import { grown, NO_BYTES } from '../../base/growing-bytes.js';
import { Intake } from '../run/intake.js';
import type { BulkBody } from '../run/pump-options.js';
import { identityOf, type FileIdentity } from './byte-source.js';
import { DiskLimit, DurableOutput } from './durable-output.js';
import { isPassing } from './runner.js';
import type { JobSpace } from './space.js';

/** A body that is on the disk. */
interface Uploaded {
  readonly identity: FileIdentity;
  /** SHA-256 of the unpacked body in hex. */
  readonly sha256: string;
}

interface UploadOptions {
  readonly id: string;
  readonly space: JobSpace;
  readonly gzip: boolean;
  /** Largest unpacked body. */
  readonly bytesMax: number;
  readonly body: BulkBody;
  readonly done: (uploaded: Uploaded) => void;
  readonly failed: (refused: Problem) => void;
}

/** The refusal of a body that the disk does not take. */
export function diskRefusal(error: unknown): Problem {
  if (error instanceof DiskLimit) {
    return limited(507, error.message, error.bytesMax);
  }
  return isPassing(error)
    ? problem(507, 'The disk does not take the body.')
    : problem(500, 'The service failed to store the body.');
}

export class JobUpload {
  readonly #options: UploadOptions;
  readonly #intake: Intake;
  readonly #hash = createHash('sha256');
  /** Pieces that came before the file was open; null after that. */
  #early: Buffer | null = NO_BYTES;
  #file: FileHandle | null = null;
  #output: DurableOutput | null = null;
  #ended = false;
  #over = false;
  /** Pending while the file is being opened. */
  #opening: Promise<void> | undefined;

  constructor(options: UploadOptions) {
    this.#options = options;
    const { gzip, bytesMax, body } = options;
    this.#intake = new Intake({
      gzip,
      bytesMax,
      body,
      target: {
        push: (piece) => this.#plain(Buffer.from(piece)),
        end: () => this.#end(),
        failed: (failure) => this.#fail(failure),
      },
    });
    this.#opening = this.#open().finally(() => {
      this.#opening = undefined;
    });
  }

  push(piece: Uint8Array, isLast: boolean): void {
    this.#intake.push(piece, isLast);
  }

  /**
   * Stops and frees everything. While the file is being created, it returns a promise for the end
   * of that, since a file created later would remain in a folder that is being removed.
   */
  close(): Promise<void> | undefined {
    if (!this.#over) {
      this.#over = true;
      this.#intake.close();
      void this.#release();
    }
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { id, space } = this.#options;
    try {
      const file = await open(space.input(id), 'wx+', 0o600);
      this.#file = file;
      if (this.#over) return await this.#release();
      this.#output = new DurableOutput({
        file,
        at: 0,
        save: null,
        take: (bytes) => space.take(id, bytes),
      });
      this.#output.listen({
        drained: () => this.#intake.resume(),
        failed: (error) => this.#fail(diskRefusal(error)),
      });
      const early = this.#early ?? NO_BYTES;
      this.#early = null;
      if (early.length > 0) this.#write(early);
      if (this.#ended) await this.#finish();
    } catch (error) {
      this.#fail(diskRefusal(error));
    }
  }

  #plain(piece: Buffer): void {
    if (this.#over) return;
    this.#hash.update(piece);
    if (this.#early === null) this.#write(piece);
    else this.#early = grown(this.#early, piece);
  }

  #write(piece: Buffer): void {
    if (this.#output?.write(piece) === false) this.#intake.pause();
  }

  #end(): void {
    this.#ended = true;
    if (this.#early === null) void this.#finish();
  }

  async #finish(): Promise<void> {
    const { id, space, done } = this.#options;
    try {
      await this.#output?.flush();
      const file = this.#file;
      if (this.#over || file === null) return;
      await file.sync();
      const identity = await identityOf(file);
      await this.#release();
      await space.sync(id);
      if (this.#over) return;
      this.#over = true;
      done({ identity, sha256: this.#hash.digest('hex') });
    } catch (error) {
      this.#fail(diskRefusal(error));
    }
  }

  #fail(refused: Problem): void {
    if (this.#over) return;
    void this.close();
    this.#options.failed(refused);
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    try {
      await file?.close();
    } catch {
      // A file that cannot be closed could not be written either, which was reported before.
    }
  }
}
