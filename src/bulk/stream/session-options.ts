/** What sessions share, what each is opened with, and what carries it. */
import type { ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
import { RESPONSE_CODES } from '../../wire/response-code.js';
import type { FindMerchant, RowsUsage } from '../run/kind.js';
import type { ChunkSchedule } from '../run/schedule.js';
import type { KeptStream } from './session-release.js';

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

const MALFORMED = RESPONSE_CODES['invalid-format'].code;

export const CLOSES = {
  complete: { close: 1000, reason: 'complete', code: 100 },
  binary: { close: 1003, reason: 'messages are text', code: MALFORMED },
  policy: { close: 1008, reason: 'a batch is too long', code: MALFORMED },
  'too-big': { close: 1009, reason: 'a message is too long', code: MALFORMED },
  fault: { close: 1011, reason: 'fault of the service', code: RESPONSE_CODES.internal.code },
  stopping: {
    close: 1012,
    reason: 'the service is stopping',
    code: RESPONSE_CODES.overloaded.code,
  },
  unavailable: { close: 1013, reason: 'no dataset', code: RESPONSE_CODES.overloaded.code },
  key: {
    close: 4401,
    reason: 'the key is not usable any more',
    code: RESPONSE_CODES['invalid-key'].code,
  },
  quota: {
    close: 4405,
    reason: 'a quota of this month is used up',
    code: RESPONSE_CODES['feature-not-enabled'].code,
  },
  idle: { close: 4408, reason: 'nothing was sent for too long', code: MALFORMED },
  resumed: { close: 4409, reason: 'resumed on another connection', code: MALFORMED },
  credits: {
    close: 4429,
    reason: 'too many messages are unanswered',
    code: RESPONSE_CODES['rate-limited'].code,
  },
  heartbeat: { close: 4504, reason: 'no sign of life', code: MALFORMED },
} as const satisfies Readonly<Record<string, Closing>>;

export type CloseName = keyof typeof CLOSES;
