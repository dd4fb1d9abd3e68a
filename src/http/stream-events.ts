/** What a stream of requests and answers is told, and by what it is bounded. */
import type { Reply } from './reply.js';

/** What a stream is told; set by its handler while that runs. */
export interface StreamEvents {
  /** `piece` is emptied when this returns. */
  data(piece: Uint8Array, isLast: boolean): void;
  /** What was written has been taken. */
  drained(): void;
  /** Whether nothing can be done until the client sends or takes something. */
  waiting(): boolean;
  /** The client has sent nothing for the idle time. */
  idle(): void;
  /** The client has gone, or everything was sent. */
  closed(): void;
}

export interface StreamLimits {
  /** Longest time that a client may send or take nothing; told in steps of a few seconds. */
  readonly idleMs: number;
  /** How often an upload is kept from being cut; every few seconds unless given. */
  readonly tickMs?: number;
  /** Ends without the rest of the upload: for clients that read while they send. */
  readonly atOnce?: boolean;
}

/** Gives the answer to a fault of the handler, for where it can still be sent. */
export type FaultReply = (error: unknown) => Reply;
