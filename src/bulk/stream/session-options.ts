/** What sessions share, what each is opened with, and what carries it. */
import type { Closing } from './close-code.js';
import type { ReleaseSource } from '../../pool.js';
import type { KeyRecord } from '../../store/format.js';
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
