/** The streams of a server: those with a connection, and those that may be resumed. */
import { randomBytes } from 'node:crypto';
import type { KeyRecord } from '../../store/format.js';
import {
  type KeptStream,
  type SessionServices,
  STREAMS_MAX,
  STREAMS_PER_ACCOUNT_MAX,
  WATCH_MS,
} from './session-options.js';
import { StreamSession } from './session.js';

const NAME_BYTES = 12;
/** Long enough that it cannot be guessed. */
const TOKEN_BYTES = 32;

/** Times that the operator sets. */
export interface StreamTimes {
  /** How long a client may neither send nor take anything. */
  readonly idleMs: number;
  /** How long a stream without a connection may be resumed. */
  readonly resumeMs: number;
}

interface SessionsOptions extends SessionServices, StreamTimes {
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

interface Entry {
  readonly session: StreamSession;
  /** Since when the stream has had no connection; null while it has one. */
  detachedAt: number | null;
}

export class Sessions {
  readonly options: SessionsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: SessionsOptions) {
    this.options = options;
    this.#timer = setInterval(() => this.watch(options.clock()), WATCH_MS).unref();
  }

  /** How many streams there are, with or without a connection. */
  get open(): number {
    return this.#entries.size;
  }

  /**
   * The limit that leaves an account no further stream; null when there is room. To make room,
   * streams of the account without a connection are forgotten, and any that have ended.
   */
  full(account: string): { readonly limit: number; readonly own: boolean } | null {
    const own = [...this.#entries].filter(([, { session }]) => session.options.account === account);
    if (own.length >= STREAMS_PER_ACCOUNT_MAX && !this.#giveWay(own)) {
      return { limit: STREAMS_PER_ACCOUNT_MAX, own: true };
    }
    if (this.#entries.size < STREAMS_MAX) return null;
    const over = [...this.#entries].filter(([, { session }]) => session.over);
    if (this.#giveWay(over) || this.#giveWay(own)) return null;
    return { limit: STREAMS_MAX, own: false };
  }

  /**
   * Opens a stream of a key. `key` returns the key as it is at a later time. A `kept` release is
   * unpinned when the stream ends.
   */
  enter(
    { id, account }: KeyRecord,
    key: () => KeyRecord | null,
    kept: KeptStream | null = null,
  ): StreamSession {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const name = `stream_${randomBytes(NAME_BYTES).toString('hex')}`;
    const session = new StreamSession({ name, token, keyId: id, account, key, kept }, this.options);
    this.#entries.set(token, { session, detachedAt: null });
    return session;
  }

  /** The stream of a token; null where there is none that the key may resume. */
  find(token: string, keyId: string): StreamSession | null {
    const session = this.#entries.get(token)?.session ?? null;
    return session?.options.keyId === keyId ? session : null;
  }

  /** Checks the time limits of all streams, and forgets those without a connection for too long. */
  watch(now: number): void {
    for (const [token, entry] of this.#entries) {
      const { session } = entry;
      session.watch(now);
      if (session.attached) entry.detachedAt = null;
      else if (now - (entry.detachedAt ??= now) >= this.options.resumeMs) {
        session.forget();
        this.#entries.delete(token);
      }
    }
  }

  /** Ends every stream, each with its trailer. */
  stop(): void {
    for (const { session } of this.#entries.values()) {
      session.stop('stopping', 'The service is stopping.');
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { session } of this.#entries.values()) session.forget();
    this.#entries.clear();
  }

  /** Forgets the first of these streams that has no connection; returns whether there is one. */
  #giveWay(entries: readonly (readonly [string, Entry])[]): boolean {
    const found = entries.find(([, { session }]) => !session.attached);
    if (found === undefined) return false;
    found[1].session.forget();
    this.#entries.delete(found[0]);
    return true;
  }
}
