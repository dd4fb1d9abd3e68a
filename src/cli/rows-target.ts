/** Where `situs bulk` writes to: a file that gets its name when it is whole, or a stream. */
import { createWriteStream, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import type { OutputEvents, RunOutput } from '../bulk/job/durable-output.js';
import { STANDARD } from './bulk-options.js';
import { UsageError } from './usage.js';

/** A path for a file; a stream for standard output, a pipe or a device. */
export type RowsTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream'; readonly stream: NodeJS.WritableStream;
    /** Resolves when everything is written. */
    close(): Promise<void>; };

/**
 * Opens what OUT names. Only a file is replaced by another; one that a symbolic link leads to is
 * replaced where it is.
 * @throws UsageError for a folder, and for a file in none
 */
export function openTarget(out: string): RowsTarget {
  if (out === STANDARD) {
    return { kind: 'stream', stream: process.stdout, close: async () => undefined };
  }
  const path = resolve(out);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    if (!existsSync(dirname(path))) throw new UsageError(`there is no folder ${dirname(path)}`);
    return { kind: 'file', path };
  }
  if (found.isDirectory()) throw new UsageError(`${out} is a folder`);
  if (found.isFile()) return { kind: 'file', path: realpathSync(path) };
  const stream = createWriteStream(path);
  return {
    kind: 'stream', stream,
    close: async () => {
      stream.end();
      await finished(stream);
    },
  };
}

/** Output of a run that goes to a stream: what was written cannot be taken back. */
export class StreamOutput implements RunOutput {
  readonly #stream: NodeJS.WritableStream;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  listen({ drained, failed }: OutputEvents): void {
    this.#stream.on('drain', drained).on('error', failed);
  }

  write(output: Uint8Array): boolean {
    return this.#stream.write(output);
  }

  reached(): void {
    // There is nothing to go on from.
  }

  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#stream.write('', () => resolve());
    });
  }
}
