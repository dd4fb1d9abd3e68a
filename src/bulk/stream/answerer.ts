/**
 * Answers messages of a broker like messages of a stream (session.ts): by the same workers, in
 * chunks, from the release that is active when a chunk leaves. There is no key and no account here,
 * so carts of merchants are refused.
 */
import { wrongParameter } from '../../api/lookup/query.js';
import { fail, type Failure } from '../../failure.js';
import {
  GRANT_ALL,
  type AnswerSlice,
  type PinnedRelease,
  type PoolFailure,
  type RowsRequest,
} from '../../pool/types.js';
import type { ReleaseSource } from '../../pool.js';
import { decodeResult, type RefusedRow } from '../row/chunk-payload.js';
import { CHUNK_BYTES_MAX } from '../row/record-form.js';
import type { ChunkSchedule, ChunkSource } from '../run/schedule.js';
import { refusalOf, SUCCESS } from '../../wire/response-code.js';
import type { Message } from './backlog.js';
import { CHUNK_MESSAGES_MAX, MESSAGE_BYTES_MAX } from './session-options.js';
import { merchantText, payloadOf } from './message-chunk.js';

const NO_MERCHANTS = wrongParameter(
  'merchantId',
  'merchants are known to the service alone; their carts go to POST /stream.',
);
const LOST = refusalOf(fail('internal'));
const AGAIN_MS = 1_000;

/** The answer to a message. */
export interface MessageAnswer {
  /** The same line as in a stream, without its end. */
  readonly line: Buffer;
  /** Null where the message was answered with success; `line` is the number of the message. */
  readonly refused: RefusedRow | null;
}

interface Asked {
  readonly message: Message;
  readonly refusal: Failure | null;
  readonly settle: (answer: MessageAnswer) => void;
}

interface AnswererServices {
  readonly schedule: ChunkSchedule;
  readonly releases: ReleaseSource;
  /** The clock, in milliseconds since 1970, that "today" is derived from. */
  readonly now: () => number;
}

const SPACE = Buffer.from(' ');
const LF = 10;
const COMMA = 44;

/** The bytes of a message for a chunk, where no bytes stand for a message that is too long. */
function bytesOf(data: Buffer): Buffer {
  if (data.length === 0) return SPACE;
  return data.length > MESSAGE_BYTES_MAX ? Buffer.alloc(0) : data;
}

export class MessageAnswerer implements ChunkSource {
  readonly #services: AnswererServices;
  #waiting: Asked[] = [];
  #called = false;

  constructor(services: AnswererServices) {
    this.#services = services;
  }

  /** Answers a message. Its answer has the number `seq`. */
  answer(data: Buffer, seq: number): Promise<MessageAnswer> {
    const refusal = merchantText(data) === null ? null : NO_MERCHANTS;
    const message: Message = { seq, bytes: bytesOf(data), batch: false, last: true };
    return new Promise((settle) => {
      this.#waiting.push({ message, refusal, settle });
      if (this.#called) return;
      this.#called = true;
      // Messages that arrive in the same turn of the event loop go into the same chunks.
      setImmediate(() => {
        this.#called = false;
        this.#services.schedule.ready(this);
      });
    });
  }

  next(): RowsRequest | null {
    if (this.#waiting.length === 0) return null;
    const release = this.#services.releases.pin();
    if (release === null) throw new Error('a dataset is active once there was one');
    return this.#request(this.#group(), release, true);
  }

  /** Takes the first messages that may share a chunk. */
  #group(): readonly Asked[] {
    const refusal = this.#waiting[0]?.refusal;
    let count = 0;
    let bytes = 0;
    for (const { message, refusal: own } of this.#waiting) {
      bytes += message.bytes.length;
      if (count > 0 && (bytes > CHUNK_BYTES_MAX || own !== refusal)) break;
      count += 1;
      if (count === CHUNK_MESSAGES_MAX) break;
    }
    return this.#waiting.splice(0, count);
  }

  #request(group: readonly Asked[], release: PinnedRelease, again: boolean): RowsRequest {
    const [first] = group;
    const refusal = first?.refusal ?? null;
    const lost = (failure: PoolFailure): void => {
      this.#services.releases.unpin(release);
      // Workers may be about to be replaced, so this waits and tries again.
      if (failure === 'overloaded') setTimeout(() => this.#oneByOne(group, again), AGAIN_MS);
      else if (again) this.#oneByOne(group, false);
      else for (const { message, settle } of group) settle(lostAnswer(message.seq));
    };
    return {
      kind: 'rows',
      grants: GRANT_ALL,
      payload: payloadOf(
        group.map(({ message }) => message),
        {
          name: 'stream',
          release,
          nowMs: this.#services.now(),
          merchant: refusal !== null,
          refusal,
        },
      ),
      answered: (slice: AnswerSlice) => {
        if (slice.status !== SUCCESS.http) {
          lost('internal');
          return;
        }
        this.#services.releases.unpin(release);
        settleAll(group, slice.body);
      },
      failed: lost,
    };
  }

  /**
   * Tries each message on its own after a worker died or took too long, so that only the message
   * that causes it is refused.
   */
  #oneByOne(group: readonly Asked[], again: boolean): void {
    const left = [...group];
    const source: ChunkSource = {
      next: () => {
        const asked = left.shift();
        const release = asked === undefined ? null : this.#services.releases.pin();
        return asked === undefined || release === null
          ? null
          : this.#request([asked], release, again);
      },
    };
    this.#services.schedule.ready(source);
  }
}

function lostAnswer(seq: number): MessageAnswer {
  const line = Buffer.from(JSON.stringify({ seq, id: null, error: LOST }));
  return { line, refused: { line: seq, ...LOST } };
}

/**
 * Gives each message its line. A chunk numbers its messages consecutively, so each line gets the
 * number of its own message.
 */
function settleAll(group: readonly Asked[], body: Uint8Array): void {
  const {
    tally: { refusals },
    output,
  } = decodeResult(body);
  const first = group[0]?.message.seq ?? 0;
  let at = 0;
  let told = 0;
  for (const [index, { message, settle }] of group.entries()) {
    const { seq } = message;
    const end = output.indexOf(LF, at);
    const line = Buffer.concat([
      Buffer.from(`{"seq":${seq}`),
      output.subarray(output.indexOf(COMMA, at), end),
    ]);
    const refusal = refusals[told];
    const isRefused = refusal?.line === first + index;
    if (isRefused) told += 1;
    settle({ line, refused: isRefused ? { ...refusal, line: seq } : null });
    at = end + 1;
  }
}
