/** What sessions share: their limits, options, release, kind of connection, and how they end. */
import type { PinnedRelease, ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import type { FailureKind } from '../../failure.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';
import type { FindMerchant } from '../../api/merchant/cart-owner.js';
import type { RowsUsage } from '../run/kind.js';
import type { ChunkSchedule } from '../run/schedule.js';

// Limits of a stream of messages. Every limit has an answer that names it.

/** Most messages of a stream without an answer. */
export const CREDIT_MESSAGES = 512;
/** Most bytes of these messages. */
export const CREDIT_BYTES = 4_194_304;
/** Most messages of a batch. */
export const BATCH_MESSAGES_MAX = 64;
/** Longest message, or longest batch as a whole. */
export const MESSAGE_BYTES_MAX = 1_048_576;
/**
 * Most bytes of sent answers that are kept for a client that may lose its connection; the oldest
 * are dropped first.
 */
export const REPLAY_BYTES_MAX = 4_194_304;
/** Bytes of unsent answers at which no more messages go to the workers. */
export const UNSENT_BYTES_MAX = 1_048_576;
/** Bytes buffered by a connection above which its client counts as being behind. */
export const BEHIND_BYTES_MAX = 262_144;
/**
 * Bytes of pongs that a connection may buffer beside answers; a client that does not take them is
 * cut.
 */
export const PONG_BYTES_MAX = 262_144;
/**
 * Most memory of the process for one stream, with the longest answers: for its unanswered messages,
 * the same as chunks, their answers, and the answers that are kept for a lost connection.
 */
export const STREAM_MEMORY_BYTES_MAX = 41_943_040;

/** Most chunks of one stream that are with the workers or wait for those before them. */
export const CHUNKS_IN_FLIGHT_MAX = 4;
/** Most messages of a chunk. */
export const CHUNK_MESSAGES_MAX = 64;
/** Fewest messages that make a further chunk while another one is with the workers. */
export const CHUNK_MESSAGES_MIN = 16;

/** Most streams at a time of one account, and of all; streams that may be resumed count too. */
export const STREAMS_PER_ACCOUNT_MAX = 16;
export const STREAMS_MAX = 64;

/**
 * A client that was silent for so long is asked for a sign of life; twice this time ends the
 * connection.
 */
export const HEARTBEAT_MS = 20_000;
/** How often the time limits of streams are checked. */
export const WATCH_MS = 1_000;

/** The limits as the header of a stream shows them. */
export const STREAM_LIMITS = {
  credits: CREDIT_MESSAGES,
  creditBytes: CREDIT_BYTES,
  batch: BATCH_MESSAGES_MAX,
  messageBytes: MESSAGE_BYTES_MAX,
  replayBytes: REPLAY_BYTES_MAX,
} as const;

/** The message to a client that sends more. */
export const OVER_CREDITS =
  `At most ${STREAM_LIMITS.credits} messages and ${STREAM_LIMITS.creditBytes} ` +
  'bytes may be unanswered.';

// The release that answers the messages of a stream, and the moment that "today" is derived from.

/** A kept release that a stream was opened for. */
export interface KeptStream {
  /** Pinned once, for the whole stream. */
  readonly release: PinnedRelease;
  /** Milliseconds since 1970; null for the moment of each message. */
  readonly atMs: number | null;
}

/** Pins the release that answers: the active one, or a kept one that stays open with the stream. */
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

  /** Id of the release that answers now; "" without one. */
  get id(): string {
    const release = this.pin();
    if (release !== null) this.unpin(release);
    return release?.id ?? '';
  }

  /** The moment that "today" is derived from, in milliseconds since 1970. */
  get nowMs(): number {
    return this.#kept?.atMs ?? this.#now();
  }

  /** Ends the stream. The release stays open until its workers have answered. */
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

/** The connection that carries a stream: a WebSocket, or a request and its answer. */
export interface StreamLink {
  /**
   * Sends a line including its line end; false when no more should come until `drained` of the
   * session.
   */
  send(line: Uint8Array): boolean;
  /** Runs a function that sends several lines, so that they leave together. */
  together(send: () => void): void;
  /** Ends the connection after all that was sent. */
  close(closing: Closing): void;
  /** Called with whether the session has room for more messages. */
  room(hasRoom: boolean): void;
  /** Checks time limits, at a time in milliseconds. */
  watch(now: number): void;
}

export interface SessionServices {
  readonly schedule: ChunkSchedule;
  readonly releases: ReleaseSource;
  readonly usage: RowsUsage;
  readonly findMerchant: FindMerchant;
  /** The clock, in milliseconds since 1970, that "today" is derived from. */
  readonly now: () => number;
  /** Limits that the operator sets, for the header. */
  readonly limits: Readonly<Record<string, number>>;
}

export interface SessionOptions {
  readonly name: string;
  readonly token: string;
  /** Id of the key that opened the stream; no other key may resume it. */
  readonly keyId: string;
  readonly account: string;
  /**
   * The kept release that was asked for; null for the release that is active when a chunk leaves.
   */
  readonly kept: KeptStream | null;
  /** The key as it is now; null once it is disabled or deleted. */
  readonly key: () => KeyRecord | null;
}

/*
 * How streams end: the close code of the WebSocket and its reason, and the response code in the
 * trailer. Codes of our own are 4000 plus the HTTP status with the same meaning.
 */

export interface Closing {
  readonly close: number;
  readonly reason: string;
  /** The code of the member `stopped` in the trailer. */
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
