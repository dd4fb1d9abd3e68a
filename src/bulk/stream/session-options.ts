/** What sessions share and may hold, what each is opened with and answered from, its carrier. */
import type { PinnedRelease, ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import type { FailureKind } from '../../failure.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import type { FindMerchant } from '../../api/merchant/cart-owner.js';
import type { RowsUsage } from '../run/kind.js';
import type { ChunkSchedule } from '../run/schedule.js';

// What a stream of messages may hold. Every limit has an answer that names it.

/** Messages of a stream that may be unanswered at a time. */
export const CREDIT_MESSAGES = 512;
/** Bytes of these. */
export const CREDIT_BYTES = 4_194_304;
/** Messages of one batch. */
export const BATCH_MESSAGES_MAX = 64;
/** One message, or one batch as a whole. */
export const MESSAGE_BYTES_MAX = 1_048_576;
/** Answers kept for a client that may lose its connection; the oldest are given up first. */
export const REPLAY_BYTES_MAX = 4_194_304;
/** Answers that wait for a slow client, above which no more messages go to the workers. */
export const UNSENT_BYTES_MAX = 1_048_576;
/** Bytes in the memory of a connection above which its client is behind. */
export const BEHIND_BYTES_MAX = 262_144;
/** Pongs in that memory beyond the answers; a client that takes none of them is cut. */
export const PONG_BYTES_MAX = 262_144;
/**
 * What one stream takes of the process's memory at most, with the longest answers: its unanswered
 * messages, once more as chunks, their answers, and what is kept for a cut.
 */
export const STREAM_MEMORY_BYTES_MAX = 41_943_040;

/** Chunks of one stream with the workers, or waiting for those before them. */
export const CHUNKS_IN_FLIGHT_MAX = 4;
/** Messages of one chunk. */
export const CHUNK_MESSAGES_MAX = 64;
/** Messages that are worth a further chunk while one is with the workers. */
export const CHUNK_MESSAGES_MIN = 16;

/** Streams of one account at a time, and of all; those that may be resumed count too. */
export const STREAMS_PER_ACCOUNT_MAX = 16;
export const STREAMS_MAX = 64;

/** A silent connection is asked for a sign of life so often; two without one end it. */
export const HEARTBEAT_MS = 20_000;
/** How often the clocks of streams are looked at. */
export const WATCH_MS = 1_000;

/** The limits as the header of a stream tells them. */
export const STREAM_LIMITS = {
  credits: CREDIT_MESSAGES,
  creditBytes: CREDIT_BYTES,
  batch: BATCH_MESSAGES_MAX,
  messageBytes: MESSAGE_BYTES_MAX,
  replayBytes: REPLAY_BYTES_MAX,
} as const;

/** What a client that sends more is told. */
export const OVER_CREDITS =
  `At most ${STREAM_LIMITS.credits} messages and ${STREAM_LIMITS.creditBytes} ` +
  'bytes may be unanswered.';

// The release that answers the messages of a stream, and the moment that today is told from.

/** A kept release that a stream was opened with. */
export interface KeptStream {
  /** Pinned once, for the stream. */
  readonly release: PinnedRelease;
  /** Milliseconds since 1970; null for the moment of each message. */
  readonly atMs: number | null;
}

/** The release that is active when it is pinned, or one that is kept open with a stream. */
export class SessionRelease implements ReleaseSource {
  readonly #releases: ReleaseSource;
  readonly #now: () => number;
  readonly #kept: KeptStream | null;
  #users = 0;
  #over = false;

  constructor(
    { releases, now }: { readonly releases: ReleaseSource; readonly now: () => number },
    kept: KeptStream | null,
  ) {
    this.#releases = releases;
    this.#now = now;
    this.#kept = kept;
  }

  pin(): PinnedRelease | null {
    if (this.#kept === null) return this.#releases.pin();
    this.#users += 1;
    return this.#kept.release;
  }

  unpin(release: PinnedRelease): void {
    if (this.#kept === null) return this.#releases.unpin(release);
    this.#users -= 1;
    this.#letGo();
  }

  /** Name of the release that answers now; "" without one. */
  get id(): string {
    const release = this.pin();
    if (release !== null) this.unpin(release);
    return release?.id ?? '';
  }

  /** The moment that today is told from, in milliseconds since 1970. */
  get nowMs(): number {
    return this.#kept?.atMs ?? this.#now();
  }

  /** The stream is over; what its workers have is answered with the release still. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#letGo();
  }

  #letGo(): void {
    if (this.#kept !== null && this.#over && this.#users === 0) {
      this.#releases.unpin(this.#kept.release);
    }
  }
}

/** What carries a stream for as long as it holds: a WebSocket, or a request and its answer. */
export interface StreamLink {
  /** Sends a line with its end; false when no more should come until it is drained. */
  send(line: Uint8Array): boolean;
  /** Runs what sends several lines, so that they leave together. */
  together(send: () => void): void;
  /** Ends the connection after everything that was sent. */
  close(closing: Closing): void;
  /** Whether the session has room for more messages. */
  room(hasRoom: boolean): void;
  /** Looks at the clock, in milliseconds. */
  watch(now: number): void;
}

export interface SessionServices {
  readonly schedule: ChunkSchedule;
  readonly releases: ReleaseSource;
  readonly usage: RowsUsage;
  readonly findMerchant: FindMerchant;
  /** Milliseconds since 1970: what "today" is told from. */
  readonly now: () => number;
  /** Limits of the operator's, told in the header. */
  readonly limits: Readonly<Record<string, number>>;
}

export interface SessionOptions {
  readonly name: string;
  readonly token: string;
  /** Of the key that opened it; none other resumes it. */
  readonly keyId: string;
  readonly account: string;
  /** A release that was asked for; null for the one that is active when a message leaves. */
  readonly kept: KeptStream | null;
  /** The key as it is now; null once it is disabled or deleted. */
  readonly key: () => KeyRecord | null;
}

/*
 * How streams end: the close code of the WebSocket with its reason, and the response code that the
 * trailer gives. Codes of our own are 4000 and the HTTP status that says the same.
 */

export interface Closing {
  readonly close: number;
  readonly reason: string;
  /** In the member `stopped` of the trailer. */
  readonly code: number;
}

function closing(close: number, reason: string, kind: FailureKind = 'invalid-format'): Closing {
  return { close, reason, code: RESPONSE_CODES[kind].code };
}

export const CLOSES = {
  complete: { close: 1000, reason: 'complete', code: SUCCESS.code },
  binary: closing(1003, 'messages are text'),
  policy: closing(1008, 'a batch is too long'),
  'too-big': closing(1009, 'a message is too long'),
  fault: closing(1011, 'fault of the service', 'internal'),
  stopping: closing(1012, 'the service is stopping', 'overloaded'),
  unavailable: closing(1013, 'no dataset', 'overloaded'),
  key: closing(4401, 'the key is not usable any more', 'invalid-key'),
  quota: closing(4405, 'a quota of this month is used up', 'feature-not-enabled'),
  idle: closing(4408, 'nothing was sent for too long'),
  resumed: closing(4409, 'resumed on another connection'),
  credits: closing(4429, 'too many messages are unanswered', 'rate-limited'),
  heartbeat: closing(4504, 'no sign of life'),
} as const satisfies Readonly<Record<string, Closing>>;

export type CloseName = keyof typeof CLOSES;
