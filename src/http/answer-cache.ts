/**
 * Whole answers to lookups that are asked again and again: every plain ZIP, the address of a cart
 * that is edited, a monitor's probe. They are sent without a worker. An answer depends on the
 * release, the version, the entitlements, the query and the calendar day alone, so it is kept under
 * all of these, and for a quarter of an hour at most: days begin at quarters, in whatever zone.
 */

/** An answer of status 200. */
export interface KeptAnswer {
  readonly precision: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

const SLOT_MS = 15 * 60 * 1000;
/** Queries whose last asking is remembered; a power of two. */
const ASKED_MAX = 65_536;
const SLAB_BYTES = 1_048_576;
/** Longer answers are not kept; the usual ones have less than 2 KiB. */
export const KEPT_BODY_BYTES_MAX = 65_536;
/** Key, map entry and view of an answer, about, besides the characters of the query. */
const OVERHEAD_BYTES = 300;

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

/** What was kept since the generation began; bodies lie together in slabs. */
class Generation {
  readonly #kinds: (Map<string, KeptAnswer> | undefined)[] = [];
  #slab = Buffer.alloc(0);
  #used = 0;
  bytes = 0;

  get(kind: number, query: string): KeptAnswer | undefined {
    return this.#kinds[kind]?.get(query);
  }

  add(kind: number, query: string, { precision, flags, body }: KeptAnswer): void {
    const answers = (this.#kinds[kind] ??= new Map());
    if (answers.has(query)) return;
    answers.set(query, { precision, flags, body: this.#copy(body) });
    this.bytes += body.length + query.length + OVERHEAD_BYTES;
  }

  #copy(body: Uint8Array): Uint8Array {
    if (this.#used + body.length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += body.length;
    this.#slab.set(body, start);
    return this.#slab.subarray(start, this.#used);
  }
}

/**
 * Two generations: when the young one has half of the limit it becomes the old one, and the old one
 * goes. Answers are kept from their second asking on, so that addresses asked once leave the rest
 * alone.
 */
export class AnswerCache {
  readonly #generationBytesMax: number;
  readonly #asked = new Int32Array(ASKED_MAX);
  #young = new Generation();
  #old = new Generation();
  #release = '';
  #slot = -1;

  /** `bytesMax` bounds both generations together; 0 keeps nothing. */
  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2;
  }

  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  /**
   * The time that answers given now belong to; to be named when they are kept. What belongs to
   * another release or time is forgotten. `nowMs` is milliseconds since 1970 UTC.
   */
  time(release: string, nowMs: number): number {
    const slot = Math.floor(nowMs / SLOT_MS);
    if (slot !== this.#slot || release !== this.#release) {
      this.#slot = slot;
      this.#release = release;
      this.#young = new Generation();
      this.#old = new Generation();
    }
    return slot;
  }

  /** The answer kept; `kind` is a small number for version and entitlements. */
  get(kind: number, query: string): KeptAnswer | null {
    const young = this.#young.get(kind, query);
    if (young !== undefined) return young;
    const old = this.#old.get(kind, query);
    if (old === undefined) return null;
    this.#add(kind, query, old);
    return old;
  }

  /** Whether a query was asked before, as far as is remembered; it is from now on. */
  wasAsked(kind: number, query: string): boolean {
    const hash = hashOf(kind, query);
    const slot = (hash >>> 1) & (ASKED_MAX - 1);
    if (this.#asked[slot] === hash) return true;
    this.#asked[slot] = hash;
    return false;
  }

  /** Keeps an answer of a release, asked for at `time`, unless its time is over by `nowMs`. */
  keep(
    release: string, time: number, nowMs: number, kind: number, query: string, answer: KeptAnswer,
  ): void {
    if (release !== this.#release || time !== this.time(release, nowMs)) return;
    if (answer.body.length <= KEPT_BODY_BYTES_MAX) this.#add(kind, query, answer);
  }

  #add(kind: number, query: string, answer: KeptAnswer): void {
    const weight = answer.body.length + query.length + OVERHEAD_BYTES;
    if (weight > this.#generationBytesMax) return;
    if (this.#young.bytes + weight > this.#generationBytesMax) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.add(kind, query, answer);
  }
}
