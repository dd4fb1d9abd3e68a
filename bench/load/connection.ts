/** A keep-alive connection of the load generator, with one request under way at a time. */
import { connect, type Socket } from 'node:net';

interface ConnectionTarget {
  readonly port: number;
  /** The next request to send, as bytes. */
  next(): Buffer;
  /** Called with the status, and the time from the write to the last byte of the answer. */
  answered(status: number, milliseconds: number): void;
  failed(): void;
}

const RECEIVE_BYTES = 65_536;
/** How long the last answer is waited for. */
const FINISH_MS = 30_000;
const CONTENT_LENGTH = Buffer.from('\r\nContent-Length: ');
const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_AT = 'HTTP/1.1 '.length;

/** Parses the decimal number at an offset. */
function numberAt(bytes: Buffer, offset: number): number {
  let value = 0;
  for (let at = offset; at < bytes.length; at += 1) {
    const digit = bytes[at]! - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return value;
}

export class LoadConnection {
  readonly #socket: Socket;
  readonly #target: ConnectionTarget;
  #sentAt = 0;
  #status = 0;
  /** How many bytes of the answer are missing; −1 while its head is incomplete. */
  #missing = -1;
  #head: Buffer = Buffer.alloc(0);
  #closed = false;
  /** Set while the last answer is awaited. */
  #finished: (() => void) | null = null;

  constructor(target: ConnectionTarget) {
    this.#target = target;
    this.#socket = connect({
      port: target.port,
      host: '127.0.0.1',
      noDelay: true,
      // The buffer is reused, since the generator shares two processors with what it measures.
      onread: {
        buffer: Buffer.allocUnsafeSlow(RECEIVE_BYTES),
        callback: (length, buffer) => {
          this.#received(Buffer.from(buffer.buffer, buffer.byteOffset, length));
          return true;
        },
      },
    });
    this.#socket.on('connect', () => this.#send());
    this.#socket.on('error', () => this.#fail());
    this.#socket.on('close', () => this.#fail());
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
    this.#finished?.();
  }

  /**
   * Closes after the answer under way. If a client left before, the service would hold the
   * connections of its key for a minute, which would change the next measurement.
   */
  async finish(): Promise<void> {
    if (this.#closed) return;
    const late = setTimeout(() => this.close(), FINISH_MS);
    await new Promise<void>((resolve) => {
      this.#finished = resolve;
    });
    clearTimeout(late);
  }

  #fail(): void {
    if (this.#closed) return;
    this.close();
    this.#target.failed();
  }

  #send(): void {
    this.#missing = -1;
    this.#sentAt = performance.now();
    this.#socket.write(this.#target.next());
  }

  #received(bytes: Buffer): void {
    if (this.#closed) return;
    if (this.#missing < 0) this.#readHead(bytes);
    else this.#missing -= bytes.length;
    if (this.#missing !== 0) return;
    this.#target.answered(this.#status, performance.now() - this.#sentAt);
    if (this.#finished !== null) this.close();
    else if (!this.#closed) this.#send();
  }

  #readHead(bytes: Buffer): void {
    const head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = Buffer.from(head);
      return;
    }
    const length = head.lastIndexOf(CONTENT_LENGTH, end);
    if (length < 0) {
      this.#fail();
      return;
    }
    this.#status = numberAt(head, STATUS_AT);
    this.#missing =
      numberAt(head, length + CONTENT_LENGTH.length) - (head.length - end - HEAD_END.length);
    this.#head = Buffer.alloc(0);
  }
}
