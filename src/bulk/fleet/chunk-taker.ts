/**
 * A node that answers chunks of files which others cut: it takes what its workers have room for,
 * answers it in turns with the files and jobs of its own, stores the result, and acknowledges after
 * that. What it cannot finish it hands back; what it had when it was killed the broker gives to
 * another.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { waitUntil } from '../../base/process.js';
import type { FilesAddress } from '../../distribution/address.js';
import { messageOf, type Log } from '../../log.js';
import type { PinnedRelease } from '../../pool/types.js';
import type { ChunkSchedule } from '../run/schedule.js';
import {
  decodeOrder, decodeParts, encodeResults, resultName, type ChunkOrder, type ChunkResult,
} from './chunk-object.js';
import { ACK_WAIT_MS, FilesBroker } from './files-broker.js';
import { DamagedObject } from './object-bucket.js';
import { PartsRun } from './parts-run.js';

/** A chunk that was given out more often than so is answered with that. */
const TRIES_MAX = 5;
/** How long it stays back after a try that failed here. */
const AGAIN_MS = 1_000;
const FETCH_MS = 2_000;
const FETCH_MS_MIN = 1_000;
const RECONNECT_MS = 2_000;

/** Releases that rows may be asked of. */
export interface TakerReleases {
  /** Name of the one that answers; null before the first. */
  active(): string | null;
  has(name: string): boolean;
  /** Keeps one open until `unpin`; null where there is none of the name. */
  ask(name: string): Promise<PinnedRelease | null>;
  unpin(release: PinnedRelease): void;
}

export interface TakerOptions {
  readonly address: FilesAddress;
  /** How this node is called among the others. */
  readonly node: string;
  readonly program: string;
  readonly log: Log;
  readonly schedule: ChunkSchedule;
  readonly releases: TakerReleases;
  /** Chunks in hand at a time. */
  readonly handsMax: number;
}

/** What became of chunks since the start. */
export interface TakerCounts {
  taken: number;
  /** Answered, and the result stored. */
  done: number;
  /** Given to another, or to be tried again. */
  returned: number;
  /** Answered with why they cannot be. */
  refused: number;
}

/** A chunk in hand. */
interface InHand {
  readonly message: JsMsg;
  readonly order: ChunkOrder;
  run: PartsRun | null;
  /** Given back: what comes of it is of no use. */
  returned: boolean;
}

export class ChunkTaker {
  readonly counts: TakerCounts = { taken: 0, done: 0, returned: 0, refused: 0 };
  readonly #options: TakerOptions;
  readonly #inHand = new Set<InHand>();
  readonly #consumers = new Map<string, Consumer>();
  readonly #stopped = new AbortController();
  #broker: FilesBroker | null = null;
  #fetching: ConsumerMessages | null = null;
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #said = '';

  constructor(options: TakerOptions) {
    this.#options = options;
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

  /** Takes no more, and hands back what no worker has begun with. */
  leave(): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#fetching?.stop();
    this.#wake();
    for (const held of this.#inHand) {
      if (held.run?.begun === true) continue;
      this.#giveBack(held, 0);
      held.run?.cancel();
    }
  }

  /** Leaves, finishes what is begun until a moment of `performance`, hands back the rest. */
  async close(until: number): Promise<void> {
    this.leave();
    await waitUntil(() => this.#inHand.size === 0, until);
    for (const held of this.#inHand) this.#giveBack(held, 0);
    const flushed = this.#broker?.connection.flush().catch(() => undefined);
    await Promise.race([flushed, delay(AGAIN_MS, undefined, { ref: false })]);
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

  /** Says once what is wrong, and that it no longer is. */
  #tell(problem: string): void {
    const { log, address: { name } } = this.#options;
    if (problem === this.#said) return;
    if (problem === '') log.info('chunks of files taken again', { place: name });
    else log.warn('no chunks of files taken', { place: name, message: problem });
    this.#said = problem;
  }

  async #open(): Promise<FilesBroker> {
    const { address, node, program, releases } = this.#options;
    const broker = await FilesBroker.open(address, `situs ${node}`);
    broker.onAsked((release) => ({
      node, program, active: releases.active(), has: release !== '' && releases.has(release),
    }));
    return broker;
  }

  /** Takes chunks until it is stopped. */
  async #serve(broker: FilesBroker): Promise<void> {
    const { releases, handsMax } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const room = (): number => handsMax - this.#inHand.size;
      if (room() <= 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const active = releases.active();
      const queues = await broker.queues();
      for (const name of this.#consumers.keys()) {
        if (!queues.has(name)) this.#consumers.delete(name);
      }
      const waiting = [...queues].filter(([name, count]) => count > 0 && releases.has(name));
      const others = waiting.filter(([name]) => name !== active);
      for (const [name, count] of others) {
        if (room() > 0) await this.#fetch(broker, name, Math.min(count, room()), FETCH_MS_MIN);
      }
      const mine = waiting.find(([name]) => name === active)?.[1] ?? 0;
      const left = room();
      if (active === null) await delay(FETCH_MS_MIN, undefined, { ref: false });
      else if (left > 0 && others.length === 0) await this.#fetch(broker, active, left, FETCH_MS);
      else if (left > 0 && mine > 0) {
        await this.#fetch(broker, active, Math.min(left, mine), FETCH_MS_MIN);
      }
    }
  }

  async #fetch(
    broker: FilesBroker, release: string, most: number, expires: number,
  ): Promise<void> {
    let consumer = this.#consumers.get(release);
    if (consumer === undefined) {
      consumer = await broker.consumer(release);
      this.#consumers.set(release, consumer);
    }
    if (this.#stopped.signal.aborted) return;
    const messages = await consumer.fetch({ max_messages: most, expires });
    this.#fetching = messages;
    try {
      for await (const message of messages) void this.#take(broker, message);
    } finally {
      this.#fetching = null;
    }
  }

  /** Answers a chunk; never throws. */
  async #take(broker: FilesBroker, message: JsMsg): Promise<void> {
    const order = decodeOrder(message.string());
    if (order === null || this.#stopped.signal.aborted) {
      // Of another version of the program, which takes it then.
      message.nak(order === null ? AGAIN_MS : 0);
      this.counts.returned += 1;
      return;
    }
    const held: InHand = { message, order, run: null, returned: false };
    this.#inHand.add(held);
    this.counts.taken += 1;
    const working = setInterval(() => message.working(), ACK_WAIT_MS / 4);
    try {
      await this.#answer(broker, held);
    } catch (error) {
      const { log } = this.#options;
      if (held.returned) return;
      log.warn('chunk of a file handed back', { job: order.job, message: messageOf(error) });
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
    held.message.nak(afterMs);
    this.counts.returned += 1;
  }

  async #answer(broker: FilesBroker, held: InHand): Promise<void> {
    const { message, order: { job, chunk } } = held;
    // It came again after its result was stored: its driver may not have heard of it.
    const known = await broker.objects.has(resultName(chunk));
    const result = known ? null : await this.#resultOf(broker, held);
    if (held.returned) return;
    if (result !== null) {
      // Its driver may have gone and taken it back meanwhile.
      if (!await broker.objects.has(chunk)) {
        message.ack();
        return;
      }
      await broker.objects.put(resultName(chunk), encodeResults(this.#options.node, result));
      if ('fault' in result) this.counts.refused += 1;
      else this.counts.done += 1;
    }
    held.returned = true;
    broker.tellDone(job, chunk);
    message.ack();
  }

  /** The result of a chunk; null where nobody wants it any more. */
  async #resultOf(broker: FilesBroker, held: InHand): Promise<ChunkResult | null> {
    const { message, order } = held;
    const { schedule, releases } = this.#options;
    const tries = message.info.deliveryCount;
    if (tries > TRIES_MAX) {
      return { fault: `nodes took them ${tries - 1} times, and none came to an end with them` };
    }
    const bytes = await broker.objects.get(order.chunk).catch((error: unknown) => {
      if (error instanceof DamagedObject) return 'damaged' as const;
      throw error;
    });
    if (bytes === null) return null;
    if (bytes === 'damaged') return { fault: 'they are damaged at the broker' };
    const release = await releases.ask(order.release);
    if (release === null) throw new Error(`the dataset ${order.release} is not kept here`);
    try {
      if (held.returned) return null;
      held.run = new PartsRun(schedule, decodeParts(bytes, release));
      return { answers: await held.run.answers };
    } finally {
      releases.unpin(release);
    }
  }
}
