/**
 * Guards every handler of the native server. That server ends the process when a handler returns
 * with its response open and no callback for an abort, which also happens to a whole answer whose
 * client resets the connection meanwhile. So a callback is registered before any handler runs; one
 * that the handler registers replaces it.
 */
import { NO_BYTES } from '../base/growing-bytes.js';
import type { Framing } from './body-framing.js';
import type { GatheredRequest } from './gathered-request.js';
import { unclearBody } from './head-refusal.js';
import type { Reply } from './reply.js';
import { statusLine } from './status.js';
import type { JoiningResponse, RawHandler, RawRequest, RawResponse, Told } from './transport.js';
import { writeExtra } from './write-reply.js';

const NOTHING = (): void => undefined;

/** Notes a refusal, answers with it and closes the connection. Nothing that follows is read. */
export function refuse(raw: RawResponse, request: RawRequest, reply: Reply, { note }: Told): void {
  const { status, head, body } = reply;
  const fields = note(raw, request, reply);
  const response = new LastResponse(raw);
  response.writeStatus(statusLine(status));
  writeExtra(response, fields);
  response.writeHeader('Content-Type', head);
  if (request.getCaseSensitiveMethod() !== 'HEAD') response.end(body);
  else {
    response.tryEnd(NO_BYTES, Buffer.byteLength(body));
    response.endWithoutBody();
  }
}

/** Cuts a connection, if it still exists and its answer is open. */
function cut(raw: RawResponse): void {
  try {
    raw.close();
  } catch {
    // The response has ended, and the native server allows no access to it any more.
  }
}

/** Returns how the body of a request is framed, alone or with the fields that were read for it. */
type LookAtFraming = (request: RawRequest) => Framing | GatheredRequest;

/**
 * Wraps a handler so that it cannot leave its response open, whatever it does or throws. With
 * `settles`, the handler returns only after the whole answer was taken or a callback was registered
 * (`Exchange.guard`), so that nothing is registered for the many answers that are given at once.
 */
export function guarded(
  handler: RawHandler,
  look: LookAtFraming,
  told: Told,
  { settles = false } = {},
): RawHandler {
  return (raw, native) => {
    if (!settles) raw.onAborted(NOTHING);
    try {
      const looked = look(native);
      const framing = typeof looked === 'string' ? looked : looked.framing;
      const request = typeof looked === 'string' ? native : looked;
      // Such requests are answered after the handler has returned.
      if (settles && framing !== 'plain') raw.onAborted(NOTHING);
      if (framing === 'plain') handler(raw, request);
      else if (framing === 'chunked') handler(new LastResponse(raw), request);
      else refuse(raw, request, unclearBody(request.getUrl()), told);
    } catch (error) {
      told.fault(error);
      cut(raw);
    }
  };
}

/**
 * The last chunk with a trailer field. The native server would write the end of a chunked answer
 * only when the response is ended. Recipients may ignore trailer fields (RFC 9110, 6.5).
 */
const LAST_CHUNK = '\r\n0\r\nSitus-End';
const LAST_FIELD = 'closed\r\n';

/**
 * A client that has received the end closes the connection; one that does not is cut after this
 * time.
 */
const LINGER_MS = 10_000;
const DRAIN_MS = 20;

/**
 * A response after which its connection serves nothing more. The native server may find another end
 * of a chunked body than the proxy in front of it does, and take a part of the body for a request.
 * So nothing that follows such a body is ever served: the answer stays open until the system has
 * taken all of it, and then the connection is closed. While an answer is open, the native server
 * cuts a connection that sends a request, without handling the request.
 *
 * For the same reason an answer never ends here within the native parser, nor by the native `end`
 * for a client that is behind: the server would go on reading after either.
 */
class LastResponse implements JoiningResponse {
  /** Null once the client has left. */
  #raw: RawResponse | null;
  #aborted: () => void = NOTHING;
  #streams = false;
  /** Whether the connection is read, or will be in this turn. */
  #resumes = false;
  /** The bytes that are still to be sent, and the announced length. */
  #rest: Uint8Array = NO_BYTES;
  #length = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(raw: RawResponse) {
    this.#raw = raw;
    raw.onAborted(() => {
      this.#raw = null;
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#aborted();
    });
  }

  writeStatus(status: string | ArrayBuffer): this {
    (this.#raw as JoiningResponse | null)?.writeStatus(status);
    return this;
  }

  writeHeader(name: string | ArrayBuffer, value: string | Uint8Array): this {
    this.#raw?.writeHeader(name, value);
    return this;
  }

  end(body: string | Uint8Array = NO_BYTES): this {
    this.#aborted = NOTHING;
    if (this.#streams) this.#endStream();
    else this.#endLater(Buffer.from(body), Buffer.byteLength(body));
    return this;
  }

  tryEnd(body: string | Uint8Array, length = Buffer.byteLength(body)): [boolean, boolean] {
    // A call with less than the whole body only announces its length; another call ends the answer.
    if (Buffer.byteLength(body) < length) this.#length = length;
    else this.end(body);
    return [true, this.#length === 0];
  }

  endWithoutBody(): this {
    this.#aborted = NOTHING;
    if (this.#length > 0) this.#endLater(NO_BYTES, this.#length);
    else setImmediate(() => this.#corked((raw) => raw.endWithoutBody(undefined, true)));
    return this;
  }

  write(part: Uint8Array): boolean {
    const raw = this.#raw;
    if (raw === null) return true;
    if (!this.#streams) raw.writeHeader('Connection', 'close');
    this.#streams = true;
    return raw.write(part);
  }

  getWriteOffset(): number {
    return this.#raw?.getWriteOffset() ?? 0;
  }

  onWritable(handler: (offset: number) => boolean): this {
    this.#raw?.onWritable(handler);
    return this;
  }

  cork(write: () => void): this {
    this.#raw?.cork(write);
    return this;
  }

  close(): this {
    this.#raw?.close();
    return this;
  }

  pause(): void {
    this.#resumes = false;
    this.#raw?.pause();
  }

  /**
   * Resumes at the end of the turn, together with the answer. Before it, the server would find that
   * a client has ended its half, and close the connection.
   */
  resume(): void {
    this.#resumes = true;
    setImmediate(() => {
      if (this.#resumes) this.#raw?.resume();
    });
  }

  onAborted(handler: () => void): this {
    this.#aborted = handler;
    return this;
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return this.#raw?.getRemoteAddressAsText() ?? new ArrayBuffer(0);
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): this {
    this.#raw?.onData(handler);
    return this;
  }

  #corked(write: (raw: RawResponse) => void): void {
    const raw = this.#raw;
    raw?.cork(() => write(raw));
  }

  /** Sends a whole answer once the native parser has finished what it was given. */
  #endLater(body: Uint8Array, length: number): void {
    this.#rest = body;
    this.#length = length;
    setImmediate(() => {
      if (length === 0) return this.#corked((raw) => raw.end(NO_BYTES, true));
      this.#corked((raw) => raw.writeHeader('Connection', 'close').tryEnd(NO_BYTES, length));
      this.#raw?.onWritable(() => this.#sendRest());
      this.#sendRest();
    });
  }

  /**
   * Sends what is left, and closes when the system has taken everything. From the second call on
   * the length passed is one too many, so that the response stays open until then.
   */
  #sendRest(): boolean {
    let before = -1;
    let taken = true;
    // What a call passes is sent after it, so a last call with nothing tells whether that was
    // taken.
    while (this.#raw !== null && taken && before !== 0) {
      before = this.#rest.length;
      this.#corked((raw) => {
        const from = raw.getWriteOffset();
        [taken] = raw.tryEnd(this.#rest, this.#length + 1);
        this.#rest = this.#rest.subarray(raw.getWriteOffset() - from);
      });
    }
    if (taken) this.#raw?.close();
    return taken;
  }

  /**
   * Ends a streamed answer: offers what the client has not taken yet until it closes, and cuts it
   * after LINGER_MS.
   */
  #endStream(): void {
    this.#corked((raw) => raw.writeHeader(LAST_CHUNK, LAST_FIELD));
    const ending = Date.now() + LINGER_MS;
    this.#timer = setInterval(() => {
      if (Date.now() > ending) this.#raw?.close();
      else this.#corked(NOTHING);
    }, DRAIN_MS).unref();
  }
}

/** The sizes, in bytes, of memory that may be freed when an HTTP connection becomes a WebSocket. */
const FREED_BYTES_MAX = 512;
const FREED_STEP = 8;

/**
 * Fills with zeros the memory that was freed when an HTTP connection became a WebSocket. Call it
 * within a cork: at the end of that the native server reads the freed memory, and closes the
 * WebSocket where it finds a certain bit set (uNetworking/uWebSockets#1929). Returns the memory,
 * which must be kept until then.
 */
export function clearFreed(): readonly Buffer[] {
  return Array.from({ length: FREED_BYTES_MAX / FREED_STEP }, (_, index) =>
    Buffer.allocUnsafeSlow((index + 1) * FREED_STEP).fill(0),
  );
}
