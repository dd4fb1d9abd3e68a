/**
 * How the rows of a job are shared between the workers of its own node and the other nodes. Parts
 * that wait are taken one by one by these workers as they have room, and by the other nodes some
 * together as chunks, as many as these have hands for. So a node sends the broker nothing of what
 * it answers itself, and nobody has more in hand at the end than what is left for each.
 */
import type { RowsRequest } from '../../pool/types.js';
import type { ChunkSchedule, ChunkSource } from '../run/schedule.js';
import type { ChunkResult } from './chunk-object.js';
import type { FilesBroker } from './files-broker.js';

/** A chunk is this part of what waits at most, so that all come to the end at once. */
const PART_OF_WAITING = 4;
/** Chunks that a node of a version that does not tell takes at a time. */
const HANDS = 2;
/** How often it is asked who is there. */
const ASK_MS = 5_000;

/** What answers a job beside the other nodes. */
export interface OwnNode {
  readonly node: string;
  readonly schedule: ChunkSchedule;
  /** Told when nothing waits any more. */
  readonly emptied: () => void;
}

/** Parts that wait for a worker of this node, or to be sent in a chunk. */
export class WaitingParts implements ChunkSource {
  readonly #own: OwnNode | null;
  #parts: RowsRequest[] = [];

  constructor(own: OwnNode | null) {
    this.#own = own;
  }

  get count(): number {
    return this.#parts.length;
  }

  add(part: RowsRequest): void {
    this.#parts.push(part);
    this.#own?.schedule.ready(this);
  }

  next(): RowsRequest | null {
    return this.take(1)[0] ?? null;
  }

  /** Takes the first ones. */
  take(most: number): readonly RowsRequest[] {
    const taken = this.#parts.splice(0, most);
    if (taken.length > 0 && this.#parts.length === 0) this.#own?.emptied();
    return taken;
  }

  /** Takes a chunk for other nodes. */
  takeChunk(most: number): readonly RowsRequest[] {
    if (this.#own === null) return this.take(most);
    return this.take(Math.min(most, Math.ceil(this.#parts.length / PART_OF_WAITING)));
  }
}

/** The other nodes that have the release of a job. */
export class OtherNodes {
  /** Chunks that they take at a time, and one more for each. */
  hands = 0;
  readonly #broker: FilesBroker;
  readonly #release: string;
  readonly #node: string;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(broker: FilesBroker, release: string, { node }: OwnNode) {
    this.#broker = broker;
    this.#release = release;
    this.#node = node;
  }

  /** Asks who is there, unless that was done a moment ago; calls back when there are more. */
  async look(more: () => void): Promise<void> {
    if (performance.now() - this.#askedAt < ASK_MS) return;
    this.#askedAt = performance.now();
    let hands = 0;
    await this.#broker.askNodes(this.#release, ({ node, has, hands: each = HANDS }) => {
      if (!has || node === this.#node) return;
      hands += each + 1;
      if (hands <= this.hands) return;
      this.hands = hands;
      more();
    });
    this.hands = hands;
  }
}

/** What drives a job of this process. */
interface Driver {
  take(chunk: string, result: ChunkResult): void;
  /** Whether rows of it wait for the workers of this node. */
  readonly busy: boolean;
}

/** The jobs that this process drives. */
export class Drivers {
  /** Told when rows of one do not wait any more. */
  idle: () => void = () => undefined;
  readonly #of = new Map<string, Driver>();

  get busy(): boolean {
    return [...this.#of.values()].some((driver) => driver.busy);
  }

  get(job: string): Driver | undefined {
    return this.#of.get(job);
  }

  set(job: string, driver: Driver): void {
    this.#of.set(job, driver);
  }

  delete(job: string): void {
    this.#of.delete(job);
    this.idle();
  }
}
