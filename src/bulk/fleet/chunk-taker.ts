/**
 * A node that answers chunks of files which other nodes cut. It takes as many as its workers have
 * room for and answers them in turn with its own files and jobs. It passes each result to the
 * driver of the run or stores it, and acknowledges the chunk after that. A chunk that it cannot
 * finish is given back. If the node is killed, the broker gives its chunks to another.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '../../base/process.js';
import type { FilesAddress } from '../../distribution/address.js';
import { messageOf, type Log } from '../../log.js';
import { deliver, resultOf, type AnswerOptions, type InHand } from './chunk-answer.js';
import { decodeOrder, resultName } from './chunk-object.js';
import type { ChunkPull, QueuedMessage } from './chunk-messages.js';
import { ACK_WAIT_MS, type QueueState } from './chunk-queue.js';
import { FilesBroker } from './files-broker.js';

/** How long a chunk that failed here waits before it is given out again. */
const AGAIN_MS = 1_000;
const FETCH_MS = 1_000;
/** Shorter, since chunks of another release are known to be there already. */
const FETCH_MS_MIN = 500;
const RETURNED_LOOK_MS = 100;
const RECONNECT_MS = 2_000;
/** How long giving back may take, which is longer than a fetch. */
const RETURNED_MS = 2_500;
/** How often the queues of other releases, or of runs that others drive, are looked at. */
const QUEUES_MS = 500;

interface TakerOptions extends AnswerOptions {
  readonly address: FilesAddress;
  readonly program: string;
  readonly log: Log;
  /** How many chunks it may have at a time. */
  readonly handsMax: number;
}

/** What happened to chunks since the start. */
export interface TakerCounts {
  taken: number;
  /** Chunks that were answered and whose result was passed on or stored. */
  done: number;
  /** Chunks that were given back. */
  returned: number;
  /** Chunks that were answered with the reason why they cannot be. */
  refused: number;
}

export class ChunkTaker {
  readonly counts: TakerCounts = { taken: 0, done: 0, returned: 0, refused: 0 };
  readonly #options: TakerOptions;
  readonly #inHand = new Set<InHand>();
  /** Releases whose consumer exists. */
  readonly #consumers = new Set<string>();
  readonly #stopped = new AbortController();
  #broker: FilesBroker | null = null;
  #pull: ChunkPull | null = null;
  /** The queues by release, as of the last look. */
  #queues: ReadonlyMap<string, QueueState> = new Map();
  #queuesAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #said = '';

  constructor(options: TakerOptions) {
    this.#options = options;
    options.drivers.idle = () => this.#wake();
  }

  get inHand(): number {
    return this.#inHand.size;
  }

  /** Whether the broker can be reached. */
  get reached(): boolean {
    return this.#broker?.online === true;
  }

  /** Begins to take chunks. */
  start(): void {
    this.#running = this.#run();
  }

  /** Takes no more chunks, and gives back those that no worker has begun. */
  leave(): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#wake();
    for (const held of this.#inHand) {
      if (held.run?.begun === true) continue;
      this.#giveBack(held, 0);
      held.run?.cancel();
    }
  }

  /** Leaves, finishes chunks until a time of `performance.now`, and gives back the rest. */
  async close(until: number): Promise<void> {
    this.leave();
    // Messages that the broker still sends are given back as they come.
    const pulled = this.#pull?.close().catch(() => undefined);
    await waitUntil(() => this.#inHand.size === 0, until);
    for (const held of this.#inHand) this.#giveBack(held, 0);
    const returned = (async () => {
      await pulled;
      await this.#broker?.connection.flush();
    })().catch(() => undefined);
    await Promise.race([returned, delay(RETURNED_MS, undefined, { ref: false })]);
    await this.#broker?.close().catch(() => undefined);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { address, log, node } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        this.#broker ??= await this.#open();
        this.#tell('');
        await this.#serve(this.#broker);
      } catch (error) {
        if (signal.aborted) return;
        this.#tell(messageOf(error));
        this.#consumers.clear();
        if (this.#broker?.connection.isClosed() === true) this.#broker = null;
        await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    log.debug('takes no more chunks of files', { node, place: address.name });
  }

  /** Logs a problem once, and its end. */
  #tell(problem: string): void {
    const {
      log,
      address: { name },
    } = this.#options;
    if (problem === this.#said) return;
    if (problem === '') log.info('chunks of files taken again', { place: name });
    else log.warn('no chunks of files taken', { place: name, message: problem });
    this.#said = problem;
  }

  async #open(): Promise<FilesBroker> {
    const { address, node, program, releases, handsMax: hands } = this.#options;
    const broker = await FilesBroker.open(address, `situs ${node}`);
    this.#pull = broker.pull((message) => void this.#take(broker, message));
    broker.onAsked((release) => ({
      node,
      program,
      active: releases.active(),
      hands,
      has: release !== '' && releases.has(release),
    }));
    return broker;
  }

  /** Takes chunks until it is stopped. */
  async #serve(broker: FilesBroker): Promise<void> {
    const { releases, handsMax, drivers } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const room = (): number => handsMax - this.#inHand.size;
      if (room() <= 0) {
        await this.#woken();
        continue;
      }
      // While its workers have rows of its own runs, which need not be sent, it takes chunks only
      // of other runs.
      if (drivers.busy && !(await this.#othersWait(broker)) && drivers.busy) {
        await this.#woken(QUEUES_MS);
        continue;
      }
      const active = releases.active();
      const queues = await this.#queuesOf(broker);
      const others = [...queues].filter(
        ([name, { waiting, inHand }]) =>
          name !== active && waiting + inHand > 0 && releases.has(name),
      );
      for (const [name, { waiting, inHand }] of others) {
        // Chunks that are with nodes may have been given back.
        const expires = waiting > 0 ? FETCH_MS_MIN : RETURNED_LOOK_MS;
        const most = Math.min(waiting + inHand, room());
        if (most > 0) await this.#fetch(broker, name, most, expires);
      }
      const left = room();
      if (active === null) await delay(FETCH_MS_MIN, undefined, { ref: false });
      else if (left > 0) {
        await this.#fetch(broker, active, left, others.length === 0 ? FETCH_MS : FETCH_MS_MIN);
      }
    }
  }

  /** Waits until there is room for a chunk or no own rows wait, or until `ms` have passed. */
  async #woken(ms?: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== undefined) timer = setTimeout(resolve, ms).unref();
    });
    clearTimeout(timer);
  }

  /** Whether there are chunks of runs that others drive, of a release that is stored here. */
  async #othersWait(broker: FilesBroker): Promise<boolean> {
    const { releases, drivers } = this.#options;
    return [...(await broker.queued()).keys()].some((name) => {
      const [release = '', job = ''] = name.split('.');
      return drivers.get(job) === undefined && releases.has(release);
    });
  }

  /** The queue of each release. The broker is asked at most every QUEUES_MS. */
  async #queuesOf(broker: FilesBroker): Promise<ReadonlyMap<string, QueueState>> {
    if (performance.now() - this.#queuesAt < QUEUES_MS) return this.#queues;
    this.#queues = await broker.queues();
    this.#queuesAt = performance.now();
    for (const name of this.#consumers) {
      if (!this.#queues.has(name)) this.#consumers.delete(name);
    }
    return this.#queues;
  }

  async #fetch(broker: FilesBroker, release: string, most: number, expires: number): Promise<void> {
    if (!this.#consumers.has(release)) {
      await broker.state(release);
      this.#consumers.add(release);
    }
    if (this.#stopped.signal.aborted) return;
    if ((await this.#pull?.pull(release, most, expires)) !== 'gone') return;
    this.#consumers.delete(release);
    await delay(AGAIN_MS, undefined, { ref: false });
  }

  /** Answers a chunk; never throws. */
  async #take(broker: FilesBroker, message: QueuedMessage): Promise<void> {
    const ordered = decodeOrder(message.data);
    if (ordered === null || this.#stopped.signal.aborted) {
      // The order is of another version of the program, which then takes it.
      message.giveBack(ordered === null ? AGAIN_MS : 0);
      this.counts.returned += 1;
      return;
    }
    const held: InHand = { message, ordered, run: null, returned: false };
    this.#inHand.add(held);
    this.counts.taken += 1;
    const working = setInterval(() => message.working(), ACK_WAIT_MS / 4);
    try {
      await this.#answer(broker, held);
    } catch (error) {
      const [{ log }, { job }] = [this.#options, ordered.order];
      if (held.returned) return;
      log.warn('chunk of a file handed back', { job, message: messageOf(error) });
      this.#giveBack(held, AGAIN_MS);
    } finally {
      clearInterval(working);
      this.#inHand.delete(held);
      this.#wake();
    }
  }

  #giveBack(held: InHand, afterMs: number): void {
    if (held.returned) return;
    held.returned = true;
    held.message.giveBack(afterMs);
    this.counts.returned += 1;
  }

  async #answer(broker: FilesBroker, held: InHand): Promise<void> {
    const {
      message,
      ordered: { order },
    } = held;
    // The chunk came again after its result was stored, of which its driver may not have been told.
    const known =
      (order.again === true || message.tries > 1) &&
      (await broker.objects.has(resultName(order.chunk)));
    const result = known ? null : await resultOf(broker, held, this.#options);
    if (held.returned) return;
    if (known) broker.tellDone(order.job, order.chunk);
    else if (result !== null && (await deliver(broker, held, result, this.#options))) {
      if (result.kind === 'refused') this.counts.refused += 1;
      else this.counts.done += 1;
    }
    if (held.returned) return;
    held.returned = true;
    message.ack();
  }
}
