/**
 * How runs and streams share the workers: one chunk of each in turn, so that a file of millions of
 * rows leaves a small one its share. The workers are not those of single lookups.
 */
import type { AnswerSlice, PinnedRelease, PoolFailure, RowsRequest } from '../../pool/types.js';

/** What chunks are handed to. */
export interface ChunkPool {
  submit(request: RowsRequest): void;
}

/** A run, or a stream of messages, with chunks to work on. */
export interface ChunkSource {
  /** The next chunk; null when there is none now: `ready` queues the source when there is. */
  next(): RowsRequest | null;
}

/** A chunk that gives its place back when it is done. */
class PlacedChunk implements RowsRequest {
  readonly kind = 'rows';
  readonly grants: number;
  readonly payload: string | Uint8Array;
  readonly #inner: RowsRequest;
  readonly #free: () => void;

  constructor(inner: RowsRequest, free: () => void) {
    this.grants = inner.grants;
    this.payload = inner.payload;
    this.#inner = inner;
    this.#free = free;
  }

  answered(slice: AnswerSlice, release: PinnedRelease): void {
    this.#inner.answered(slice, release);
    this.#free();
  }

  failed(failure: PoolFailure): void {
    this.#inner.failed(failure);
    this.#free();
  }
}

export class ChunkSchedule {
  readonly #pool: ChunkPool;
  readonly #places: number;
  /** Sources that may have a chunk, the one whose turn is next first. */
  readonly #ready = new Set<ChunkSource>();
  #busy = 0;
  #running = false;

  /** `places` chunks are with the workers at a time: two each keep them busy. */
  constructor(pool: ChunkPool, places: number) {
    this.#pool = pool;
    this.#places = places;
  }

  /** Chunks with the workers. */
  get busy(): number {
    return this.#busy;
  }

  /** Queues a source for its turn; once, however often it is called. */
  ready(source: ChunkSource): void {
    this.#ready.add(source);
    this.#run();
  }

  /** Forgets a source; chunks under way are still answered. */
  leave(source: ChunkSource): void {
    this.#ready.delete(source);
  }

  #run(): void {
    // A chunk may fail at once, which calls this again.
    if (this.#running) return;
    this.#running = true;
    while (this.#busy < this.#places) {
      const [source] = this.#ready;
      if (source === undefined) break;
      this.#ready.delete(source);
      const chunk = source.next();
      if (chunk === null) continue;
      this.#ready.add(source);
      this.#busy += 1;
      this.#pool.submit(
        new PlacedChunk(chunk, () => {
          this.#busy -= 1;
          this.#run();
        }),
      );
    }
    this.#running = false;
  }
}
