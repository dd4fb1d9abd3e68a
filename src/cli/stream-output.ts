/** Output of a run that goes to a stream: what was written cannot be taken back. */
import type { OutputEvents, RunOutput } from '../http/jobs/durable-output.js';

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
