/** A native response that only records what is done to it. */
import type { RawResponse } from '../../src/http/transport.js';

export class FakeResponse implements RawResponse {
  readonly calls: string[] = [];
  body: string | Uint8Array | undefined;
  closedWithAnswer = false;
  /** Whether the client takes anything. */
  takes = true;
  #aborted: () => void = () => undefined;
  #data: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;

  /** The client goes away. */
  abort(): void {
    this.#aborted();
  }

  /** A part of the body arrives. */
  receive(text: string, isLast = false): void {
    this.#data(new TextEncoder().encode(text).buffer as ArrayBuffer, isLast);
  }

  writeStatus(): RawResponse {
    return this.#called('writeStatus');
  }

  writeHeader(): RawResponse {
    return this.#called('writeHeader');
  }

  end(body?: string | Uint8Array, closeConnection = false): RawResponse {
    this.body = body;
    this.closedWithAnswer = closeConnection;
    return this.#called('end');
  }

  tryEnd(body: string | Uint8Array): [boolean, boolean] {
    this.body = body;
    this.#called('tryEnd');
    return [this.takes, this.takes];
  }

  getWriteOffset(): number {
    return 0;
  }

  endWithoutBody(): RawResponse {
    return this.#called('endWithoutBody');
  }

  cork(write: () => void): RawResponse {
    this.#called('cork');
    write();
    return this;
  }

  close(): RawResponse {
    this.#called('close');
    this.#aborted();
    return this;
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return new TextEncoder().encode('127.0.0.1').buffer as ArrayBuffer;
  }

  write(part: Uint8Array): boolean {
    this.body = part;
    this.#called('write');
    return true;
  }

  onWritable(): RawResponse {
    return this.#called('onWritable');
  }

  pause(): void {
    this.#called('pause');
  }

  resume(): void {
    this.#called('resume');
  }

  onAborted(handler: () => void): RawResponse {
    this.#aborted = handler;
    return this.#called('onAborted');
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): RawResponse {
    this.#data = handler;
    return this.#called('onData');
  }

  #called(name: string): RawResponse {
    this.calls.push(name);
    return this;
  }
}

export class FakeStreamResponse extends FakeResponse {
  /** What `write` answers. */
  taking = true;
  ended = false;
  readonly #parts: Buffer[] = [];
  #writable: () => boolean = () => true;

  /** Everything written so far. */
  sent(): string {
    return Buffer.concat(this.#parts).toString();
  }

  /** The client has caught up, or seems to. */
  writable(): void {
    this.#writable();
  }

  override write(part: Uint8Array): boolean {
    this.#parts.push(Buffer.from(part));
    super.write(part);
    return this.taking;
  }

  override end(body?: string | Uint8Array, closeConnection = false): RawResponse {
    this.ended = true;
    return super.end(body, closeConnection);
  }

  override tryEnd(body: string | Uint8Array): [boolean, boolean] {
    this.ended = true;
    return super.tryEnd(body);
  }

  override onWritable(handler?: (offset: number) => boolean): RawResponse {
    if (handler !== undefined) this.#writable = () => handler(0);
    return super.onWritable();
  }
}
