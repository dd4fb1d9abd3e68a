/**
 * Clients that go on with their connection. A connection is not read while its answer is made
 * (`Exchange.hold`), which costs a sixth of the front end's time for a lookup. What may be asked
 * again does without on the native server where it says `Connection: keep-alive`: whoever says so
 * does not end its half behind the request. Should such a client all the same, or send its next
 * request early, the native server cuts the connection, and the client has to ask again, as with
 * any connection that is used again (RFC 9112, 9.3.1 and 9.3.2). That a client has gone looks the
 * same; either way the connections of its key are held again for a while. Where thousands of
 * requests come under one key, clients that go are seen every minute and one that does not wait is
 * not: there it is tried again soon, and if that was too soon, later and later.
 *
 * What may be asked again: a GET, a POST that writes nothing, a write under an Idempotency-Key. A
 * write without one is held: its client could not know whether it was carried out.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import { FIELDS } from './body-framing.js';
import type { RawRequest } from './transport.js';

/** How long connections of a key are held at most after one was cut while it was read on. */
export const WARY_MS = 60_000;

/** Of a busy key they are held so long, after so many requests; so many times longer each time. */
export const BUSY_WARY_MS = 2_000;
export const BUSY_REQUESTS = 4_096;
const LONGER = 5;

/**
 * Requests with longer bodies are held: the calls of the system are little of what they take, and
 * what is made of a body needs its memory after a client that is seen to go has given it back.
 */
export const STAYING_BODY_BYTES_MAX = 16_384;

const KEEP_ALIVE = 'keep-alive';

/** Keys that are remembered; whoever asks names any, held or not. */
const KEYS_MAX = 4_096;

/** How long connections are held after a cut: asked at each request, it counts them. */
class Hold {
  /** At the latest; later on, when it ended. */
  #until: number;
  readonly #busyUntil: number;
  readonly #busyMs: number;
  #requests = 0;

  constructor(now: number, busyMs: number) {
    this.#until = now + WARY_MS;
    this.#busyUntil = now + busyMs;
    this.#busyMs = busyMs;
  }

  holds(now: number): boolean {
    if (now >= this.#until) return false;
    this.#requests += 1;
    if (this.#requests < BUSY_REQUESTS || now < this.#busyUntil) return true;
    this.#until = now;
    return false;
  }

  /** What holds after a further cut: the same, while it does; a longer one, soon after its end. */
  cutAgain(now: number): Hold {
    if (now < this.#until) return this;
    const isSoon = now - this.#until < BUSY_WARY_MS;
    return new Hold(now, isSoon ? this.#busyMs * LONGER : BUSY_WARY_MS);
  }
}

function holdAfterCut(before: Hold | undefined, now: number): Hold {
  return before?.cutAgain(now) ?? new Hold(now, BUSY_WARY_MS);
}

export class Staying {
  readonly #now: () => number;
  /** Why connections of a key are held, by the beginning of the key. */
  readonly #holds = new LRUCache<string, Hold>({ max: KEYS_MAX });
  /** Why those are whose key is not known yet: any was cut. None once all of it is long over. */
  #any: Hold | undefined;
  #over = 0;

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

  /**
   * Whether none with this key was cut of late; of any, where the key is not known yet. To be asked
   * once a request.
   */
  trusts(keyPrefix: string): boolean {
    if (this.#any === undefined) return true;
    const now = this.#now();
    const hold = keyPrefix === '' ? this.#any : this.#holds.get(keyPrefix);
    // Then nothing holds any more, and no cut comes soon after what did.
    if (now >= this.#over) this.#any = undefined;
    return hold === undefined || !hold.holds(now);
  }

  /** A connection ended before its answer while it was read on. */
  cut(keyPrefix: string): void {
    const now = this.#now();
    this.#over = now + WARY_MS + BUSY_WARY_MS;
    this.#any = holdAfterCut(this.#any, now);
    this.#holds.set(keyPrefix, holdAfterCut(this.#holds.get(keyPrefix), now));
  }
}
