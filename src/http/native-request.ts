/** Requests of the native server, in the form that handlers see. */
import { NO_BYTES } from '../base/growing-bytes.js';
import { KEY_HEADER } from './api-key.js';
import type { Exchange } from './exchange.js';
import { FIELDS } from './body-framing.js';
import { addressOf, noteCaller } from './front.js';
import { IDEMPOTENCY_HEADER } from './idempotency-key.js';
import type { Handle, Request } from './reply.js';
import type { RawRequest } from './transport.js';

/** The client's address, while the native response may be used. */
function clientOf({ raw, front }: Exchange, forwarded: string): string {
  const address = addressOf(raw);
  return front === undefined ? address : front.clientOf(address, forwarded);
}

/** Notes whose request it is, and its query where that is logged. */
function identify(exchange: Exchange, keyPrefix: string, query: string, key: string): void {
  exchange.keyPrefix = keyPrefix;
  if (exchange.note !== null) noteCaller(exchange.note, keyPrefix, query, key);
}

/** A request whose header fields are read from the native request, while that may be used. */
export class LiveRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body = NO_BYTES;
  taken?: number;
  readonly exchange: Exchange;
  #raw: RawRequest | null;
  // The fields that are needed after the native request has ended.
  #keptKey: string | null = null;
  #forwarded = '';

  constructor(raw: RawRequest, exchange: Exchange, method: string, path: string) {
    this.#raw = raw;
    this.exchange = exchange;
    this.method = method;
    this.path = path;
    // The native server returns undefined where the URL has no question mark.
    this.query = raw.getQuery() ?? '';
  }

  header(name: string): string {
    if (this.#raw === null) {
      if (this.#keptKey !== null && name === KEY_HEADER) return this.#keptKey;
      throw new Error('headers are read while the handler runs');
    }
    return this.#raw.getHeader(name === KEY_HEADER ? FIELDS.key : name);
  }

  client(): string {
    return clientOf(this.exchange, this.#raw === null ? this.#forwarded : this.#forwardedNow());
  }

  identified(keyPrefix: string, query: string, key: string): void {
    identify(this.exchange, keyPrefix, query, key);
  }

  /**
   * Gives up the native request after copying what is needed of it, since the handler runs later.
   */
  keep(): this {
    if (this.#raw === null) return this;
    this.#keptKey = this.header(KEY_HEADER);
    this.#forwarded = this.#forwardedNow();
    this.#raw = null;
    return this;
  }

  /** Gives up the native request. */
  release(): void {
    this.#raw = null;
  }

  #forwardedNow(): string {
    return this.#raw === null ? '' : (this.exchange.front?.forwarded(this.#raw) ?? '');
  }
}

/** A request whose body arrives after the native request has ended. */
export class BodyRequest implements Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  taken?: number;
  /** The handler for the body, as chosen when the head was admitted. */
  handle: Handle | null = null;
  readonly exchange: Exchange;
  #body: Uint8Array | null = NO_BYTES;
  // Header fields that are kept until the body is complete.
  readonly #key: string;
  readonly #contentType: string;
  readonly #idempotencyKey: string;
  readonly #forwarded: string;

  constructor(raw: RawRequest, exchange: Exchange, method: string, path: string) {
    this.method = method;
    this.path = path;
    this.query = raw.getQuery() ?? '';
    this.#forwarded = exchange.front?.forwarded(raw) ?? '';
    this.#key = raw.getHeader(FIELDS.key);
    this.#contentType = raw.getHeader(FIELDS.contentType);
    this.#idempotencyKey = raw.getHeader(FIELDS.idempotencyKey);
    this.exchange = exchange;
  }

  /** @throws Error after it was released, so that nobody takes it for an empty body. */
  get body(): Uint8Array {
    if (this.#body === null) throw new Error('the body is taken before the handler returns');
    return this.#body;
  }

  /** Sets the body when it is complete. */
  took(body: Uint8Array): void {
    this.#body = body;
  }

  /** Releases the body after its handler has returned; the handler keeps what it still needs. */
  release(): void {
    this.#body = null;
  }

  header(name: string): string {
    switch (name) {
      case KEY_HEADER:
        return this.#key;
      case 'content-type':
        return this.#contentType;
      case IDEMPOTENCY_HEADER:
        return this.#idempotencyKey;
      default:
        throw new Error(`the field ${name} is not kept for the body`);
    }
  }

  client(): string {
    return clientOf(this.exchange, this.#forwarded);
  }

  identified(keyPrefix: string, query: string, key: string): void {
    identify(this.exchange, keyPrefix, query, key);
  }

  onClosed(closed: () => void): void {
    this.exchange.watch();
    this.exchange.onClosed(closed);
  }
}
