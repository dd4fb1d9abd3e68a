/** The records of kept answers; idempotency.ts lists them. */
import { isObject, type JsonObject } from '../base/json-object.js';
import { StoreFault } from './fault.js';
import { timeText, type StoreKey } from './format.js';
import {
  AS_IT_IS,
  damaged,
  number,
  optional,
  orNull,
  recordReader,
  since,
  text,
} from './record-reader.js';
import { parseSealed, type Sealed, type SealPlace } from './sealed.js';
import type { StoreTransaction } from './store.js';

export const KEPT_PREFIX = 'idempotency';
export const AGE_PREFIX = 'idempotency-age';

/** An answer that is kept to be given again. */
export interface KeptAnswer {
  readonly status: number;
  /** Header fields by name, including the content type. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Key of the record of a request. */
export function keptKey(account: string, hash: string): StoreKey {
  return [KEPT_PREFIX, account, hash];
}

/** Key of the age of that record. */
export function ageKey({
  at,
  account,
  hash,
}: Pick<AgeRecord, 'at' | 'account' | 'hash'>): StoreKey {
  return [AGE_PREFIX, timeText(at), account, hash];
}

const KIND = 'idempotency';

function answerOf({ status, fields, body }: JsonObject): KeptAnswer {
  if (
    typeof status !== 'number' ||
    typeof fields !== 'object' ||
    fields === null ||
    (typeof body !== 'string' && !(body instanceof Uint8Array))
  ) {
    throw damaged(KIND);
  }
  const texts = Object.entries(fields).map(([name, text]) => [name, String(text)] as const);
  return { status, fields: Object.fromEntries(texts), body };
}

/** In version 1, the answer was not sealed and its members were the record's own. */
function gathered({ status, fields, body, ...rest }: JsonObject): JsonObject {
  return { ...rest, answer: { status, fields, body } };
}

/** The record of a request under a key. In version 2 every record had an answer. */
export type KeptRecord = ReturnType<typeof parseKept>;

export const parseKept = recordReader(
  KIND,
  3,
  {
    /** Keyed hash of path and body. */
    fingerprint: text,
    at: number,
    /** Where there is no answer: id of the server that waits for it, or empty where none does. */
    by: optional(text),
    /**
     * Sealed, because an answer of the compliance provider contains the connection. Null from the
     * time before a request is sent elsewhere until its answer is known.
     */
    answer: orNull<Sealed | KeptAnswer>((value) =>
      isObject(value) && 'status' in value ? answerOf(value) : parseSealed(value),
    ),
  },
  [gathered, AS_IT_IS],
);

/** The text of an answer that is sealed. Bodies of bytes are restored exactly. */
export function answerText({ status, fields, body }: KeptAnswer): string {
  return JSON.stringify(
    typeof body === 'string'
      ? { status, fields, text: body }
      : { status, fields, base64: Buffer.from(body).toString('base64') },
  );
}

/** The answer that such a text contains. */
export function readAnswer(text: string): KeptAnswer {
  const { text: plain, base64, ...rest }: JsonObject = JSON.parse(text);
  return answerOf({
    ...rest,
    body: typeof base64 === 'string' ? Buffer.from(base64, 'base64') : plain,
  });
}

/** The place that an answer is sealed for. */
export function placeOf(account: string, hash: string): SealPlace {
  return { account, merchant: hash, field: 'kept answer' };
}

/** When a key was used, ordered by time, so that expired answers are found. */
export type AgeRecord = ReturnType<typeof parseAge>;

export const parseAge = recordReader('idempotency age', 1, {
  account: text,
  hash: text,
  at: number,
  /** What it counts for in its account's share; zero in records older than shares. */
  bytes: since(number, 0),
});

// What the code that carries out a request under an Idempotency-Key is given, and the outcome.

/** The state of an Idempotency-Key. */

/**
 * A request that is being carried out under its key. It must be ended once, whatever the outcome.
 */
export interface Claim {
  /**
   * Stores the answer in the transaction of the write.
   * @throws KeyTaken when another server was first.
   */
  keep(transaction: StoreTransaction, answer: KeptAnswer): void;
  /**
   * Records that the request is about to be sent elsewhere. Resolves when that, and room for the
   * answer, is on the disk.
   * @throws StoreFault when it cannot be recorded, KeyTaken when another server was first; nothing
   * may be sent then.
   */
  begin(): Promise<void>;
  /**
   * Stores the outcome of a request that was begun: its answer, or null when it certainly changed
   * nothing. Not called when the outcome is unknown. Never throws: an outcome that cannot be stored
   * is remembered, and storing is repeated.
   */
  settle(answer: KeptAnswer | null): Promise<void>;
  end(): void;
}

export type Claimed =
  | { readonly kind: 'fresh'; readonly claim: Claim }
  | { readonly kind: 'kept'; readonly answer: KeptAnswer }
  /** Another request with this key is being carried out. */
  | { readonly kind: 'running' }
  /** The request was sent elsewhere, and its outcome is unknown. */
  | { readonly kind: 'unknown' }
  /** The key was used for a different request. */
  | { readonly kind: 'other' };

/**
 * Thrown inside a transaction to undo it: another server has used the same key meanwhile, with this
 * state.
 */
export class KeyTaken extends Error {
  override readonly name = 'KeyTaken';
  readonly claimed: Exclude<Claimed, { readonly kind: 'fresh' }>;

  constructor(claimed: Exclude<Claimed, { readonly kind: 'fresh' }>) {
    super('the Idempotency-Key was used meanwhile');
    this.claimed = claimed;
  }
}

/** A request and its key. */
export interface Intent {
  readonly account: string;
  /** The Idempotency-Key as sent. */
  readonly key: string;
  readonly path: string;
  readonly body: Uint8Array;
}

/*
 * Outcomes of requests that were sent elsewhere, which the store did not accept. They are
 * remembered while the process runs, and storing is repeated. For those that there is no room for,
 * the store keeps saying that their outcome is unknown.
 */

/** Most outcomes that are remembered. */
const UNSTORED_MAX = 1_000;
/** Most bytes of their answers. */
const UNSTORED_BYTES_MAX = 33_554_432;
/** How often storing them is repeated. */
const RETRY_MS = 5_000;

export interface UnstoredOutcome {
  readonly fingerprint: string;
  /** The answer; null when nothing was changed. */
  readonly answer: KeptAnswer | null;
  /** Tries to store the outcome. */
  store(): Promise<void>;
}

export class UnstoredOutcomes {
  readonly #failed: (error: unknown) => void;
  readonly #retryMs: number;
  readonly #byName = new Map<string, UnstoredOutcome>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #trying: Promise<void> | null = null;

  /** @param failed is called when storing has failed again */
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

  /** Tries to store all once more, and stops. */
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
   * Stores outcomes one after the other. Where the store accepts no writes, the rest wait for the
   * next time; an outcome that fails for another reason does not hold up the rest.
   */
  async #storeAll(): Promise<void> {
    const told = new Set<string>();
    for (const [name, outcome] of [...this.#byName]) {
      // The key may have been used again meanwhile.
      if (this.#byName.get(name) !== outcome) continue;
      try {
        await outcome.store();
        if (this.#byName.get(name) === outcome) this.forget(name);
      } catch (error) {
        // Equal failures are reported once a round.
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
