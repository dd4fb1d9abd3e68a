/** A native response that takes an answer in parts, or refuses to. */
import type { RawResponse } from '../../src/http/transport.js';
import { FakeResponse } from './http-fake-response.js';

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
