/**
 * Shares the workers between runs and streams: one chunk of each in turn, so that a file of
 * millions of rows does not hold up a small one. These workers are not those of single lookups.
 */
import type { AnswerSlice, PinnedRelease, PoolFailure, RowsRequest } from '../../pool/types.js';

/** Takes chunks to answer. */
export interface ChunkPool {
  submit(request: RowsRequest): void;
}

/** A run, or a stream of messages, whose chunks are to be answered. */
export interface ChunkSource {
  /**
   * The next chunk, or null when there is none now. The source then calls `ready` when it has one.
   */
  next(): RowsRequest | null;
}

/** A chunk that frees its place in the schedule when it is done. */
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
  /** Sources that are waiting for their turn, the next one first. */
  readonly #ready = new Set<ChunkSource>();
  #busy = 0;
  #running = false;

  /** `places` is how many chunks may be with the workers at a time; two for each keep them busy. */
  constructor(pool: ChunkPool, places: number) {
    this.#pool = pool;
    this.#places = places;
  }

  /** How many chunks are with the workers. */
  get busy(): number {
    return this.#busy;
  }

  /** Queues a source for its turn. A source is queued only once, however often this is called. */
  ready(source: ChunkSource): void {
    this.#ready.add(source);
    this.#run();
  }

  /** Removes a source from the queue. Its chunks under way are still answered. */
  leave(source: ChunkSource): void {
    this.#ready.delete(source);
  }

  #run(): void {
    // A chunk may fail at once, which would call this method again.
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
