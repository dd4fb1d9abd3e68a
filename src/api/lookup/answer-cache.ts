/**
 * Keeps whole answers to lookups that are asked repeatedly: every plain ZIP, the address of a cart
 * that is edited, a monitor's probe. They are sent without asking a worker. An answer depends only
 * on the release, the version, the entitlements, the query and the calendar day, so all of these
 * are part of its key. It is kept for a quarter of an hour at most, since in every time zone a day
 * begins at a quarter of an hour.
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
/** Nor are answers to longer queries, which are more than any valid query has. */
export const KEPT_QUERY_CHARS_MAX = 1024;
/** Approximate memory of an answer's query, map entry and view. */
const OVERHEAD_BYTES = 400;

/** Constants of the FNV-1a hash. */
const HASH_START = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

function hashOf(kind: number, query: string): number {
  let hash = HASH_START ^ kind;
  for (let at = 0; at < query.length; at += 1) {
    hash = Math.imul(hash ^ query.charCodeAt(at), HASH_PRIME);
  }
  return hash | 1;
}

/** How many hashes are remembered; a power of two. */
const ASKED_MAX = 65_536;
/**
 * How many places may hold a hash. With only one, two hashes that share it and are asked
 * alternately would replace each other and never be recognized: among 2,000 queries, every
 * thirtieth.
 */
const PLACES = 4;

/**
 * Remembers the hashes of the latest queries as far as there is room (0 marks a free place), so
 * that only answers that are asked for again take memory.
 */
export class AskedBefore {
  readonly #asked = new Int32Array(ASKED_MAX);

  /** Whether a hash is remembered from an earlier call. Remembers it from now on. */
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
  /** Kinds and queries of the answers in the slab, in the order in which they were added. */
  readonly kinds: number[];
  readonly queries: string[];
}

/** Answers of one version and set of entitlements, by query. */
interface KindAnswers {
  readonly kind: number;
  readonly answers: Map<string, KeptAnswer>;
}

/**
 * An answer that is the array of its own body, which saves an object for each answer, and with it a
 * cache miss.
 */
class KeptBytes extends Uint8Array implements KeptAnswer {
  // Members with initial values, so that the constructor stays that of Uint8Array, which `subarray`
  // calls.
  precision = 0;
  flags = 0;

  get body(): this {
    return this;
  }
}

/** Memory of a slab with its answers. */
function weightOf({ bytes, queries }: Slab): number {
  return bytes.byteLength + queries.length * OVERHEAD_BYTES;
}

/**
 * Keeps an answer when its query is asked for the second time, so that addresses asked once do not
 * displace others. Bodies lie together in slabs; the oldest slab is dropped when there is no room
 * for another one.
 */
export class AnswerCache {
  readonly #slabsWeightMax: number;
  readonly #asked = new AskedBefore();
  /** An array, since there are few kinds, and each request goes through them. */
  #kinds: KindAnswers[] = [];
  /** The answer that `holds` found last: the same request asks for it next. */
  #found: KeptAnswer | null = null;
  #foundKind = 0;
  #foundQuery = '';
  #slabs: Slab[] = [];
  #weight = 0;
  #release = '';
  #slot = -1;

  /** `bytesMax` bounds the memory of bodies, queries and slabs; with 0 nothing is kept. */
  constructor(bytesMax: number) {
    this.#slabsWeightMax = bytesMax;
  }

  /** Whether the memory is too small to keep anything. */
  get isOff(): boolean {
    return this.#slabsWeightMax < SLAB_BYTES;
  }

  /** How many lookups were answered from the cache, and how many were not. */
  hits = 0;
  misses = 0;

  /** Approximate memory in use. */
  get bytes(): number {
    return this.#weight;
  }

  /**
   * The quarter of an hour that answers given now belong to, which `keep` asks for. Forgets all
   * answers of another release or quarter. `nowMs` is in milliseconds since 1970 UTC.
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

  /**
   * The kept answer, or null. `kind` is a small number that stands for version and entitlements.
   */
  get(kind: number, query: string): KeptAnswer | null {
    const kept = this.#find(kind, query);
    if (kept === null) this.misses += 1;
    else this.hits += 1;
    return kept;
  }

  /** Whether an answer to a query is kept for any kind. */
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

  /** Whether the query is remembered as asked before. Remembers it from now on. */
  wasAsked(kind: number, query: string): boolean {
    return this.#asked.met(hashOf(kind, query));
  }

  /**
   * Keeps an answer of a release to a query that was asked at `time`, unless that quarter of an
   * hour has passed by `nowMs`.
   */
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

  /** A slab with room for a body; null where the bound allows no slab. */
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
