/**
 * Groups messages into chunks for the workers: how messages count, whether their merchant may have
 * carts here, and the chunks under way.
 */
import {
  type FindMerchant,
  MERCHANT_REFUSALS,
  type MerchantRefusal,
  merchantRefusal,
} from '../../api/merchant/cart-owner.js';
import { wrongParameter } from '../../api/lookup/query.js';
import { memberName, memberValue } from '../../base/json-member.js';
import { UUID_JSON } from '../../base/uuid.js';
import { fail, type Failure } from '../../failure.js';
import type { PinnedRelease } from '../../pool.js';
import type { AnswerSlice, PoolFailure, RowsRequest } from '../../pool/types.js';
import { NOT_TOLD } from '../../store/fault.js';
import type { KeyRecord } from '../../store/format.js';
import { PLAN_FEATURES } from '../../store/plan.js';
import { OWN_MERCHANTS } from '../row/cart-row.js';
import { type ChunkTally, decodeResult, encodeChunk, encodeRun } from '../row/chunk-payload.js';
import { CHUNK_BYTES_MAX } from '../row/record-form.js';
import type { Message } from './backlog.js';
import { CHUNK_MESSAGES_MIN, CHUNKS_IN_FLIGHT_MAX } from './session-options.js';

/** How a message is treated; only messages of the same class share a chunk. */
export interface MessageClass {
  /** Whether it counts as a merchant operation and not as a lookup. */
  readonly merchant: boolean;
  /** Why it is refused regardless of its other content; null where it is not. */
  readonly refusal: Failure | null;
}

const MEMBER = memberName('merchantId');

const LOOKUP: MessageClass = { merchant: false, refusal: null };
const MERCHANT: MessageClass = { merchant: true, refusal: null };

function refusing(sentence: string): MessageClass {
  const words = sentence.charAt(0).toLowerCase() + sentence.slice(1);
  return { merchant: true, refusal: wrongParameter(MEMBER.text, words) };
}

const NO_UUID = refusing('a UUID.');

/** The classes of messages whose merchant may not have carts calculated here. */
const REFUSED: Readonly<Record<MerchantRefusal, MessageClass>> = {
  foreign: refusing(MERCHANT_REFUSALS.foreign.detail),
  relayed: refusing(MERCHANT_REFUSALS.relayed.detail),
  untold: { merchant: true, refusal: NOT_TOLD },
};
const NO_PLAN: MessageClass = {
  merchant: true,
  refusal: fail('feature-not-enabled', 'Merchants need the Pro or Enterprise plan.'),
};

/** The JSON value of the merchant that a message names; null where it names none. */
export function merchantText(bytes: Buffer): string | null {
  if (!bytes.includes(MEMBER.bytes)) return null;
  const value = memberValue(bytes, MEMBER);
  const text = value === null ? 'null' : Buffer.from(value).toString('latin1');
  return text === 'null' ? null : text;
}

/** The class of a message. Whether it is valid JSON is checked by the worker. */
function classOf(bytes: Buffer, key: KeyRecord, findMerchant: FindMerchant): MessageClass {
  const text = merchantText(bytes);
  if (text === null) return LOOKUP;
  if (!PLAN_FEATURES[key.plan].merchants) return NO_PLAN;
  if (!UUID_JSON.test(text)) return NO_UUID;
  const merchantId = text.slice(1, -1).toLowerCase();
  const refusal = merchantRefusal(findMerchant, key.account, merchantId);
  return refusal === null ? MERCHANT : REFUSED[refusal];
}

/** Consecutive messages of the same class. */
interface MessageGroup {
  readonly messages: readonly Message[];
  readonly kind: MessageClass;
}

/** The first messages that may share a chunk: of the same class, and not too many bytes. */
export function groupOf(
  waiting: readonly Message[],
  key: KeyRecord,
  findMerchant: FindMerchant,
): MessageGroup {
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

/** What the payload of a chunk needs beside its messages. */
interface ChunkOptions {
  readonly name: string;
  readonly release: PinnedRelease;
  readonly nowMs: number;
  readonly merchant: boolean;
  readonly refusal: Failure | null;
}

/** The payload of a chunk, in the form of row/chunk-payload.ts. */
export function payloadOf(
  messages: readonly Message[],
  { name, release, nowMs, merchant, refusal }: ChunkOptions,
): Buffer {
  const head = encodeRun({
    name,
    kind: 'message',
    release: { id: release.id, dir: release.dir },
    nowMs,
    output: 'ndjson',
    table: null,
    defaults: {},
    ...(merchant ? { subject: OWN_MERCHANTS } : {}),
    ...(refusal === null ? {} : { refusal }),
  });
  const ends = new Uint32Array(messages.length);
  let end = 0;
  for (const [index, { bytes }] of messages.entries()) ends[index] = end += bytes.length;
  const bytes = Buffer.concat(
    messages.map((message) => message.bytes),
    end,
  );
  return encodeChunk(head, { line: messages[0]?.seq ?? 0, ends, bytes });
}

/** A chunk that is with the workers, or answered and waiting for those before it. */
interface Flight {
  readonly messages: readonly Message[];
  readonly dataset: string;
  output: Buffer | null;
  tally: ChunkTally | null;
  /** Whether it will never be answered. */
  lost: boolean;
}

export class Flights {
  #flights: Flight[] = [];

  get count(): number {
    return this.#flights.length;
  }

  /** Whether the workers have any chunk. */
  get busy(): boolean {
    return this.#flights.some(({ output, lost }) => output === null && !lost);
  }

  /**
   * Whether waiting messages may become a further chunk. A few messages do so only if no other
   * chunk is under way.
   */
  hasPlace(waiting: number): boolean {
    return this.count === 0 || (waiting >= CHUNK_MESSAGES_MIN && this.count < CHUNKS_IN_FLIGHT_MAX);
  }

  /**
   * A request for the workers with messages; `over` is called when they were answered or failed.
   */
  request(
    messages: readonly Message[],
    grants: number,
    options: ChunkOptions,
    over: (tally: ChunkTally | null, failure: PoolFailure | null) => void,
  ): RowsRequest {
    const dataset = options.release.id;
    const flight: Flight = { messages, dataset, output: null, tally: null, lost: false };
    this.#flights.push(flight);
    return {
      kind: 'rows',
      grants,
      payload: payloadOf(messages, options),
      answered: (slice: AnswerSlice) => {
        if (slice.status === 200) {
          const { tally, output } = decodeResult(slice.body);
          flight.tally = tally;
          flight.output = output;
        } else flight.lost = true;
        over(flight.tally, null);
      },
      failed: (failure: PoolFailure) => {
        flight.lost = true;
        over(null, failure);
      },
    };
  }

  /** The oldest chunk if it is answered or lost, otherwise null. An answered one is removed. */
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
