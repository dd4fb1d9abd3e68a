/**
 * A native request whose fields were read in one pass. All of them must be seen to judge the
 * framing of the body. The fields that are needed of every request are kept from the same pass,
 * since each call to the native server costs more than a field in the pass.
 */
import { FIELDS, framingBy, type Framing } from './body-framing.js';
import type { RawRequest } from './transport.js';

/** The request whose fields are being read. */
let into: GatheredRequest;

function gather(name: string, value: string): void {
  into.take(name, value);
}

export class GatheredRequest implements RawRequest {
  readonly framing: Framing;
  readonly #raw: RawRequest;
  // The first field of each name, since that is the one the native server returns.
  #key: string | null = null;
  #connection: string | null = null;
  #contentType: string | null = null;
  #requestId: string | null = null;
  #idempotencyKey: string | null = null;
  #length: string | null = null;
  #encoding: string | null = null;
  /** Whether several fields state a length, and the lengths differ. */
  #lengthsDiffer = false;
  #encodings = 0;

  constructor(raw: RawRequest) {
    this.#raw = raw;
    into = this;
    raw.forEach(gather);
    this.framing = framingBy(this.#length, this.#lengthsDiffer, this.#encoding, this.#encodings);
  }

  /** Takes one field. Its length is compared first, since that needs no reading of the text. */
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

/** The framing of a GET. All fields are read only where one of these two is present. */
export function framingOfGet(request: RawRequest): Framing {
  return request.getHeader(FIELDS.encoding) === '' && request.getHeader(FIELDS.contentLength) === ''
    ? 'plain'
    : new GatheredRequest(request).framing;
}
