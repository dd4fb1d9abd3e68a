/**
 * What stands around every handler of the native server. That ends the process when a handler
 * returns with its response open and nothing to be told of an abort, which also happens to whole
 * answers of a client that resets its connection meanwhile. So something is registered before any
 * handler runs; what a handler registers itself takes its place.
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

/** Answers and closes; nothing that follows is read. `told` of it before. */
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

/** Cuts a connection, if it is still there and its answer open. */
function cut(raw: RawResponse): void {
  try {
    raw.close();
  } catch {
    // It has ended: the native server lets nobody touch it any more.
  }
}

/** Tells how the body of a request is framed, by itself or with what was read for that. */
type LookAtFraming = (request: RawRequest) => Framing | GatheredRequest;

/**
 * Makes a handler one that cannot leave its response behind, whatever it does or throws. `settles`:
 * the handler returns with its answer taken whole or with something registered (`Exchange.guard`),
 * so that nothing needs to be registered for the many answers that are given at once.
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
      // What is left of such a connection is answered after its handler.
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
 * The last chunk and a trailer field: the native server would only write the end of a chunked
 * answer by ending the response. Recipients may ignore trailer fields (RFC 9110, 6.5).
 */
const LAST_CHUNK = '\r\n0\r\nSitus-End';
const LAST_FIELD = 'closed\r\n';

/** A client that was told of the end closes; one that does not is cut after this. */
const LINGER_MS = 10_000;
const DRAIN_MS = 20;

/**
 * A response after which its connection serves nothing more. The native server may read a body in
 * chunks in another way than what stands in front of it does, and take a part of it for a request.
 * So nothing that follows such a body is ever served: the answer stays open until the system has
 * taken all of it, and then the connection is closed. The native server cuts a connection that
 * sends a request while an answer is open, without a look at it.
 *
 * That is also why an answer never ends here within the native parser, which would go on reading,
 * nor by the native `end`, which would go on reading where the client is behind.
 */
class LastResponse implements JoiningResponse {
  /** Null once the client has gone. */
  #raw: RawResponse | null;
  #aborted: () => void = NOTHING;
  #streams = false;
  /** Whether it is read on, or is to be in this turn. */
  #resumes = false;
  /** What is left to be sent, and the length that was told. */
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
    // Without a body, the head is told apart by the call that follows.
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

  /** In the same turn as the answer that follows, else a half that has ended is read before it. */
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

  /** Sends a whole answer once the native parser is done with what it has read. */
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
   * Sends what is left and closes when the system has everything. The length told from the second
   * call on is never reached, so that the response stays open until then.
   */
  #sendRest(): boolean {
    let before = -1;
    let taken = true;
    // Once more without anything: what a call hands over is sent after it.
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

  /** The client closes, or is cut; what it has not taken by then is offered until then. */
  #endStream(): void {
    this.#corked((raw) => raw.writeHeader(LAST_CHUNK, LAST_FIELD));
    const ending = Date.now() + LINGER_MS;
    this.#timer = setInterval(() => {
      if (Date.now() > ending) this.#raw?.close();
      else this.#corked(NOTHING);
    }, DRAIN_MS).unref();
  }
}

/** Sizes of what may have been freed where an HTTP connection becomes a WebSocket, in bytes. */
const FREED_BYTES_MAX = 512;
const FREED_STEP = 8;

/**
 * Fills with zeros what was freed when an HTTP connection became a WebSocket. To be called within a
 * cork: at its end the native server looks at that memory, and closes the WebSocket where it finds
 * a certain bit there (uNetworking/uWebSockets#1929). Returns what is to be held until then.
 */
export function clearFreed(): readonly Buffer[] {
  return Array.from({ length: FREED_BYTES_MAX / FREED_STEP }, (_, index) =>
    Buffer.allocUnsafeSlow((index + 1) * FREED_STEP).fill(0),
  );
}
