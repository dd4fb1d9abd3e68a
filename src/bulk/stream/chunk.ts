/** Messages that travel to a worker together, and those on their way. */
import type { Failure } from '../../failure.js';
import type { PinnedRelease } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import { OWN_MERCHANTS } from '../row/cart-row.js';
import { encodeChunk, encodeJob, type ChunkTally } from '../row/job.js';
import { CHUNK_BYTES_MAX } from '../row/limit.js';
import type { FindMerchant } from '../run/kind.js';
import type { Message } from './inbox.js';
import { classOf, type MessageClass } from './agreement.js';

/** A run of messages with the same class. */
export interface Run {
  readonly messages: readonly Message[];
  readonly kind: MessageClass;
}

/** The first messages that may travel together: one class, and not too many bytes. */
export function runOf(
  waiting: readonly Message[], key: KeyRecord, findMerchant: FindMerchant,
): Run {
  const messages: Message[] = [];
  let kind: MessageClass | null = null;
  let bytes = 0;
  for (const message of waiting) {
    bytes += message.bytes.length;
    if (kind !== null && bytes > CHUNK_BYTES_MAX) break;
    const own = classOf(message.bytes, key, findMerchant);
    if (kind !== null && own !== kind) break;
    kind = own;
    messages.push(message);
  }
  if (kind === null) throw new Error('no messages where some were counted');
  return { messages, kind };
}

/** What a chunk is answered with. */
export interface ChunkOptions {
  readonly job: string;
  readonly release: PinnedRelease;
  readonly nowMs: number;
  readonly merchant: boolean;
  readonly refusal: Failure | null;
}

/** The payload of a chunk, as row/job.ts has it. */
export function payloadOf(
  messages: readonly Message[], { job, release, nowMs, merchant, refusal }: ChunkOptions,
): Buffer {
  const head = encodeJob({
    job, kind: 'message', release: { id: release.id, dir: release.dir }, nowMs,
    output: 'ndjson', table: null, defaults: {},
    ...(merchant ? { subject: OWN_MERCHANTS } : {}),
    ...(refusal === null ? {} : { refusal }),
  });
  const ends = new Uint32Array(messages.length);
  let end = 0;
  for (const [index, { bytes }] of messages.entries()) ends[index] = end += bytes.length;
  const bytes = Buffer.concat(messages.map((message) => message.bytes), end);
  return encodeChunk(head, { line: messages[0]?.seq ?? 0, ends, bytes });
}

/** A chunk with the workers, or answered and waiting for those before it. */
export interface Flight {
  readonly messages: readonly Message[];
  readonly dataset: string;
  output: Buffer | null;
  tally: ChunkTally | null;
  /** It will never be answered. */
  lost: boolean;
}

export class Flights {
  #flights: Flight[] = [];

  get count(): number {
    return this.#flights.length;
  }

  /** Whether the workers have any. */
  get busy(): boolean {
    return this.#flights.some(({ output, lost }) => output === null && !lost);
  }

  start(messages: readonly Message[], dataset: string): Flight {
    const flight: Flight = { messages, dataset, output: null, tally: null, lost: false };
    this.#flights.push(flight);
    return flight;
  }

  /** The first one where it is answered or lost; an answered one is taken. */
  landed(): Flight | null {
    const [flight] = this.#flights;
    if (flight === undefined || (flight.output === null && !flight.lost)) return null;
    if (!flight.lost) this.#flights.shift();
    return flight;
  }

  clear(): void {
    this.#flights = [];
  }
}
