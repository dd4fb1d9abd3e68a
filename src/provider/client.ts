/**
 * Calls the provider over HTTPS, with a pool of kept connections to the one configured address.
 * Only the fields named here are passed on, in either direction. A call that may have reached the
 * provider is repeated only if it merely reads: an order made twice is worse than an error.
 */
import { performance } from 'node:perf_hooks';
import { type Dispatcher, Pool } from 'undici';
import { joined } from '../base/growing-bytes.js';
import { messageOf } from '../log.js';
import { guardedConnect } from './connect.js';
import { CONNECT_MS_MAX, type GuardOptions } from './guard.js';
import {
  fault,
  type Provider,
  type ProviderCall,
  type ProviderFault,
  type ProviderOutcome,
} from './provider.js';

/** Longest answer: twice the limit for carts, which come back with a tax on each line. */
export const RESPONSE_BYTES_MAX = 16_777_216;

const CONTENT_TYPE_CHARS_MAX = 200;
const LOCATION_CHARS_MAX = 2_048;

/** Values that are passed on: plain text, which cannot begin another field. */
const RELAYED_TEXT = /^[\x20-\x7e]+$/;

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const GARBAGE_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_NOT_SUPPORTED',
]);

/** The fields that are passed on; the first of each name counts. */
interface RelayedFields {
  contentType: string | null;
  location: string | null;
  encoded: boolean;
}

function relayable(value: string, charsMax: number): string | null {
  return value.length <= charsMax && RELAYED_TEXT.test(value) ? value : null;
}

function readFields(raw: readonly Buffer[]): RelayedFields {
  const fields: RelayedFields = { contentType: null, location: null, encoded: false };
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]!.toString('latin1').toLowerCase();
    const value = raw[index + 1]!.toString('latin1').trim();
    if (name === 'content-type') fields.contentType ??= relayable(value, CONTENT_TYPE_CHARS_MAX);
    else if (name === 'location') fields.location ??= relayable(value, LOCATION_CHARS_MAX);
    else if (name === 'content-encoding') fields.encoded = value.toLowerCase() !== 'identity';
  }
  return fields;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function faultOf(code: string): ProviderFault {
  if (TIMEOUT_CODES.has(code)) return fault('timeout', code);
  if (GARBAGE_CODES.has(code) || code.startsWith('HPE_')) return fault('garbage', code);
  return fault('unreachable', code);
}

/** Errors that another attempt would meet again: those of the guard and of certificates. */
const LASTING = /^(?:SITUS_|ERR_TLS_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|UND_ERR_DESTROYED)/;

class Transfer implements Dispatcher.DispatchHandlers {
  readonly outcome: Promise<ProviderOutcome>;
  /** Whether the call was handed to a connection, so that the provider may know of it. */
  sent = false;
  /** Whether it failed in a way that another attempt may not. */
  repeatable = false;
  #settle: (outcome: ProviderOutcome) => void = () => undefined;
  #abort: ((error?: Error) => void) | null = null;
  #settled = false;
  #status = 0;
  #fields: RelayedFields = { contentType: null, location: null, encoded: false };
  #received = 0;
  readonly #chunks: Buffer[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #gone = (): void => this.#give(fault('gone', 'aborted'));

  /** Ends by itself after `timeoutMs` milliseconds, or when `signal` says that nobody waits. */
  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#timer = setTimeout(() => this.#give(fault('timeout', 'total')), timeoutMs);
    this.#signal = signal;
    signal?.addEventListener('abort', this.#gone);
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#settled) abort();
    else this.sent = true;
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    if (status < 200) return true;
    this.#status = status;
    this.#fields = readFields(headers);
    if (this.#fields.encoded) this.#give(fault('garbage', 'content-encoding'));
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#received += chunk.byteLength;
    if (this.#received > RESPONSE_BYTES_MAX) {
      this.#give(fault('too-large', 'body'));
      return true;
    }
    this.#chunks.push(chunk);
    // Never paused: if the server closed a paused connection, an assertion of undici would end this
    // process. The longest answer limits how much is kept.
    return true;
  }

  onComplete(): void {
    // The whole answer has arrived, so the time limit ends before its parts are joined.
    clearTimeout(this.#timer);
    this.#abort = null;
    joined(this.#chunks).then(
      ({ bytes, isUtf8 }) => {
        const { contentType, location } = this.#fields;
        const status = this.#status;
        this.#give({ kind: 'answer', status, contentType, location, body: bytes, isUtf8 });
      },
      (error: unknown) => this.#give(fault('garbage', messageOf(error))),
    );
  }

  onUpgrade(): void {
    this.#give(fault('garbage', 'upgrade'));
  }

  onError(error: Error): void {
    const code = codeOf(error);
    this.#abort = null;
    this.repeatable = this.#status === 0 && !LASTING.test(code);
    this.#give(faultOf(code));
  }

  /** Settles the outcome, and cuts the connection if more is still to come. */
  #give(outcome: ProviderOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#gone);
    this.#chunks.length = 0;
    this.#settle(outcome.kind === 'answer' ? outcome : { ...outcome, sent: this.sent });
    this.#abort?.();
  }
}

/** How many connections to the provider are kept. */
const CONNECTIONS_MAX = 64;

/** How many calls may be under way or wait for a connection. */
export const CALLS_MAX = 512;

/** Longest pause within an answer. */
const BODY_GAP_MS_MAX = 10_000;

/**
 * An idle connection is closed after this time, or a second before the provider closes it, if it
 * says when. The time is short, because a call on a connection that is just being closed fails, and
 * may not be repeated.
 */
const IDLE_MS_MAX = 4_000;

const IDLE_HINT_MS_MAX = 60_000;
const HEAD_BYTES_MAX = 16_384;

/** Matches a valid value of a header field. */
const FIELD_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Matches encoded path segments and a query; "." and ".." would leave the provider's folder. */
const CALL_PATH = /^(?:\/(?!\.{1,2}(?:[/?]|$))[\w.~!'()*%-]+)+(?:\?[\w.~!'()*%=&+-]*)?$/;

export interface ClientOptions extends GuardOptions {
  /** The provider's address; its path precedes that of each call. */
  readonly url: URL;
  /** Longest time from a call to the end of its answer, in milliseconds. */
  readonly timeoutMs: number;
}

function headersOf({ apiKey, body }: ProviderCall): Record<string, string> {
  return {
    'x-api-key': apiKey,
    accept: 'application/json',
    // Bodies are passed on byte for byte, so they may not be compressed for this service only.
    'accept-encoding': 'identity',
    ...(body === null ? {} : { 'content-type': 'application/json' }),
  };
}

/** A call may be repeated if it cannot have changed anything. */
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
    // undici also reports calls that it rejects to the handler.
    this.#pool.dispatch(
      { method, path: this.#prefix + path, body, headers: headersOf(call) },
      transfer,
    );
    return transfer.outcome;
  }
}
