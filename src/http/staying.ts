/**
 * Clients that go on with their connection. A connection is not read while its answer is made
 * (`Exchange.hold`), which costs a sixth of the front end's time for a lookup. What may be asked
 * again does without on the native server where it says `Connection: keep-alive`: whoever says so
 * does not end its half behind the request. Should such a client all the same, or send its next
 * request early, the native server cuts the connection, and the client has to ask again, as with
 * any connection that is used again (RFC 9112, 9.3.1 and 9.3.2). That a client has gone looks the
 * same; either way the connections of its key are held again for a while.
 *
 * What may be asked again: a GET, a POST that writes nothing, a write under an Idempotency-Key. A
 * write without one is held: its client could not know whether it was carried out.
 */
import { performance } from 'node:perf_hooks';
import { RecentCache } from '../base/recent-cache.js';
import { FIELDS } from './body-framing.js';
import type { RawRequest } from './transport.js';

/** How long connections of a key are held after one was cut while it was read on. */
export const WARY_MS = 60_000;

/**
 * Requests with longer bodies are held: the calls of the system are little of what they take, and
 * what is made of a body needs its memory after a client that is seen to go has given it back.
 */
export const STAYING_BODY_BYTES_MAX = 16_384;

const KEEP_ALIVE = 'keep-alive';

/** Keys that are remembered; whoever asks names any, held or not. */
const KEYS_MAX = 4_096;

export class Staying {
  readonly #now: () => number;
  /** Until when connections of a key are held, by the beginning of the key. */
  readonly #wary = new RecentCache<string, number>(KEYS_MAX);
  /** Until when those of any are; 0 of none. */
  #until = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether a request with this key may be read on; asked while its handler runs. */
  stays(request: Pick<RawRequest, 'getHeader'>, keyPrefix: string): boolean {
    return this.says(request) && this.trusts(keyPrefix);
  }

  /** Whether a client says that it goes on; asked while its handler runs. */
  says(request: Pick<RawRequest, 'getHeader'>): boolean {
    const said = request.getHeader(FIELDS.connection);
    if (said.length !== KEEP_ALIVE.length) return false;
    return said === KEEP_ALIVE || said.toLowerCase() === KEEP_ALIVE;
  }

  /** Whether none with this key was cut of late; of any, where the key is not known yet. */
  trusts(keyPrefix: string): boolean {
    return this.#until === 0 || !this.#isWary(keyPrefix);
  }

  /** A connection ended before its answer while it was read on. */
  cut(keyPrefix: string): void {
    this.#until = this.#now() + WARY_MS;
    this.#wary.set(keyPrefix, this.#until);
  }

  #isWary(keyPrefix: string): boolean {
    const now = this.#now();
    if (now >= this.#until) this.#until = 0;
    const until = keyPrefix === '' ? this.#until : (this.#wary.get(keyPrefix) ?? 0);
    return now < until;
  }
}
