/**
 * The workers of a whole fleet, as seen by a run. Its parts go to the broker, several together as a
 * chunk, and come back answered by some node. Where the node that drives the run answers rows too,
 * it shares the parts with the others (`own-share.ts`). A pool belongs to one run.
 *
 * It keeps at most `CHUNKS_AHEAD` chunks, and their results as far as nodes send them
 * (`chunk-messages.ts` has the bound); of the results that are stored at the broker, it reads the
 * next `COLLECTED_MAX` in order.
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

/** How many chunks may be with nodes or in the queue; enough for some dozen processors. */
const CHUNKS_AHEAD = 16;
const COLLECTED_MAX = 4;
/** How long parts that are less than a chunk wait for more. */
const GATHER_MS = 10;
const LOOK_MS = 1_000;
const AGAIN_MS = 500;
/** How long removing objects may take at the end. */
const CLOSE_MS = 5_000;

export class FleetPool implements ChunkPool {
  readonly #options: FleetPoolOptions;
  readonly #timer: NodeJS.Timeout;
  /** Part of the names of chunks, since a killed run that continues queues the same rows again. */
  readonly #id = randomUUID();
  readonly #waiting: WaitingParts;
  /** Null where this process answers no rows, so that other nodes get all. */
  readonly #others: OtherNodes | null;
  #gathering: NodeJS.Timeout | null = null;
  /** The chunks under way, in the order of their rows. */
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

  /** How many parts may be under way at a time, which is the `inFlight` of the run. */
  get places(): number {
    return CHUNKS_AHEAD * this.#partsMax;
  }

  /** Whether rows wait that the workers of this node could take. */
  get busy(): boolean {
    return this.#others !== null && this.#waiting.count > 0;
  }

  /** Why rows were not answered; null while there was no such fault. */
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

  /** Takes the result of a chunk. One that it already has or no longer needs is ignored. */
  take(name: string, result: ChunkResult): void {
    const chunk = this.#chunks.find(({ order }) => order.chunk === name);
    if (chunk === undefined || this.#over) return;
    chunk.result ??= result;
    chunk.done = true;
    this.#movedAt = performance.now();
    this.#collect();
    this.#cut();
  }

  /** Fails all parts that nobody has begun, since the run is to end. */
  leave(): void {
    for (const part of this.#waiting.take(Infinity)) part.failed('overloaded');
  }

  /** Fails all parts under way, and all that come. */
  abandon(fault: string, failure: PoolFailure = 'overloaded'): void {
    if (this.#over) return;
    this.#over = true;
    this.#fault = fault;
    clearInterval(this.#timer);
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    const parts = this.#chunks.flatMap((chunk) => chunk.parts);
    for (const part of [...parts, ...this.#waiting.take(Infinity)]) part.failed(failure);
  }

  /** Removes everything of the run from the broker, as far as that can be reached. */
  async close(): Promise<void> {
    this.abandon('the run is over');
    const { broker, run, release } = this.#options;
    const left = this.#chunks.flatMap(({ order: { chunk } }) => [chunk, resultName(chunk)]);
    const removed = (async () => {
      // Also removes chunks that a node answered before it was killed and could not acknowledge.
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

  /** Makes chunks of waiting parts, as many as the other nodes can take. */
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

  /** Queues a chunk; tries again until the broker has it. */
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
      // The result was also sent, or two nodes have answered.
      this.#removal.add(resultName(name));
      return;
    }
    chunk.done = true;
    this.#movedAt = performance.now();
    this.#collect();
    this.#cut();
  }

  /** Reads the results that come next, and hands them out in order. */
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
      // The result was removed because of its age or by someone. The chunk is sent again later.
      if (chunk.result === null) chunk.done = false;
    } catch (error) {
      // After any other error the broker is away, and the next look tries again.
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

  /** Checks, each second, for results whose notice was lost, and whether any node is at work. */
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
      // The broker is away, which sending reports.
    } finally {
      this.#looking = false;
    }
  }

  /** When nothing has come for long: ends where no node can answer, and sends lost chunks again. */
  async #ask(): Promise<void> {
    const { broker, run, release } = this.#options;
    const nodes = await broker.nodes(release);
    if (!nodes.some(({ has }) => has)) {
      this.abandon(nobodyHas(broker.name, release, nodes));
      return;
    }
    this.#movedAt = performance.now();
    if ((await broker.queued()).has(`${release}.${run}`)) return;
    // Chunks that are neither queued nor answered are lost; who removed them is not known.
    for (const chunk of this.#chunks) {
      if (!chunk.sent || chunk.done) continue;
      chunk.sent = false;
      void this.#send(chunk);
    }
  }
}
