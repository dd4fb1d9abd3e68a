/**
 * Whole answers to lookups that are asked again and again: every plain ZIP, the address of a cart
 * that is edited, a monitor's probe. They are sent without a worker. An answer depends on the
 * release, the version, the entitlements, the query and the calendar day alone, so it is kept under
 * all of these, and for a quarter of an hour at most: days begin at quarters, in whatever zone.
 */
import { dateSlot } from '../../tax/date.js';

/** An answer of status 200. */
export interface KeptAnswer {
  readonly precision: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

const SLAB_BYTES = 1_048_576;
/** Longer answers are not kept; the usual ones have less than 2 KiB. */
export const KEPT_BODY_BYTES_MAX = 65_536;
/** Queries longer than any that is answered are not kept either. */
export const KEPT_QUERY_CHARS_MAX = 1024;
/** Query, map entry and view of an answer, about. */
const OVERHEAD_BYTES = 400;

/** FNV-1a. */
const HASH_START = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

function hashOf(kind: number, query: string): number {
  let hash = HASH_START ^ kind;
  for (let at = 0; at < query.length; at += 1) {
    hash = Math.imul(hash ^ query.charCodeAt(at), HASH_PRIME);
  }
  return hash | 1;
}

/** Numbers that are remembered; a power of two. */
const ASKED_MAX = 65_536;
/**
 * Places that a number may be remembered at. With one, two that share it and are asked in turns
 * would never be known: of 2,000 every thirtieth.
 */
const PLACES = 4;

/**
 * The last numbers that were asked, as far as there is room, 0 being none: so that only what is
 * asked again takes memory for its answer.
 */
export class AskedBefore {
  readonly #asked = new Int32Array(ASKED_MAX);

  /** Whether a hash was met before, as far as is remembered; it is from now on. */
  met(hash: number): boolean {
    const asked = this.#asked;
    const first = (hash >>> 1) & (ASKED_MAX - PLACES);
    const last = first + PLACES - 1;
    for (let at = first; at <= last; at += 1) if (asked[at] === hash) return true;
    for (let at = last; at > first; at -= 1) asked[at] = asked[at - 1]!;
    asked[first] = hash;
    return false;
  }
}

interface Slab {
  readonly bytes: ArrayBuffer;
  used: number;
  /** What lies in it, in the order it came: kind and query in turns. */
  readonly kinds: number[];
  readonly queries: string[];
}

/** Answers of one version and set of entitlements, by query. */
interface KindAnswers {
  readonly kind: number;
  readonly answers: Map<string, KeptAnswer>;
}

/** An answer whose body it is itself: each object more is one more that lies in no cache. */
class KeptBytes extends Uint8Array implements KeptAnswer {
  // With the constructor of all arrays of bytes: what makes parts of them calls it.
  precision = 0;
  flags = 0;

  get body(): this {
    return this;
  }
}

/** Memory of a slab with so many answers. */
function weightOf({ bytes, queries }: Slab): number {
  return bytes.byteLength + queries.length * OVERHEAD_BYTES;
}

/**
 * Answers are kept from their second asking on, so that addresses asked once leave the rest alone.
 * Their bodies lie together in slabs; the oldest slab goes when there is no room for another one.
 */
export class AnswerCache {
  readonly #slabsWeightMax: number;
  readonly #asked = new AskedBefore();
  /** Few kinds, that are gone through for every request. */
  #kinds: KindAnswers[] = [];
  /** What `holds` found: the request that it was asked for asks for the answer next. */
  #found: KeptAnswer | null = null;
  #foundKind = 0;
  #foundQuery = '';
  #slabs: Slab[] = [];
  #weight = 0;
  #release = '';
  #slot = -1;

  /** `bytesMax` bounds the memory of bodies, queries and what holds them; 0 keeps nothing. */
  constructor(bytesMax: number) {
    this.#slabsWeightMax = bytesMax;
  }

  /** Whether there is no memory to keep anything in. */
  get isOff(): boolean {
    return this.#slabsWeightMax < SLAB_BYTES;
  }

  /** Questions that were answered from here, and those that were not, so far. */
  hits = 0;
  misses = 0;

  /** Memory in use, about. */
  get bytes(): number {
    return this.#weight;
  }

  /**
   * The time that answers given now belong to; to be named when they are kept. What belongs to
   * another release or time is forgotten. `nowMs` is milliseconds since 1970 UTC.
   */
  time(release: string, nowMs: number): number {
    const slot = dateSlot(nowMs);
    if (slot !== this.#slot || release !== this.#release) {
      this.#slot = slot;
      this.#release = release;
      this.#kinds = [];
      this.#found = null;
      this.#slabs = [];
      this.#weight = 0;
    }
    return slot;
  }

  /** The answer kept; `kind` is a small number for version and entitlements. */
  get(kind: number, query: string): KeptAnswer | null {
    const kept = this.#find(kind, query);
    if (kept === null) this.misses += 1;
    else this.hits += 1;
    return kept;
  }

  /** Whether an answer to a query is kept, of whatever kind. */
  holds(query: string): boolean {
    this.#found = null;
    for (const { kind, answers } of this.#kinds) {
      const kept = answers.get(query);
      if (kept === undefined) continue;
      this.#found = kept;
      this.#foundKind = kind;
      this.#foundQuery = query;
      return true;
    }
    return false;
  }

  /** Whether the query is the one that `holds` found last. */
  hasFound(query: string): boolean {
    return this.#found !== null && query === this.#foundQuery;
  }

  #find(kind: number, query: string): KeptAnswer | null {
    const found = this.#found;
    if (found !== null && kind === this.#foundKind && query === this.#foundQuery) return found;
    return this.#ofKind(kind)?.get(query) ?? null;
  }

  #ofKind(kind: number): Map<string, KeptAnswer> | undefined {
    for (const each of this.#kinds) if (each.kind === kind) return each.answers;
    return undefined;
  }

  /** Whether a query was asked before, as far as is remembered; it is from now on. */
  wasAsked(kind: number, query: string): boolean {
    return this.#asked.met(hashOf(kind, query));
  }

  /** Keeps an answer of a release, asked for at `time`, unless its time is over by `nowMs`. */
  keep(
    release: string,
    time: number,
    nowMs: number,
    kind: number,
    query: string,
    answer: KeptAnswer,
  ): void {
    if (release !== this.#release || time !== this.time(release, nowMs)) return;
    const { precision, flags, body } = answer;
    if (body.length > KEPT_BODY_BYTES_MAX || query.length > KEPT_QUERY_CHARS_MAX) return;
    const answers = this.#answersOf(kind);
    const slab = answers.has(query) ? null : this.#slabFor(body.length);
    if (slab === null) return;
    const start = slab.used;
    slab.used += body.length;
    slab.kinds.push(kind);
    slab.queries.push(query);
    this.#weight += OVERHEAD_BYTES;
    const kept = new KeptBytes(slab.bytes, start, body.length);
    kept.set(body);
    kept.precision = precision;
    kept.flags = flags;
    answers.set(query, kept);
    while (this.#weight > this.#slabsWeightMax) this.#dropOldest();
  }

  #answersOf(kind: number): Map<string, KeptAnswer> {
    let answers = this.#ofKind(kind);
    if (answers === undefined) {
      answers = new Map();
      this.#kinds.push({ kind, answers });
    }
    return answers;
  }

  /** The slab that has room for a body; null where there may be none. */
  #slabFor(length: number): Slab | null {
    const last = this.#slabs.at(-1);
    if (last !== undefined && last.used + length <= SLAB_BYTES) return last;
    if (SLAB_BYTES > this.#slabsWeightMax) return null;
    const slab: Slab = {
      bytes: new ArrayBuffer(SLAB_BYTES),
      used: 0,
      kinds: [],
      queries: [],
    };
    this.#slabs.push(slab);
    this.#weight += weightOf(slab);
    return slab;
  }

  #dropOldest(): void {
    const slab = this.#slabs.shift();
    if (slab === undefined) return;
    this.#weight -= weightOf(slab);
    this.#found = null;
    slab.queries.forEach((query, at) => this.#ofKind(slab.kinds[at]!)?.delete(query));
  }
}
