/** What whoever carries out a request under an Idempotency-Key is handed, and what became of it. */
import { StoreFault } from './fault.js';
import type { KeptAnswer } from './idempotency-record.js';
import type { StoreTransaction } from './store.js';

/*
 * What is said of an Idempotency-Key, and what whoever carries its request out is handed.
 */

/** A request that is being carried out under its key. End it once, whatever became of it. */
export interface Claim {
  /**
   * Keeps the answer, inside the transaction of the write.
   * @throws KeyTaken when another server was faster.
   */
  keep(transaction: StoreTransaction, answer: KeptAnswer): void;
  /**
   * Writes down that the request is about to be sent elsewhere. Resolves once that is on the disk,
   * and room for the answer with it.
   * @throws StoreFault when it cannot be, KeyTaken when another server was faster; nothing may be
   *   sent then.
   */
  begin(): Promise<void>;
  /**
   * Tells what became of what was begun: its answer, or null when it certainly changed nothing.
   * Not called when nobody knows. Never throws: what cannot be stored is remembered, tried again.
   */
  settle(answer: KeptAnswer | null): Promise<void>;
  end(): void;
}

export type Claimed =
  | { readonly kind: 'fresh'; readonly claim: Claim }
  | { readonly kind: 'kept'; readonly answer: KeptAnswer }
  /** The same key is under way. */
  | { readonly kind: 'running' }
  /** It was sent elsewhere, and nobody knows what became of it. */
  | { readonly kind: 'unknown' }
  /** The key belongs to another request. */
  | { readonly kind: 'other' };

/**
 * Thrown inside a transaction, which it undoes: another server has had a request of the same key
 * meanwhile, and this is what is to be said of it.
 */
export class KeyTaken extends Error {
  override readonly name = 'KeyTaken';
  readonly claimed: Exclude<Claimed, { readonly kind: 'fresh' }>;

  constructor(claimed: Exclude<Claimed, { readonly kind: 'fresh' }>) {
    super('the Idempotency-Key was used meanwhile');
    this.claimed = claimed;
  }
}

/** What a key stands for. */
export interface Intent {
  readonly account: string;
  /** The Idempotency-Key as sent. */
  readonly key: string;
  readonly path: string;
  readonly body: Uint8Array;
}

/*
 * What became of requests that were sent elsewhere, where the store could not take it: remembered
 * while the process lives, and tried again. What there is no room for stays what the store says of
 * it: a request of which nobody knows what became.
 */

/** Outcomes remembered. */
const UNSTORED_MAX = 1_000;
/** Bytes of their answers. */
const UNSTORED_BYTES_MAX = 33_554_432;
/** How often storing them is tried again. */
const RETRY_MS = 5_000;

export interface UnstoredOutcome {
  readonly fingerprint: string;
  /** Null when nothing was changed. */
  readonly answer: KeptAnswer | null;
  /** Tries to store it. */
  store(): Promise<void>;
}

export class UnstoredOutcomes {
  readonly #failed: (error: unknown) => void;
  readonly #retryMs: number;
  readonly #byName = new Map<string, UnstoredOutcome>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #trying: Promise<void> | null = null;

  /** @param failed is told when storing failed again */
  constructor(failed: (error: unknown) => void, retryMs = RETRY_MS) {
    this.#failed = failed;
    this.#retryMs = retryMs;
  }

  find(name: string): UnstoredOutcome | null {
    return this.#byName.get(name) ?? null;
  }

  add(name: string, outcome: UnstoredOutcome): void {
    this.forget(name);
    const bytes = bytesOf(outcome);
    if (this.#byName.size >= UNSTORED_MAX || this.#bytes + bytes > UNSTORED_BYTES_MAX) return;
    this.#byName.set(name, outcome);
    this.#bytes += bytes;
    this.#timer ??= setInterval(() => void this.#try(), this.#retryMs).unref();
  }

  forget(name: string): void {
    const outcome = this.#byName.get(name);
    if (outcome === undefined) return;
    this.#byName.delete(name);
    this.#bytes -= bytesOf(outcome);
  }

  /** Tries once more, and stops. */
  async close(): Promise<void> {
    await this.#try();
    this.#stop();
  }

  #try(): Promise<void> {
    this.#trying ??= this.#storeAll().finally(() => {
      this.#trying = null;
    });
    return this.#trying;
  }

  /**
   * One after the other. Where the store takes nothing, the others are left for the next time; one
   * that fails for a reason of its own holds up none of them.
   */
  async #storeAll(): Promise<void> {
    const told = new Set<string>();
    for (const [name, outcome] of [...this.#byName]) {
      // It may have been used anew meanwhile.
      if (this.#byName.get(name) !== outcome) continue;
      try {
        await outcome.store();
        if (this.#byName.get(name) === outcome) this.forget(name);
      } catch (error) {
        // What fails alike is told once a round.
        if (!told.has(String(error))) this.#failed(error);
        told.add(String(error));
        if (error instanceof StoreFault) return;
      }
    }
    if (this.#byName.size === 0) this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

function bytesOf({ answer }: UnstoredOutcome): number {
  return answer === null ? 0 : Buffer.byteLength(answer.body);
}
