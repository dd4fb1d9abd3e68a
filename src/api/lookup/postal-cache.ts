/**
 * Whole answers to plain postal lookups. There are some forty thousand ZIPs, so what was asked
 * once is likely asked again, and the answer changes with the dataset and the date alone.
 */
import type { Answer } from '../../pool/types.js';
import type { Format } from '../../wire/version.js';

/** Dates change on quarters of an hour, in whatever zone. */
const SLOT_MS = 15 * 60 * 1000;
const OVERHEAD_BYTES = 400;

export class PostalCache {
  readonly #bytesMax: number;
  #young = new Map<number, Answer>();
  #old = new Map<number, Answer>();
  #youngBytes = 0;
  #dataset = '';
  #slot = -1;

  /** `bytesMax` bounds both generations together. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax / 2;
  }

  /** A ZIP, version and format as one number. */
  key(zip: number, version: number, format: Format): number {
    return (zip * 128 + version) * 2 + (format === 'xml' ? 1 : 0);
  }

  get(dataset: string, nowMs: number, key: number): Answer | null {
    const slot = Math.floor(nowMs / SLOT_MS);
    if (dataset !== this.#dataset || slot !== this.#slot) {
      this.#dataset = dataset;
      this.#slot = slot;
      this.#young = new Map();
      this.#old = new Map();
      this.#youngBytes = 0;
      return null;
    }
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old === undefined) return null;
    this.set(key, old);
    return old;
  }

  /** Keeps an answer; its parts become one piece. To be called after a `get` that found none. */
  set(key: number, answer: Answer): Answer {
    const parts = answer.body.map(
      (part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : part),
    );
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const whole = { ...answer, body: [bytes] };
    const weight = bytes.length + OVERHEAD_BYTES;
    if (this.#youngBytes + weight > this.#bytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(key, whole);
    this.#youngBytes += weight;
    return whole;
  }
}
