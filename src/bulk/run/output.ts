/** The output of a run for the client, plain or gzip, and the memory that it lies in. */
import { createGzip, type Gzip } from 'node:zlib';
import type { BulkSink } from './pump-options.js';

/** The text repeats so much that higher levels gain little and take several times longer. */
const GZIP_LEVEL = 2;

/** Limits of the memory that is kept for later outputs: how many pieces, and bytes of each. */
const KEPT_MAX = 8;
const KEPT_BYTES_MAX = 1_048_576;
const ROUND_BYTES = 65_536;

/** Memory that is free to be used again by any run. */
const kept: ArrayBuffer[] = [];

/**
 * Memory for the outputs of a run, which is used again: if each chunk had new memory, the front end
 * would spend more time collecting garbage than sending.
 */
export class OutputMemory {
  readonly #isFreed: boolean;
  /** Memory that is in use. */
  readonly #lent = new Set<ArrayBufferLike>();
  /** Outputs that the sink may still be sending. */
  #behind: Uint8Array[] = [];

  constructor({ isPassing = false }: BulkSink) {
    this.#isFreed = isPassing;
  }

  /** Copies bytes into memory that can be used again. */
  copy(bytes: Uint8Array): Buffer {
    const { length } = bytes;
    const at = kept.findIndex(({ byteLength }) => byteLength >= length);
    const memory =
      at >= 0
        ? kept.splice(at, 1)[0]!
        : new ArrayBuffer(Math.ceil(length / ROUND_BYTES) * ROUND_BYTES);
    if (this.#isFreed) this.#lent.add(memory);
    const copied = Buffer.from(memory, 0, length);
    copied.set(bytes);
    return copied;
  }

  /**
   * Records that the sink was given an output. `taken` is what its `write` returned, and is
   * returned.
   */
  written(output: Uint8Array, taken: boolean): boolean {
    if (this.#isFreed) this.#behind.push(output);
    if (taken) this.drained();
    return taken;
  }

  /** Frees the memory of all outputs, since the sink has sent them. */
  drained(): void {
    for (const { buffer } of this.#behind) {
      if (!this.#lent.delete(buffer) || !(buffer instanceof ArrayBuffer)) continue;
      if (buffer.byteLength <= KEPT_BYTES_MAX && kept.length < KEPT_MAX) kept.push(buffer);
    }
    this.#behind = [];
  }
}

/** The connection that carries the answer. */
interface Carrier {
  write(part: Uint8Array): boolean;
  end(): void;
}

/** An output that has an end. */
export interface Output extends BulkSink {
  end(): void;
  /** To be called when the carrier can take bytes again. */
  drained(): void;
  /** Frees its memory. */
  close(): void;
}

/** Output that is sent as it is. */
class PlainOutput implements Output {
  readonly isPassing = true;
  readonly #carrier: Carrier;
  readonly #drained: () => void;

  constructor(carrier: Carrier, drained: () => void) {
    this.#carrier = carrier;
    this.#drained = drained;
  }

  write(output: Uint8Array): boolean {
    return this.#carrier.write(output);
  }

  end(): void {
    this.#carrier.end();
  }

  drained(): void {
    this.#drained();
  }

  close(): void {
    // There is nothing to free.
  }
}

/** Output that is packed by gzip. */
class GzipOutput implements Output {
  readonly #gzip: Gzip;

  constructor(carrier: Carrier, drained: () => void) {
    this.#gzip = createGzip({ level: GZIP_LEVEL });
    this.#gzip.on('data', (part: Buffer) => {
      if (!carrier.write(part)) this.#gzip.pause();
    });
    this.#gzip.on('end', () => carrier.end());
    this.#gzip.on('drain', drained);
  }

  write(output: Uint8Array): boolean {
    return this.#gzip.write(output);
  }

  end(): void {
    this.#gzip.end();
  }

  drained(): void {
    this.#gzip.resume();
  }

  close(): void {
    this.#gzip.destroy();
  }
}

/**
 * Opens an output. `drained` is called when bytes can be written again after `write` returned
 * false.
 */
export function openOutput(gzip: boolean, carrier: Carrier, drained: () => void): Output {
  return gzip ? new GzipOutput(carrier, drained) : new PlainOutput(carrier, drained);
}
