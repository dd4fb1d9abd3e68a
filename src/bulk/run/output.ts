/** The output of a run on its way to the client: as it is, or packed. */
import { createGzip, type Gzip } from 'node:zlib';
import type { BulkSink } from './pump.js';

/** Fast: the text repeats so much that higher levels gain little and cost several times more. */
const GZIP_LEVEL = 2;

/** What carries the answer. */
export interface Carrier {
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
