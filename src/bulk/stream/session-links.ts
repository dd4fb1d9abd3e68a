/**
 * The two kinds of connections that carry a session: a WebSocket, or a POST whose answer is sent
 * while its body is received.
 */
import { DRAIN_BYTES_MAX } from '../../http/body.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { type DuplexEvents, type Fields, headOf } from '../../http/reply.js';
import type { RawSocket, SocketEvents } from '../../http/transport.js';
import { RecordCutter } from '../row/record-cutter.js';
import { NDJSON_TYPE } from '../run/request.js';
import { silence } from '../run/uploads.js';
import {
  BEHIND_BYTES_MAX,
  CLOSES,
  type Closing,
  HEARTBEAT_MS,
  MESSAGE_BYTES_MAX,
  PONG_BYTES_MAX,
  type StreamLink,
} from './session-options.js';
import type { StreamSession } from './session.js';

/** Replaces an empty message, since a message without bytes stands for one that was too long. */
const SPACE = Buffer.from(' ');

/*
 * A stream over a WebSocket: text messages in both directions, and pings to recognize a dead
 * client.
 */

interface SocketLinkOptions {
  readonly session: StreamSession;
  /** Number of the last answer that the client has; later answers are sent. */
  readonly from: number;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
  /** How long the client may neither send nor take anything. */
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
  /** How many bytes the connection held for the client after the last answer. */
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
    // What the client sends after the end of the stream does not reset the time limit, so that a
    // client that takes nothing is cut.
    if (!session.deaf) this.#movedAt = clock();
    if (isBinary) session.stop('binary', 'Messages are text.');
    else if (message.byteLength > MESSAGE_BYTES_MAX) {
      session.stop('too-big', `A message may have ${MESSAGE_BYTES_MAX} bytes.`);
    } else session.receive(message.byteLength === 0 ? SPACE : Buffer.from(message.slice(0)));
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
    // The native server answers pings itself, even of a client that takes none of the answers.
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
    // The line end is left out, since a message of a WebSocket has an end of its own.
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
    // A WebSocket cannot be paused; the stream of a client that exceeds its credits is ended.
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
    else session.stop('idle', silence(idleMs));
  }
}

/*
 * A stream over a request and its answer, which are both open: each line is a message or a batch of
 * messages.
 */

interface PostLinkOptions {
  readonly session: StreamSession;
  readonly from: number;
  readonly idleMs: number;
  /** Header fields of the answer. */
  readonly fields: Fields;
  readonly closed: () => void;
}

const LF = 10;
const CR = 13;

/** The content of a line, without its line end. */
function content(line: Buffer): Buffer {
  let end = line.length;
  if (end > 0 && line[end - 1] === LF) end -= 1;
  if (end > 0 && line[end - 1] === CR) end -= 1;
  return line.subarray(0, end);
}

export class PostLink implements StreamLink, DuplexEvents {
  readonly #exchange: DuplexExchange;
  readonly #options: PostLinkOptions;
  readonly #cutter = new RecordCutter({
    form: { kind: 'ndjson' },
    rowBytesMax: MESSAGE_BYTES_MAX,
  });
  /** Whether the upload is complete. */
  #ended = false;
  #closed = false;
  #reading = false;
  /** How many bytes were dropped after the end of the stream. */
  #droppedBytes = 0;

  constructor(exchange: DuplexExchange, options: PostLinkOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  /** Begins the answer and attaches the session. */
  start(): void {
    const { session, from, fields } = this.#options;
    this.#exchange.begin(200, headOf(NDJSON_TYPE, fields), session.dataset);
    session.attach(this, from);
    this.#exchange.listen(this);
  }

  data(piece: Uint8Array, isLast: boolean): void {
    if (this.#closed) return;
    if (this.#options.session.deaf) {
      this.#drop(piece);
      return;
    }
    if (piece.length > 0) this.#cutter.push(piece);
    if (isLast) {
      this.#ended = true;
      this.#cutter.end();
    }
    this.#read();
  }

  drained(): void {
    this.#options.session.drained();
  }

  waiting(): boolean {
    return this.#options.session.waiting;
  }

  idle(): void {
    const { session, idleMs } = this.#options;
    session.stop('idle', silence(idleMs));
  }

  closed(): void {
    this.#closed = true;
    this.#options.session.detach(this);
    this.#options.closed();
  }

  send(line: Uint8Array): boolean {
    return this.#exchange.write(line);
  }

  together(send: () => void): void {
    send();
  }

  close(closing: Closing): void {
    this.#closed = true;
    // The stream goes on over another connection, so this answer must not look complete.
    if (closing === CLOSES.resumed) this.#exchange.abandon();
    else this.#exchange.end();
  }

  room(hasRoom: boolean): void {
    if (this.#closed) return;
    if (hasRoom) {
      this.#read();
      if (this.#cutter.rows === 0) this.#exchange.resume();
    } else this.#exchange.pause();
  }

  watch(): void {
    // The exchange itself measures how long nothing is sent and taken.
  }

  /**
   * Drops what the client still sends, up to a limit, since some clients read the answer only when
   * they have sent everything.
   */
  #drop(piece: Uint8Array): void {
    this.#droppedBytes += piece.length;
    if (this.#droppedBytes > DRAIN_BYTES_MAX) this.#exchange.abandon();
  }

  /** Passes lines to the session while it has room. */
  #read(): void {
    const { session } = this.#options;
    // Passing a line may call this method again.
    if (this.#reading) return;
    this.#reading = true;
    while (session.hasRoom && this.#cutter.rows > 0) {
      const line = this.#cutter.take(1, MESSAGE_BYTES_MAX);
      if (line === null) break;
      const bytes = Buffer.from(line.bytes.buffer, line.bytes.byteOffset, line.bytes.byteLength);
      const text = content(bytes);
      session.receive(text.length === 0 && bytes.length > 0 ? SPACE : text, true);
    }
    this.#reading = false;
    if (this.#ended && this.#cutter.rows === 0 && !session.deaf) session.endInput();
  }
}
