/** Sends the result of a job: whole, in part or packed, as fast as the client takes it. */
import { type FileHandle, open } from 'node:fs/promises';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import type { DuplexEvents, Head } from '../../http/reply.js';
import type { JobRecord } from '../../store/jobs.js';
import type { JobView } from '../row/job-body.js';
import { openOutput, type Output } from '../run/output.js';
import type { ByteRange } from './byte-range.js';
import { fileBytes } from './byte-source.js';
import { checkpointOf, requestOf } from './runner.js';

interface ResultOptions {
  readonly path: string;
  readonly range: ByteRange;
  readonly gzip: boolean;
  readonly status: number;
  readonly head: Head;
  /** Called instead of an answer when the file is not there. */
  readonly missing: () => void;
}

export class ResultStream implements DuplexEvents {
  readonly #exchange: DuplexExchange;
  readonly #options: ResultOptions;
  readonly #output: Output;
  #taken: () => void = () => undefined;
  #over = false;

  constructor(exchange: DuplexExchange, options: ResultOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#output = openOutput(options.gzip, exchange, () => this.#taken());
    exchange.listen(this);
    void this.#send();
  }

  data(): void {
    // There is no body.
  }

  drained(): void {
    this.#output.drained();
  }

  waiting(): boolean {
    return false;
  }

  idle(): void {
    this.#exchange.abandon();
  }

  closed(): void {
    this.#over = true;
    this.#output.close();
    this.#taken();
  }

  async #send(): Promise<void> {
    const { path, status, head, missing } = this.#options;
    let file: FileHandle;
    try {
      file = await open(path, 'r');
    } catch {
      return missing();
    }
    try {
      this.#exchange.begin(status, head);
      await this.#copy(file);
      if (!this.#over) this.#output.end();
    } catch {
      // Cut short: the client knows by the missing end.
      this.#exchange.abandon();
    } finally {
      await file.close();
    }
  }

  async #copy(file: FileHandle): Promise<void> {
    const { first, last } = this.#options.range;
    let left = last + 1 - first;
    if (left === 0) return;
    for await (const piece of fileBytes(file, first)) {
      if (this.#over) return;
      const part = piece.subarray(0, left);
      left -= part.length;
      if (!this.#output.write(part)) {
        await new Promise<void>((resolve) => {
          this.#taken = resolve;
          if (this.#over) resolve();
        });
      }
      if (left === 0) return;
    }
    if (left > 0) throw new Error('the result is shorter than its record says');
  }
}

/*
 * What is told of a job.
 */

export const DAY_MS = 86_400_000;

/** What is told of a job that is kept for so many days after its end. */
export function viewOf(record: JobRecord, days: number): JobView {
  const { kind, output } = requestOf(record);
  const checkpoint = checkpointOf(record);
  const { endedAt } = record;
  return {
    record, kind, output,
    at: checkpoint?.position.at ?? 0, rows: checkpoint?.rows ?? 0,
    codes: checkpoint?.codes ?? {},
    expiresAt: endedAt === null ? null : endedAt + days * DAY_MS,
  };
}
