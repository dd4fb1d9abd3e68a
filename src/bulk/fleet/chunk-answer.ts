/** A chunk in the hand of a node: how it is answered, and how its driver comes by the result. */
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

// The parts of a chunk with the workers of this machine, in turns with its own files.

class PartsRun implements ChunkSource {
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

/** A chunk that was given out more often than so is answered with that. */
const TRIES_MAX = 5;

/** Releases that rows may be asked of. */
interface TakerReleases {
  /** Name of the one that answers; null before the first. */
  active(): string | null;
  has(name: string): boolean;
  /** Keeps one open until `unpin`; null where there is none of the name. */
  ask(name: string): Promise<PinnedRelease | null>;
  unpin(release: PinnedRelease): void;
}

export interface AnswerOptions {
  /** How this node is called among the others. */
  readonly node: string;
  readonly schedule: ChunkSchedule;
  readonly releases: TakerReleases;
  /** Drivers in this process, by their jobs: their results need no way. */
  readonly drivers: Drivers;
}

/** A chunk in hand. */
export interface InHand {
  readonly message: QueuedMessage;
  readonly ordered: OrderMessage;
  run: PartsRun | null;
  /** Given back: what comes of it is of no use. */
  returned: boolean;
}

/** The result of a chunk; null where nobody wants it any more. */
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

/** Hands a result to its driver, or stores it; false where nobody wants it any more. */
export async function deliver(
  broker: FilesBroker,
  { message, ordered: { order } }: InHand,
  result: ChunkResult,
  { node, drivers }: AnswerOptions,
): Promise<boolean> {
  const driver = drivers.get(order.job);
  driver?.take(order.chunk, result);
  if (driver !== undefined || (await broker.sendResult(order, node, result))) return true;
  // Its driver is away, or the result is large. It may have gone and taken the chunk back.
  if (!(await broker.isQueued(message))) return false;
  await broker.objects.put(resultName(order.chunk), encodeResults(node, result));
  broker.tellDone(order.job, order.chunk);
  return true;
}
