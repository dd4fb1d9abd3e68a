/**
 * The workers of a whole fleet, as a run sees them: what it hands over goes to the broker, some
 * chunks together, and comes back answered by whichever node took it. Where the node that has the
 * run answers rows too, it shares them with the others (`own-share.ts`). One is of one run.
 *
 * Held at most: `CHUNKS_AHEAD` chunks as they went, and their results as far as nodes send them
 * (`chunk-messages.ts` has the bound); of those that lie at the broker the `COLLECTED_MAX` next
 * ones in order.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../log.js';
import type { PinnedRelease, PoolFailure, RowsRequest } from '../../pool/types.js';
import { SUCCESS } from '../../wire/response-code.js';
import { CHUNK_ROWS_MAX } from '../row/record-form.js';
import type { ChunkPool } from '../run/schedule.js';
import { nobodyHas, resultName, type ChunkResult } from './chunk-object.js';
import { DamagedObject, Removal } from './object-bucket.js';
import { OtherNodes, WaitingParts } from './own-share.js';
import { chunkOf, type FleetPoolOptions, partsOf, type PoolChunk } from './pool-chunk.js';
import { takenResult } from './sent-form.js';

/** Chunks that nodes may have or take; enough for some dozen processors. */
const CHUNKS_AHEAD = 16;
const COLLECTED_MAX = 4;
/** How long what is less than a chunk waits for more. */
const GATHER_MS = 10;
const LOOK_MS = 1_000;
const AGAIN_MS = 500;
/** How long what is left behind may take to be removed. */
const CLOSE_MS = 5_000;

export class FleetPool implements ChunkPool {
  readonly #options: FleetPoolOptions;
  readonly #timer: NodeJS.Timeout;
  /** In the names of chunks: a run that goes on after it was killed queues the same rows anew. */
  readonly #id = randomUUID();
  readonly #waiting: WaitingParts;
  /** Null where this process answers no rows: all go to whoever is there. */
  readonly #others: OtherNodes | null;
  #gathering: NodeJS.Timeout | null = null;
  /** In the order of their rows. */
  readonly #chunks: PoolChunk[] = [];
  readonly #removal: Removal;
  #movedAt = performance.now();
  #looking = false;
  #hasSent = false;
  #over = false;
  #fault: string | null = null;

  constructor(options: FleetPoolOptions) {
    this.#options = options;
    const { broker, run, release, tell, own = null } = options;
    this.#waiting = new WaitingParts(own);
    this.#others = own === null ? null : new OtherNodes(broker, release, own);
    this.#removal = new Removal(broker.objects);
    broker.onDone(run, (name) => this.#done(name));
    broker.onResult(run, (name, result) => this.take(name, result));
    broker.onState((state, why) => {
      if (state === 'gone') this.abandon(`${broker.name} takes this client no more: ${why}`);
      else tell(state === 'away' ? 'NATS is away; waiting for it' : 'NATS is back');
    });
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#askOthers();
  }

  /** Parts that may be with it at a time: what `inFlight` of its run is to be. */
  get places(): number {
    return CHUNKS_AHEAD * this.#partsMax;
  }

  /** Whether rows wait for the workers of this node. */
  get busy(): boolean {
    return this.#others !== null && this.#waiting.count > 0;
  }

  /** Why rows were not answered; null while all are. */
  get fault(): string | null {
    return this.#fault;
  }

  submit(request: RowsRequest): void {
    if (this.#over) {
      request.failed('overloaded');
      return;
    }
    this.#waiting.add(request);
    if (this.#others === null && this.#waiting.count >= this.#partsMax) this.#cut();
    else this.#gathering ??= setTimeout(() => this.#cut(), GATHER_MS);
  }

  /** Takes the result of a chunk; one that it has already, or needs no more, is passed over. */
  take(name: string, result: ChunkResult): void {
    const chunk = this.#chunks.find(({ order }) => order.chunk === name);
    if (chunk === undefined || this.#over) return;
    chunk.result ??= result;
    chunk.done = true;
    this.#movedAt = performance.now();
    this.#collect();
    this.#cut();
  }

  /** What nobody has begun with fails: the run is to end. */
  leave(): void {
    for (const part of this.#waiting.take(Infinity)) part.failed('overloaded');
  }

  /** What is under way fails, and what comes. */
  abandon(fault: string, failure: PoolFailure = 'overloaded'): void {
    if (this.#over) return;
    this.#over = true;
    this.#fault = fault;
    clearInterval(this.#timer);
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    const parts = this.#chunks.flatMap((chunk) => chunk.parts);
    for (const part of [...parts, ...this.#waiting.take(Infinity)]) part.failed(failure);
  }

  /** Leaves nothing at the broker, as far as it can be reached. */
  async close(): Promise<void> {
    this.abandon('the run is over');
    const { broker, run, release } = this.#options;
    const left = this.#chunks.flatMap(({ order: { chunk } }) => [chunk, resultName(chunk)]);
    const removed = (async () => {
      // Also what was answered by a node that was killed before it could say so.
      if (this.#hasSent) await broker.unqueue(release, run);
      this.#removal.add(...left);
      await this.#removal.over;
    })().catch(() => undefined);
    await Promise.race([removed, delay(CLOSE_MS, undefined, { ref: false })]);
  }

  get #partsMax(): number {
    return Math.ceil(this.#options.rows / CHUNK_ROWS_MAX);
  }

  #askOthers(): void {
    void this.#others?.look(() => this.#cut());
  }

  /** Makes chunks of what waits, as many as the other nodes have hands for. */
  #cut(): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    const hands = Math.min(this.#others?.hands ?? Infinity, CHUNKS_AHEAD);
    while (!this.#over && this.#waiting.count > 0) {
      if (this.#chunks.filter(({ done }) => !done).length >= hands) return;
      this.#seal(this.#waiting.takeChunk(this.#partsMax));
    }
  }

  #seal(parts: readonly RowsRequest[]): void {
    const chunk = chunkOf(parts, this.#options, this.#id);
    if (this.#chunks.length === 0) this.#movedAt = performance.now();
    this.#chunks.push(chunk);
    this.#hasSent = true;
    void this.#send(chunk);
  }

  /** Stores a chunk and queues it, until the broker has taken both. */
  async #send(chunk: PoolChunk): Promise<void> {
    const { broker, tell } = this.#options;
    const { order } = chunk;
    chunk.attempts += 1;
    for (let attempt = 1; !this.#over; attempt += 1) {
      try {
        const [parts, again] = [partsOf(chunk), chunk.attempts > 1];
        const id = `${order.chunk}.${chunk.attempts}`;
        chunk.stored = (await broker.queue({ ...order, again }, parts, id)) || chunk.stored;
        chunk.sent = true;
        return;
      } catch (error) {
        if (attempt === 2 && broker.online) tell(`no chunk is taken: ${messageOf(error)}`);
        await delay(AGAIN_MS);
      }
    }
  }

  #done(name: string): void {
    const chunk = this.#chunks.find(({ order }) => order.chunk === name);
    if (this.#over) return;
    if (chunk === undefined) {
      // It came by itself too, or from two nodes.
      this.#removal.add(resultName(name));
      return;
    }
    chunk.done = true;
    this.#movedAt = performance.now();
    this.#collect();
    this.#cut();
  }

  /** Reads results whose turn it is soon, and hands them out in order. */
  #collect(): void {
    while (!this.#over) {
      for (const each of this.#chunks.slice(0, COLLECTED_MAX)) {
        if (each.done && !each.reading && each.result === null) void this.#read(each);
      }
      const [chunk] = this.#chunks;
      if (chunk === undefined || chunk.result === null) return;
      this.#chunks.shift();
      this.#give(chunk, chunk.result);
    }
  }

  async #read(chunk: PoolChunk): Promise<void> {
    const { broker } = this.#options;
    chunk.reading = true;
    try {
      const result = await broker.result(chunk.order.chunk);
      if (result !== null) this.#removal.add(resultName(chunk.order.chunk));
      chunk.result ??= result;
      // It was removed: for its age, or by somebody. It is sent again when nothing comes.
      if (chunk.result === null) chunk.done = false;
    } catch (error) {
      // Else the broker is away: the next look tries again.
      if (error instanceof DamagedObject) {
        chunk.done = false;
        await broker.objects.remove([error.object]).catch(() => undefined);
      }
    } finally {
      chunk.reading = false;
    }
    if (chunk.result !== null) this.#collect();
  }

  #give({ parts, order, stored }: PoolChunk, result: ChunkResult): void {
    const { line, rows, chunk } = order;
    if (stored) this.#removal.add(chunk);
    if (result.kind === 'refused' || result.answers.length !== parts.length) {
      const why = result.kind === 'refused' ? result.fault : 'the result is not of these rows';
      this.#chunks.unshift({
        parts,
        order,
        stored,
        sent: true,
        done: true,
        reading: false,
        result: null,
        attempts: 1,
      });
      this.abandon(`rows from line ${line} to ${line + rows - 1}: ${why}`, 'internal');
      return;
    }
    const release: PinnedRelease = { id: order.release, dir: '' };
    const { http: status, code } = SUCCESS;
    for (const [index, part] of parts.entries()) {
      const body = takenResult(result.answers[index]!);
      part.answered({ status, code, precision: 0, flags: 0, body }, release);
    }
  }

  /** Each second: results whose notice was lost, and whether anybody is at work at all. */
  async #look(): Promise<void> {
    const { broker, waitMs } = this.#options;
    if (!broker.online) this.#movedAt = performance.now();
    else this.#askOthers();
    if (this.#looking || this.#chunks.length === 0 || !broker.online) return;
    this.#looking = true;
    try {
      for (const chunk of this.#chunks.slice(0, COLLECTED_MAX)) {
        if (
          chunk.sent &&
          !chunk.done &&
          (await broker.objects.has(resultName(chunk.order.chunk)))
        ) {
          this.#done(chunk.order.chunk);
        }
      }
      this.#collect();
      if (performance.now() - this.#movedAt > waitMs) await this.#ask();
    } catch {
      // The broker is away; what is sent says so.
    } finally {
      this.#looking = false;
    }
  }

  /** Nothing came for long: ends where no node can answer, and sends again what is lost. */
  async #ask(): Promise<void> {
    const { broker, run, release } = this.#options;
    const nodes = await broker.nodes(release);
    if (!nodes.some(({ has }) => has)) {
      this.abandon(nobodyHas(broker.name, release, nodes));
      return;
    }
    this.#movedAt = performance.now();
    if ((await broker.queued()).has(`${release}.${run}`)) return;
    // Neither waiting nor in hand, and no result: whoever emptied the queue is not known.
    for (const chunk of this.#chunks) {
      if (!chunk.sent || chunk.done) continue;
      chunk.sent = false;
      void this.#send(chunk);
    }
  }
}
