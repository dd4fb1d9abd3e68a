/** A stream over a request and its answer, both open: a line is a message, or a batch of them. */
import { RecordFramer } from '../row/framer.js';
import { DRAIN_BYTES_MAX } from '../../http/body.js';
import { NDJSON_TYPE } from '../run/request.js';
import { type DuplexEvents, type Fields, headOf } from '../../http/reply.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { CLOSES, type Closing } from './close-code.js';
import { MESSAGE_BYTES_MAX } from './stream-limits.js';
import type { StreamLink } from './session-options.js';
import type { StreamSession } from './session.js';

export interface PostLinkOptions {
  readonly session: StreamSession;
  readonly from: number;
  readonly idleMs: number;
  /** Header fields of the answer. */
  readonly fields: Fields;
  readonly closed: () => void;
}

const LF = 10;
const CR = 13;

/** A line without its end. */
function content(line: Buffer): Buffer {
  let end = line.length;
  if (end > 0 && line[end - 1] === LF) end -= 1;
  if (end > 0 && line[end - 1] === CR) end -= 1;
  return line.subarray(0, end);
}

/** In place of an empty line: a message of no bytes already means one that was too long. */
const SPACE = Buffer.from(' ');

export class PostLink implements StreamLink, DuplexEvents {
  readonly #exchange: DuplexExchange;
  readonly #options: PostLinkOptions;
  readonly #framer = new RecordFramer({
    framing: { kind: 'ndjson' }, rowBytesMax: MESSAGE_BYTES_MAX,
  });
  /** The upload is complete. */
  #ended = false;
  #closed = false;
  #reading = false;
  /** Bytes that came after the end of the stream. */
  #droppedBytes = 0;

  constructor(exchange: DuplexExchange, options: PostLinkOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  /** Begins the answer and goes on with the session. */
  start(): void {
    const { session, from, fields } = this.#options;
    this.#exchange.begin(200, headOf(NDJSON_TYPE, fields));
    session.attach(this, from);
    this.#exchange.listen(this);
  }

  data(piece: Uint8Array, isLast: boolean): void {
    if (this.#closed) return;
    if (this.#options.session.deaf) {
      this.#drop(piece);
      return;
    }
    if (piece.length > 0) this.#framer.push(piece);
    if (isLast) {
      this.#ended = true;
      this.#framer.end();
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
    session.stop('idle', `Nothing was sent for ${idleMs / 1000} seconds.`);
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
    // The stream goes on elsewhere, so that this answer must not look complete.
    if (closing === CLOSES.resumed) this.#exchange.abandon();
    else this.#exchange.end();
  }

  room(hasRoom: boolean): void {
    if (this.#closed) return;
    if (hasRoom) {
      this.#read();
      if (this.#framer.rows === 0) this.#exchange.resume();
    } else this.#exchange.pause();
  }

  watch(): void {
    // The exchange keeps the clock of what is sent and taken.
  }

  /**
   * Takes and drops what the client still sends, up to a limit: some clients read only when they
   * have sent everything.
   */
  #drop(piece: Uint8Array): void {
    this.#droppedBytes += piece.length;
    if (this.#droppedBytes > DRAIN_BYTES_MAX) this.#exchange.abandon();
  }

  /** Hands over the lines there is room for. */
  #read(): void {
    const { session } = this.#options;
    // Handing over a line may call this again.
    if (this.#reading) return;
    this.#reading = true;
    while (session.hasRoom && this.#framer.rows > 0) {
      const line = this.#framer.take(1, MESSAGE_BYTES_MAX);
      if (line === null) break;
      const bytes = Buffer.from(line.bytes.buffer, line.bytes.byteOffset, line.bytes.byteLength);
      const text = content(bytes);
      session.receive(text.length === 0 && bytes.length > 0 ? SPACE : text);
    }
    this.#reading = false;
    if (this.#ended && this.#framer.rows === 0 && !session.deaf) session.endInput();
  }
}
