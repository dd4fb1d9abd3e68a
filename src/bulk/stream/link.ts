/** What carries a stream for as long as it holds: a WebSocket, or a request and its answer. */
import type { Closing } from './close-code.js';

export interface StreamLink {
  /** Sends a line with its end; false when no more should come until it is drained. */
  send(line: Uint8Array): boolean;
  /** Runs what sends several lines, so that they leave together. */
  together(send: () => void): void;
  /** Ends the connection after everything that was sent. */
  close(terms: Closing): void;
  /** Whether the session has room for more messages. */
  room(hasRoom: boolean): void;
  /** Looks at the clock, in milliseconds. */
  watch(now: number): void;
}
