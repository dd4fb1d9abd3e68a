/** What is said of an Idempotency-Key, and what whoever carries its request out is handed. */
import type { KeptAnswer } from './idempotency-record.js';
import type { StoreTransaction } from './store.js';

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
