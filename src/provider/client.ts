/**
 * The port over HTTPS: a pool of kept connections to the one configured address. Nothing travels
 * but the fields named here, in either direction. A call that may have reached the provider is
 * never sent again unless it only reads: an order made twice is worse than an error.
 */
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { guardedConnect } from './connect.js';
import { CONNECT_MS_MAX, type GuardOptions } from './guard.js';
import { fault, type Provider, type ProviderCall, type ProviderOutcome } from './port.js';
import { Transfer } from './call-transfer.js';

/** Connections kept to the provider. */
const CONNECTIONS_MAX = 64;

/** Calls under way or waiting for a connection. */
export const CALLS_MAX = 512;

/** Longest pause within an answer. */
const BODY_GAP_MS_MAX = 10_000;

/**
 * An idle connection is closed after this, or a second before the provider said it would close it.
 * Short, because a call on a connection that is just being closed fails and may not be repeated.
 */
const IDLE_MS_MAX = 4_000;

const IDLE_HINT_MS_MAX = 60_000;
const HEAD_BYTES_MAX = 16_384;

/** What may be the value of a header field. */
const FIELD_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Path segments and a query, encoded; "." and ".." would leave the provider's folder. */
const CALL_PATH = /^(?:\/(?!\.{1,2}(?:[/?]|$))[\w.~!'()*%-]+)+(?:\?[\w.~!'()*%=&+-]*)?$/;

export interface ClientOptions extends GuardOptions {
  /** The provider's address; its path is put before that of each call. */
  readonly url: URL;
  /** Longest time from a call to its whole answer, in milliseconds. */
  readonly timeoutMs: number;
}

function headersOf({ apiKey, body }: ProviderCall): Record<string, string> {
  return {
    'x-api-key': apiKey,
    accept: 'application/json',
    // Bodies are relayed byte for byte, so they may not be packed for us alone.
    'accept-encoding': 'identity',
    ...(body === null ? {} : { 'content-type': 'application/json' }),
  };
}

/** A call may be sent again when it cannot have changed anything. */
function mayRepeat(call: ProviderCall, transfer: Transfer): boolean {
  return transfer.repeatable && (call.method === 'GET' || !transfer.sent);
}

export class ProviderClient implements Provider {
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  #calls = 0;

  constructor(options: ClientOptions) {
    const { url, timeoutMs } = options;
    const connectMs = Math.min(options.connectMs ?? CONNECT_MS_MAX, timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(url.origin, {
      connect: guardedConnect({ ...options, connectMs }),
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: Math.min(BODY_GAP_MS_MAX, timeoutMs),
      keepAliveTimeout: IDLE_MS_MAX,
      keepAliveMaxTimeout: IDLE_HINT_MS_MAX,
      maxHeaderSize: HEAD_BYTES_MAX,
    });
  }

  async send(call: ProviderCall, signal?: AbortSignal): Promise<ProviderOutcome> {
    if (signal?.aborted === true) return fault('gone', 'aborted', false);
    if (!FIELD_TEXT.test(call.apiKey)) return fault('unusable-credentials', 'key', false);
    if (!CALL_PATH.test(call.path)) return fault('unusable-credentials', 'path', false);
    if (this.#calls >= CALLS_MAX) return fault('busy', 'calls', false);
    this.#calls += 1;
    try {
      return await this.#send(call, signal);
    } finally {
      this.#calls -= 1;
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #send(call: ProviderCall, signal: AbortSignal | undefined): Promise<ProviderOutcome> {
    const until = performance.now() + this.#timeoutMs;
    const first = new Transfer(this.#timeoutMs, signal);
    const outcome = await this.#transfer(call, first);
    const left = until - performance.now();
    if (outcome.kind !== 'unreachable' || !mayRepeat(call, first) || left <= 0) return outcome;
    return this.#transfer(call, new Transfer(left, signal));
  }

  #transfer(call: ProviderCall, transfer: Transfer): Promise<ProviderOutcome> {
    const { method, path, body } = call;
    // undici reports what it does not take through the handler too.
    this.#pool.dispatch(
      { method, path: this.#prefix + path, body, headers: headersOf(call) }, transfer,
    );
    return transfer.outcome;
  }
}
