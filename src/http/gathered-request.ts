/**
 * A native request whose fields were gone through once. How its body is framed needs a look at all
 * of them; what is asked of every request beside that is kept from the same look, since each
 * question to the native server costs more than a field that it tells.
 */
import { FIELDS, framingBy, type Framing } from './body-framing.js';
import type { RawRequest } from './transport.js';

/** The request under way. */
let into: GatheredRequest;

function gather(name: string, value: string): void {
  into.take(name, value);
}

export class GatheredRequest implements RawRequest {
  readonly framing: Framing;
  readonly #raw: RawRequest;
  // The first field of each name, as the native server has it.
  #key: string | null = null;
  #connection: string | null = null;
  #contentType: string | null = null;
  #requestId: string | null = null;
  #idempotencyKey: string | null = null;
  #length: string | null = null;
  #encoding: string | null = null;
  /** Whether several fields tell a length, and not the same one. */
  #lengthsDiffer = false;
  #encodings = 0;

  constructor(raw: RawRequest) {
    this.#raw = raw;
    into = this;
    raw.forEach(gather);
    this.framing = framingBy(this.#length, this.#lengthsDiffer, this.#encoding, this.#encodings);
  }

  /** One field of the request; told by length first, which is at hand. */
  take(name: string, value: string): void {
    switch (name.length) {
      case 9:
        if (name === 'x-api-key') this.#key ??= value;
        break;
      case 10:
        if (name === 'connection') this.#connection ??= value;
        break;
      case 12:
        if (name === 'content-type') this.#contentType ??= value;
        else if (name === 'x-request-id') this.#requestId ??= value;
        break;
      case 14:
        if (name !== 'content-length') break;
        if (this.#length !== null && this.#length !== value) this.#lengthsDiffer = true;
        this.#length ??= value;
        break;
      case 15:
        if (name === 'idempotency-key') this.#idempotencyKey ??= value;
        break;
      case 17:
        if (name !== 'transfer-encoding') break;
        this.#encodings += 1;
        this.#encoding ??= value;
        break;
      default:
    }
  }

  getHeader(name: string | ArrayBuffer): string {
    switch (name) {
      case FIELDS.key:
        return this.#key ?? '';
      case FIELDS.requestId:
        return this.#requestId ?? '';
      case FIELDS.idempotencyKey:
        return this.#idempotencyKey ?? '';
      case FIELDS.contentType:
        return this.#contentType ?? '';
      case FIELDS.contentLength:
        return this.#length ?? '';
      case FIELDS.connection:
        return this.#connection ?? '';
      default:
        return this.#raw.getHeader(name);
    }
  }

  getUrl(): string {
    return this.#raw.getUrl();
  }

  getCaseSensitiveMethod(): string {
    return this.#raw.getCaseSensitiveMethod();
  }

  getQuery(): string | undefined {
    return this.#raw.getQuery();
  }

  forEach(each: (name: string, value: string) => void): void {
    this.#raw.forEach(each);
  }
}

/** The framing of a GET; all its fields are looked at only where one of two says something. */
export function framingOfGet(request: RawRequest): Framing {
  return request.getHeader(FIELDS.encoding) === '' && request.getHeader(FIELDS.contentLength) === ''
    ? 'plain'
    : new GatheredRequest(request).framing;
}
