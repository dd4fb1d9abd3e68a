/**
 * A response of the HTTP server of Node.js, behind the port. Node.js keeps what a client does not
 * take, so an answer is over here when the system has taken all of it; until then the next request
 * of the connection waits (`NodeConnection`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { NO_BYTES } from '../base/growing-bytes.js';
import { binary, nameOf } from './node-request.js';
import type { RawResponse } from './transport.js';

/** A client that takes nothing of its answer for this long is cut, as by the native server. */
export const IDLE_MS = 10_000;
/** How often to check what clients have taken. */
const TAKEN_LOOK_MS = 2_000;

/**
 * How long a connection may rest between requests, as clients are told. It is cut later than that,
 * so that a request sent at the last moment still arrives.
 */
const REST_TOLD = `timeout=${IDLE_MS / 1_000}`;
export const REST_MS = 15_000;

/** Up to this length a body is passed on as text, with a character for each byte. */
const TEXT_BYTES_MAX = 16_384;

const NO_PIECE = new ArrayBuffer(0);
const NOTHING = (): void => undefined;

/** A copy of the bytes in memory of its own. */
export function ownBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

/** How many bytes were passed on that the system has not taken. */
function untaken(socket: Duplex): number {
  // Node.js tells this nowhere else during a long write; its own time limits use it too.
  const { _handle: handle } = socket as Duplex & {
    readonly _handle?: { readonly writeQueueSize?: number } | null;
  };
  return handle?.writeQueueSize ?? socket.writableLength;
}

/** What a response needs of the connection it is sent on. */
export interface ResponseConnection {
  readonly socket: Duplex & { readonly remoteAddress?: string; setTimeout?(ms: number): unknown };
  /** Whether the client has ended its half. */
  readonly halfClosed: boolean;
  /** Cuts the answer under way if its client has left and it is not to be sent all the same. */
  look(): void;
}

export class NodeResponse implements RawResponse {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: ResponseConnection;
  #status = 200;
  #reason = 'OK';
  /** Name and value in turns. */
  readonly #fields: string[] = [];
  #last: boolean;
  /** Whether the whole answer was passed to Node.js. */
  #ended = false;
  /** Whether the system has taken all of it, or the client has left. */
  #over = false;
  #told = 0;
  #length = 0;
  #held = false;
  #behind = false;
  #aborted = NOTHING;
  #writable: (offset: number) => boolean = () => true;
  #data: ((chunk: ArrayBuffer, isLast: boolean) => void) | null = null;

  /** With `last`, the connection serves nothing more after this answer. */
  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    connection: ResponseConnection,
    last = false,
  ) {
    this.#message = message;
    this.#response = response;
    this.#connection = connection;
    this.#last = last;
  }

  /** Whether the client is answered even though it has ended its half. */
  get patient(): boolean {
    return this.#held || this.#ended || this.#over;
  }

  /** Whether any part of the answer was sent. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** Makes this the last answer of the connection. */
  makeLast(): void {
    this.#last = true;
  }

  writeStatus(status: string): this {
    this.#status = Number.parseInt(status, 10);
    this.#reason = status.slice(status.indexOf(' ') + 1);
    return this;
  }

  /** A value may contain further fields after line breaks (`Head`). */
  writeHeader(name: string | ArrayBuffer, value: string | Uint8Array): this {
    const [own = '', ...more] = binary(value).split('\r\n');
    this.#fields.push(nameOf(name), own);
    for (const line of more) {
      const colon = line.indexOf(': ');
      this.#fields.push(line.slice(0, colon), line.slice(colon + 2));
    }
    return this;
  }

  end(body: string | Uint8Array = NO_BYTES, closeConnection = false): this {
    this.#last ||= closeConnection;
    if (this.#response.headersSent) this.#finish();
    else this.#endWhole(body);
    return this;
  }

  tryEnd(body: string | Uint8Array, length = Buffer.byteLength(body)): [boolean, boolean] {
    if (!this.#ended && !this.#over) {
      if (Buffer.byteLength(body) < length) {
        // A call without the body only announces its length; another call ends the answer.
        this.#told = length;
        return [true, false];
      }
      this.#endWhole(body);
    }
    return [this.#taken, this.#taken];
  }

  getWriteOffset(): number {
    return this.#ended ? this.#length : 0;
  }

  endWithoutBody(_length?: undefined, closeConnection = false): this {
    this.#last ||= closeConnection;
    if (this.#over) return this;
    this.#writeHead(this.#told > 0 ? this.#told : null);
    this.#finish();
    return this;
  }

  write(part: Uint8Array): boolean {
    if (this.#over) return true;
    if (!this.#response.headersSent) this.#writeHead(null);
    // The caller may overwrite its memory.
    this.#response.write(Buffer.from(part), () => this.#caughtUp());
    this.#flush();
    this.#behind = !this.#taken;
    return !this.#behind;
  }

  onWritable(handler: (offset: number) => boolean): this {
    this.#writable = handler;
    return this;
  }

  cork(write: () => void): this {
    write();
    return this;
  }

  close(): this {
    this.gone();
    this.#connection.socket.destroy();
    return this;
  }

  pause(): void {
    this.#held = true;
    if (this.#data !== null) this.#message.pause();
  }

  resume(): void {
    this.#held = false;
    if (this.#data !== null) this.#message.resume();
    // Not at once, since the caller may be about to answer.
    if (this.#connection.halfClosed) setImmediate(() => this.#connection.look());
  }

  onAborted(handler: () => void): this {
    this.#aborted = handler;
    return this;
  }

  getRemoteAddressAsText(): ArrayBuffer {
    const { remoteAddress } = this.#connection.socket;
    return remoteAddress === undefined ? NO_PIECE : ownBuffer(Buffer.from(remoteAddress));
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): this {
    const isFirst = this.#data === null;
    this.#data = handler;
    if (!isFirst) return this;
    let left = Number.parseInt(this.#message.headers['content-length'] ?? '', 10);
    let complete = false;
    const tell = (chunk: ArrayBuffer, isLast: boolean): void => {
      if (this.#over || this.#ended || complete) return;
      complete = isLast;
      this.#data?.(chunk, isLast);
    };
    this.#message
      .on('data', (chunk: Buffer) => {
        left -= chunk.length;
        tell(ownBuffer(chunk), left === 0);
      })
      .on('end', () => tell(NO_PIECE, true));
    return this;
  }

  /** The client has left, or was cut; nothing more is received. */
  gone(): void {
    if (this.#over) return;
    this.#over = true;
    this.#data = NOTHING;
    this.#aborted();
  }

  /** The connection is a WebSocket now; this response takes no further part in it. */
  letGo(): void {
    this.#over = true;
    this.#response.removeAllListeners('finish');
    this.#response.detachSocket(this.#connection.socket as Socket);
  }

  /** The system has taken all of the answer. */
  finished(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#ended) this.#writable(this.#length);
  }

  get #taken(): boolean {
    return this.#over || this.#connection.socket.writableLength === 0;
  }

  #endWhole(body: string | Uint8Array): void {
    if (this.#over) return;
    this.#length = Buffer.byteLength(body);
    this.#writeHead(this.#length);
    // As text it is written together with the head, which costs half as much as two writes.
    if (this.#length <= TEXT_BYTES_MAX) this.#finish(binary(body));
    // The caller may overwrite its memory.
    else this.#finish(Buffer.from(body));
  }

  #writeHead(length: number | null): void {
    if (length !== null) this.#fields.push('Content-Length', String(length));
    if (this.#last) this.#fields.push('Connection', 'close');
    else if (this.#response.shouldKeepAlive) {
      this.#fields.push('Connection', 'keep-alive', 'Keep-Alive', REST_TOLD);
    }
    this.#response.writeHead(this.#status, this.#reason, this.#fields);
  }

  #finish(body: string | Uint8Array = NO_BYTES): void {
    this.#ended = true;
    if (body.length === 0) this.#response.end();
    else this.#response.end(body, 'latin1');
    if (!this.#taken) this.#limitTaking();
  }

  /** Cuts a client that reads nothing. For Node.js's own limits, sending would count as reading. */
  #limitTaking(): void {
    const { socket } = this.#connection;
    let [left, stillMs] = [untaken(socket), 0];
    const timer = setInterval(() => {
      if (this.#over) return clearInterval(timer);
      const now = untaken(socket);
      stillMs = now === left ? stillMs + TAKEN_LOOK_MS : 0;
      left = now;
      if (stillMs >= IDLE_MS) socket.destroy();
    }, TAKEN_LOOK_MS).unref();
  }

  /** Passes on what was written, which Node.js would collect until the end of the turn. */
  #flush(): void {
    const { socket } = this.#connection;
    while (socket.writableCorked > 0) socket.uncork();
  }

  #caughtUp(): void {
    if (!this.#behind || !this.#taken) return;
    this.#behind = false;
    if (!this.#over && !this.#ended) this.#writable(0);
  }
}
