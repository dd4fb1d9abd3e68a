/** The parts of a chunk with the workers of this machine, in turns with its own files. */
import { deferred } from '@nats-io/transport-node';
import type { RowsRequest } from '../../pool/types.js';
import { SUCCESS } from '../../wire/response-code.js';
import type { ChunkSchedule, ChunkSource } from '../run/schedule.js';
import type { ChunkPart } from './chunk-object.js';

export class PartsRun implements ChunkSource {
  /** Of every part, in order. Rejects where a worker fails one of them or there are none. */
  readonly answers: Promise<readonly Uint8Array[]>;
  readonly #schedule: ChunkSchedule;
  readonly #parts: readonly ChunkPart[];
  readonly #answers: Buffer[] = [];
  readonly #over = deferred<readonly Uint8Array[]>();
  #next = 0;
  #open: number;

  constructor(schedule: ChunkSchedule, parts: readonly ChunkPart[]) {
    this.#schedule = schedule;
    this.#parts = parts;
    this.#open = parts.length;
    this.answers = this.#over;
    if (parts.length === 0) this.#over.resolve([]);
    else schedule.ready(this);
  }

  /** Whether a worker has, or had, the first part. */
  get begun(): boolean {
    return this.#next > 0;
  }

  /** Takes no more workers. */
  cancel(): void {
    this.#fail('it was cancelled');
  }

  next(): RowsRequest | null {
    const index = this.#next;
    const part = this.#parts[index];
    if (part === undefined) return null;
    this.#next += 1;
    return {
      kind: 'rows', grants: part.grants, payload: part.payload,
      answered: ({ status, body }) => {
        if (status !== SUCCESS.http) {
          this.#fail('a worker did not answer them');
          return;
        }
        // The memory of an answer is used again.
        this.#answers[index] = Buffer.from(body);
        this.#open -= 1;
        if (this.#open === 0) this.#over.resolve(this.#answers);
      },
      failed: (failure) => this.#fail(
        failure === 'overloaded' ? 'there are no workers now' : 'a worker failed'),
    };
  }

  #fail(why: string): void {
    this.#next = this.#parts.length;
    this.#schedule.leave(this);
    this.#over.reject(new Error(why));
  }
}
