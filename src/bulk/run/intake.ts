/** Receives the body of an upload: unpacks it where it is gzip, and checks its limits. */
import { createGunzip, type Gunzip } from 'node:zlib';
import { problem, type Problem } from '../../base/problem.js';
import type { BulkBody } from './pump-options.js';
import { tooLarge } from './request.js';

/** A packed body may expand to so many times its size ... */
export const GZIP_RATIO_MAX = 200;
/** ... once the unpacked part is larger than this. */
const GZIP_RATIO_FREE_BYTES = 1_048_576;

/** Receives the unpacked body. */
interface IntakeTarget {
  push(piece: Uint8Array): void;
  end(): void;
  failed(problem: Problem): void;
}

interface IntakeOptions {
  readonly gzip: boolean;
  /** Largest unpacked body. */
  readonly bytesMax: number;
  readonly target: IntakeTarget;
  /** The body as it is uploaded, which can be paused. */
  readonly body: BulkBody;
}

export class Intake implements BulkBody {
  readonly #options: IntakeOptions;
  readonly #gunzip: Gunzip | null;
  #received = 0;
  #plain = 0;
  /** Whether the pump has asked for a pause. */
  #resting = false;
  /** Whether the unpacker has enough input. */
  #full = false;
  #over = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#gunzip = options.gzip ? this.#unpack() : null;
  }

  /** Takes a piece of the upload, and copies the bytes that it keeps. */
  push(piece: Uint8Array, isLast: boolean): void {
    if (this.#over) return;
    this.#received += piece.length;
    if (this.#gunzip === null) {
      if (piece.length > 0) this.#pass(piece);
      if (isLast) this.#end();
      return;
    }
    if (piece.length > 0 && !this.#gunzip.write(Buffer.from(piece))) this.#full = true;
    if (isLast) this.#gunzip.end();
    this.#turn();
  }

  pause(): void {
    this.#resting = true;
    this.#gunzip?.pause();
    this.#turn();
  }

  resume(): void {
    this.#resting = false;
    this.#gunzip?.resume();
    this.#turn();
  }

  /** Frees everything. */
  close(): void {
    this.#over = true;
    this.#gunzip?.destroy();
  }

  #turn(): void {
    const { body } = this.#options;
    if (this.#over) return;
    if (this.#full || (this.#resting && this.#gunzip === null)) body.pause();
    else body.resume();
  }

  #pass(piece: Uint8Array): void {
    const { bytesMax, target } = this.#options;
    this.#plain += piece.length;
    if (this.#plain > bytesMax) {
      this.#fail(tooLarge('A body', bytesMax));
    } else if (
      this.#gunzip !== null &&
      this.#plain > GZIP_RATIO_FREE_BYTES &&
      this.#plain > this.#received * GZIP_RATIO_MAX
    ) {
      this.#fail(tooLarge('A packed body', GZIP_RATIO_MAX, `expand ${GZIP_RATIO_MAX} times`));
    } else target.push(piece);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.target.end();
  }

  #fail(found: Problem): void {
    this.close();
    this.#options.target.failed(found);
  }

  #unpack(): Gunzip {
    const gunzip = createGunzip();
    gunzip.on('data', (piece: Buffer) => {
      if (!this.#over) this.#pass(piece);
    });
    gunzip.on('end', () => this.#end());
    gunzip.on('drain', () => {
      this.#full = false;
      this.#turn();
    });
    gunzip.on('error', () => {
      if (!this.#over) {
        this.#fail(problem(422, 'The body is no whole gzip stream.'));
      }
    });
    return gunzip;
  }
}
