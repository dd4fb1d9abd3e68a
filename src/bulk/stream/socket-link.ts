/** A stream over a WebSocket: text messages in, text messages out, pings to tell a dead client. */
import type { RawSocket, SocketEvents } from '../../http/transport.js';
import { CLOSES, type Closing } from './close-code.js';
import {
  BEHIND_BYTES_MAX, HEARTBEAT_MS, MESSAGE_BYTES_MAX, PONG_BYTES_MAX,
} from './stream-limits.js';
import type { StreamLink } from './session-options.js';
import type { StreamSession } from './session.js';

export interface SocketLinkOptions {
  readonly session: StreamSession;
  /** Answers from the one after this on are sent. */
  readonly from: number;
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
  /** How long the client may send and take nothing. */
  readonly idleMs: number;
  readonly opened: () => void;
  readonly closed: () => void;
}

export class SocketLink implements StreamLink, SocketEvents {
  readonly #options: SocketLinkOptions;
  #socket: RawSocket | null = null;
  #heardAt: number;
  #movedAt: number;
  #pinged = false;
  #behind = false;
  /** What was kept for the client after the last answer. */
  #keptBytes = 0;

  constructor(options: SocketLinkOptions) {
    this.#options = options;
    this.#heardAt = this.#movedAt = options.clock();
  }

  open(socket: RawSocket): void {
    const { session, from, opened } = this.#options;
    this.#socket = socket;
    opened();
    session.attach(this, from);
  }

  message(message: ArrayBuffer, isBinary: boolean): void {
    const { session, clock } = this.#options;
    if (this.#socket === null) return;
    this.alive();
    // What comes after the end does not count as a sign of life: a client that takes nothing is
    // still cut.
    if (!session.deaf) this.#movedAt = clock();
    if (isBinary) session.stop('binary', 'Messages are text.');
    else if (message.byteLength > MESSAGE_BYTES_MAX) {
      session.stop('too-big', `A message may have ${MESSAGE_BYTES_MAX} bytes.`);
    } else session.receive(Buffer.from(message.slice(0)));
  }

  drained(): void {
    const { session, clock } = this.#options;
    this.#movedAt = clock();
    if (!this.#behind || this.#socket === null) return;
    if (this.#socket.getBufferedAmount() > BEHIND_BYTES_MAX / 2) return;
    this.#behind = false;
    session.drained();
  }

  alive(): void {
    this.#heardAt = this.#options.clock();
    this.#pinged = false;
    // The native server answers pings by itself, also a client that takes none of its answers.
    const socket = this.#socket;
    if (socket === null) return;
    if (socket.getBufferedAmount() > this.#keptBytes + PONG_BYTES_MAX) socket.close();
  }

  closed(): void {
    this.#socket = null;
    this.#options.session.detach(this);
    this.#options.closed();
  }

  send(line: Uint8Array): boolean {
    const socket = this.#socket;
    if (socket === null) return false;
    // Without the line end: a message has an end of its own.
    socket.send(line.subarray(0, line.length - 1));
    this.#keptBytes = socket.getBufferedAmount();
    this.#behind = this.#keptBytes > BEHIND_BYTES_MAX;
    return !this.#behind;
  }

  together(send: () => void): void {
    if (this.#socket === null) send();
    else this.#socket.cork(send);
  }

  close({ close, reason }: Closing): void {
    this.#socket?.end(close, reason);
  }

  room(): void {
    // A WebSocket cannot be kept from sending: a client beyond its credits is ended.
  }

  watch(now: number): void {
    const { session, idleMs } = this.#options;
    const socket = this.#socket;
    if (socket === null) return;
    if (now - this.#heardAt >= 2 * HEARTBEAT_MS) {
      this.close(CLOSES.heartbeat);
      return;
    }
    if (!this.#pinged && now - this.#heardAt >= HEARTBEAT_MS) {
      this.#pinged = true;
      socket.ping();
    }
    if (!session.waiting) this.#movedAt = now;
    if (now - this.#movedAt < idleMs) return;
    this.#movedAt = now;
    if (this.#behind) socket.close();
    else session.stop('idle', `Nothing was sent for ${idleMs / 1000} seconds.`);
  }
}
