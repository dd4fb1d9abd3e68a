/**
 * Decides which connections are read on while an answer is made. Not reading them (`Exchange.hold`)
 * costs a sixth of the front end's time for a lookup. On the native server, requests that may be
 * repeated do without it if they say `Connection: keep-alive`: a client that says so does not end
 * its half after the request. If it does so all the same, or sends its next request early, the
 * native server cuts the connection, and the client has to repeat the request, as on any connection
 * that is used again (RFC 9112, 9.3.1 and 9.3.2). A client that simply leaves looks the same. After
 * either, connections of the same key are held for a while. Among thousands of requests of one key
 * some client leaves every minute, which says little about the others; so for a busy key the time
 * is short, and grows if another cut follows soon.
 *
 * Requests that may be repeated are a GET, a POST that writes nothing, and a write with an
 * Idempotency-Key. The connection of a write without one is held, because its client could not know
 * whether it was carried out.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
import { FIELDS } from './body-framing.js';
import type { RawRequest } from './transport.js';

/** How long connections of a key are held at most after one was cut while it was read on. */
export const WARY_MS = 60_000;

/**
 * For a busy key, with this many requests since the cut, connections are held only this long, but
 * LONGER times as long after each further cut that follows soon.
 */
export const BUSY_WARY_MS = 2_000;
export const BUSY_REQUESTS = 4_096;
const LONGER = 5;

/**
 * Connections of requests with longer bodies are held: system calls are a small part of their cost.
 * Besides, on a connection that is read on, the room of a body is given back as soon as the client
 * leaves, while its memory is still in use.
 */
export const STAYING_BODY_BYTES_MAX = 16_384;

const KEEP_ALIVE = 'keep-alive';

/** How many keys are remembered; they need not exist, since any client can state one. */
const KEYS_MAX = 4_096;

/** How long connections are held after a cut. It is asked for each request, and counts them. */
class Hold {
  /** When the hold ends at the latest; after an early end, when that was. */
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

  /** The hold after a further cut: the same one while it lasts; a longer one soon after its end. */
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
  /** The holds of keys, by the first characters of the key. */
  readonly #holds = new LRUCache<string, Hold>({ max: KEYS_MAX });
  /** The hold for requests whose key is not known yet, after a cut of any; undefined long after. */
  #any: Hold | undefined;
  #over = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Whether the connection of a request with this key may be read on; call it within the handler.
   */
  stays(request: Pick<RawRequest, 'getHeader'>, keyPrefix: string): boolean {
    return this.says(request) && this.trusts(keyPrefix);
  }

  /** Whether a client says that it keeps its connection; call it within the handler. */
  says(request: Pick<RawRequest, 'getHeader'>): boolean {
    const said = request.getHeader(FIELDS.connection);
    if (said.length !== KEEP_ALIVE.length) return false;
    return said === KEEP_ALIVE || said.toLowerCase() === KEEP_ALIVE;
  }

  /**
   * Whether no connection of this key was cut lately, or none at all where the key is not known
   * yet. Call it once for each request.
   */
  trusts(keyPrefix: string): boolean {
    if (this.#any === undefined) return true;
    const now = this.#now();
    const hold = keyPrefix === '' ? this.#any : this.#holds.get(keyPrefix);
    // By then no hold lasts any more, and no cut would count as soon after one.
    if (now >= this.#over) this.#any = undefined;
    return hold === undefined || !hold.holds(now);
  }

  /** Notes that a connection ended before its answer while it was read on. */
  cut(keyPrefix: string): void {
    const now = this.#now();
    this.#over = now + WARY_MS + BUSY_WARY_MS;
    this.#any = holdAfterCut(this.#any, now);
    this.#holds.set(keyPrefix, holdAfterCut(this.#holds.get(keyPrefix), now));
  }
}
