/**
 * Clients that go on with their connection. A connection is not read while its answer is made
 * (`Exchange.hold`), which costs a sixth of the front end's time for a lookup. A GET that says
 * `Connection: keep-alive` does without on the native server: whoever says so does not end its half
 * behind the request. Should such a client all the same, or send its next request early, the native
 * server cuts the connection, and the client has to ask again, as with any connection that is used
 * again (RFC 9112, 9.3.1 and 9.3.2). That a client has gone looks the same; either way the
 * connections of its key are held again for a while.
 */
import { performance } from 'node:perf_hooks';
import { RecentCache } from '../base/recent-cache.js';
import { fieldName } from './body-framing.js';
import type { RawRequest } from './transport.js';

/** How long connections of a key are held after one was cut while it was read on. */
export const WARY_MS = 60_000;

const CONNECTION = fieldName('connection');
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
    const said = request.getHeader(CONNECTION);
    if (said.length !== KEEP_ALIVE.length || said.toLowerCase() !== KEEP_ALIVE) return false;
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
    return now < (this.#wary.get(keyPrefix) ?? 0);
  }
}
