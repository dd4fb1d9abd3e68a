/**
 * How the rows of a run are shared between the workers of its own node and the other nodes. These
 * workers take waiting parts one by one as they have room; the other nodes get several together as
 * a chunk, as many chunks as they can take. So a node sends the broker nothing that it answers
 * itself, and at the end nobody has more to do than the others.
 */
import type { RowsRequest } from '../../pool/types.js';
import type { ChunkSchedule, ChunkSource } from '../run/schedule.js';
import type { ChunkResult } from './chunk-object.js';
import type { FilesBroker } from './files-broker.js';

/**
 * A chunk takes at most this fraction of the waiting parts (one in so many), so that all nodes
 * finish at about the same time.
 */
const PART_OF_WAITING = 4;
/** How many chunks a node takes at a time whose version does not say so. */
const HANDS = 2;
/** How often the other nodes are asked. */
const ASK_MS = 5_000;

/** This node, which answers rows of a run too. */
export interface OwnNode {
  readonly node: string;
  readonly schedule: ChunkSchedule;
  /** Called when no parts wait any more. */
  readonly emptied: () => void;
}

/** The parts that wait for a worker of this node, or to be sent in a chunk. */
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

  /** Takes the first parts, up to `most`. */
  take(most: number): readonly RowsRequest[] {
    const taken = this.#parts.splice(0, most);
    if (taken.length > 0 && this.#parts.length === 0) this.#own?.emptied();
    return taken;
  }

  /** Takes the parts of a chunk for other nodes. */
  takeChunk(most: number): readonly RowsRequest[] {
    if (this.#own === null) return this.take(most);
    return this.take(Math.min(most, Math.ceil(this.#parts.length / PART_OF_WAITING)));
  }
}

/** The other nodes that have the release of a run. */
export class OtherNodes {
  /** How many chunks they take at a time, plus one more for each node. */
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

  /** Asks the other nodes, unless that was done recently; calls `more` when they can take more. */
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

/** The part of this process that drives a run. */
interface Driver {
  take(chunk: string, result: ChunkResult): void;
  /** Whether rows of the run wait for the workers of this node. */
  readonly busy: boolean;
}

/** The runs that this process drives. */
export class Drivers {
  /** Called when rows of one of the runs no longer wait. */
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
