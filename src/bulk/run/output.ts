/** The output of a run on its way to the client: as it is, or packed; and the memory it is in. */
import { createGzip, type Gzip } from 'node:zlib';
import type { BulkSink } from './pump-options.js';

/** Fast: the text repeats so much that higher levels gain little and cost several times more. */
const GZIP_LEVEL = 2;

/** Memory that is kept for the outputs to come: pieces, and bytes of each. */
const KEPT_MAX = 8;
const KEPT_BYTES_MAX = 1_048_576;
const ROUND_BYTES = 65_536;

/** Of all runs. */
const kept: ArrayBuffer[] = [];

/**
 * Memory of a run's outputs, used again: with new memory for each chunk a front end spends more on
 * collecting it than on sending.
 */
export class OutputMemory {
  readonly #isFreed: boolean;
  /** What is in use. */
  readonly #lent = new Set<ArrayBufferLike>();
  /** Outputs that the sink may still need. */
  #behind: Uint8Array[] = [];

  constructor({ isPassing = false }: BulkSink) {
    this.#isFreed = isPassing;
  }

  /** A copy of bytes. */
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

  /** The sink was given an output; `taken` is what it returned, and is returned. */
  written(output: Uint8Array, taken: boolean): boolean {
    if (this.#isFreed) this.#behind.push(output);
    if (taken) this.drained();
    return taken;
  }

  /** The sink has taken all that it was given. */
  drained(): void {
    for (const { buffer } of this.#behind) {
      if (!this.#lent.delete(buffer) || !(buffer instanceof ArrayBuffer)) continue;
      if (buffer.byteLength <= KEPT_BYTES_MAX && kept.length < KEPT_MAX) kept.push(buffer);
    }
    this.#behind = [];
  }
}

/** What carries the answer. */
interface Carrier {
  write(part: Uint8Array): boolean;
  end(): void;
}

/** An output that ends. */
export interface Output extends BulkSink {
  end(): void;
  /** The carrier has caught up. */
  drained(): void;
  /** Frees what it holds. */
  close(): void;
}

/** The output as it is. */
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
    // Holds nothing.
  }
}

/** The output packed. */
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
 * Makes an output; `drained` is called when bytes can be written again after `write` returned
 * false.
 */
export function openOutput(gzip: boolean, carrier: Carrier, drained: () => void): Output {
  return gzip ? new GzipOutput(carrier, drained) : new PlainOutput(carrier, drained);
}
