/** How a node answers a chunk, and how the result gets to the node that drives the run. */
import { deferred } from '@nats-io/transport-node';
import type { PinnedRelease, RowsRequest } from '../../pool/types.js';
import { SUCCESS } from '../../wire/response-code.js';
import type { ChunkSchedule, ChunkSource } from '../run/schedule.js';
import {
  type ChunkPart,
  type ChunkResult,
  decodeParts,
  encodeResults,
  type OrderMessage,
  resultName,
} from './chunk-object.js';
import type { QueuedMessage } from './chunk-messages.js';
import type { FilesBroker } from './files-broker.js';
import { DamagedObject } from './object-bucket.js';
import type { Drivers } from './own-share.js';
import { sentResult } from './sent-form.js';

// Answers the parts of a chunk with the workers of this machine, in turn with its own files.

class PartsRun implements ChunkSource {
  /** The answers to all parts, in order. Rejects where a worker fails or there are no workers. */
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

  /** Whether a worker has been given the first part. */
  get begun(): boolean {
    return this.#next > 0;
  }

  /** Gives no more parts to workers. */
  cancel(): void {
    this.#fail('it was cancelled');
  }

  next(): RowsRequest | null {
    const index = this.#next;
    const part = this.#parts[index];
    if (part === undefined) return null;
    this.#next += 1;
    return {
      kind: 'rows',
      grants: part.grants,
      payload: part.payload,
      answered: ({ status, body }) => {
        if (status !== SUCCESS.http) {
          this.#fail('a worker did not answer them');
          return;
        }
        this.#answers[index] = sentResult(body);
        this.#open -= 1;
        if (this.#open === 0) this.#over.resolve(this.#answers);
      },
      failed: (failure) =>
        this.#fail(failure === 'overloaded' ? 'there are no workers now' : 'a worker failed'),
    };
  }

  #fail(why: string): void {
    this.#next = this.#parts.length;
    this.#schedule.leave(this);
    this.#over.reject(new Error(why));
  }
}

/** A chunk that was given out more often than this is refused. */
const TRIES_MAX = 5;

/** The releases that chunks may be answered from. */
interface TakerReleases {
  /** Name of the active one; null before there is one. */
  active(): string | null;
  has(name: string): boolean;
  /** Keeps a release open until `unpin`; null where there is none of this name. */
  ask(name: string): Promise<PinnedRelease | null>;
  unpin(release: PinnedRelease): void;
}

export interface AnswerOptions {
  /** The name of this node among the others. */
  readonly node: string;
  readonly schedule: ChunkSchedule;
  readonly releases: TakerReleases;
  /** The drivers in this process, by their runs; their results need not be sent. */
  readonly drivers: Drivers;
}

/** A chunk that this node was given. */
export interface InHand {
  readonly message: QueuedMessage;
  readonly ordered: OrderMessage;
  run: PartsRun | null;
  /** Whether the chunk was given back, so that its result is no longer needed. */
  returned: boolean;
}

/** Makes the result of a chunk; null where the chunk is no longer wanted. */
export async function resultOf(
  broker: FilesBroker,
  held: InHand,
  { schedule, releases }: AnswerOptions,
): Promise<ChunkResult | null> {
  const {
    message: { tries },
    ordered: { order },
  } = held;
  if (tries > TRIES_MAX) {
    const fault = `nodes took them ${tries - 1} times, and none came to an end with them`;
    return { kind: 'refused', fault };
  }
  const bytes =
    held.ordered.bytes ??
    (await broker.objects.get(order.chunk).catch((error: unknown) => {
      if (error instanceof DamagedObject) return 'damaged' as const;
      throw error;
    }));
  if (bytes === null) return null;
  if (bytes === 'damaged') return { kind: 'refused', fault: 'they are damaged at the broker' };
  const release = await releases.ask(order.release);
  if (release === null) throw new Error(`the dataset ${order.release} is not kept here`);
  try {
    if (held.returned) return null;
    held.run = new PartsRun(schedule, decodeParts(bytes, release));
    return { kind: 'answered', answers: await held.run.answers };
  } finally {
    releases.unpin(release);
  }
}

/**
 * Passes a result to its driver, or stores it. Returns false where the chunk is no longer wanted.
 */
export async function deliver(
  broker: FilesBroker,
  { message, ordered: { order } }: InHand,
  result: ChunkResult,
  { node, drivers }: AnswerOptions,
): Promise<boolean> {
  const driver = drivers.get(order.job);
  driver?.take(order.chunk, result);
  if (driver !== undefined || (await broker.sendResult(order, node, result))) return true;
  // The driver cannot be reached, or the result is too large to be sent. The run may have ended and
  // removed the chunk from the queue.
  if (!(await broker.isQueued(message))) return false;
  await broker.objects.put(resultName(order.chunk), encodeResults(node, result));
  broker.tellDone(order.job, order.chunk);
  return true;
}
