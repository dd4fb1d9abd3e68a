/** The records of kept answers, as idempotency.ts lists them. */
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

/** An answer as it is given again. */
export interface KeptAnswer {
  readonly status: number;
  /** Header fields by name, the content type among them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Key of what is kept of a request. */
export function keptKey(account: string, hash: string): StoreKey {
  return [KEPT_PREFIX, account, hash];
}

/** Key of its age. */
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

/** Version 1 kept the answer as members of its own, unsealed. */
function gathered({ status, fields, body, ...rest }: JsonObject): JsonObject {
  return { ...rest, answer: { status, fields, body } };
}

/** A request of a key. Version 2 had none without an answer. */
export type KeptRecord = ReturnType<typeof parseKept>;

export const parseKept = recordReader(
  KIND,
  3,
  {
    /** Keyed hash of path and body. */
    fingerprint: text,
    at: number,
    /** Where there is no answer: the server that waits for it; empty where none does. */
    by: optional(text),
    /**
     * Sealed: what the compliance provider answered names the connection. Null from the moment a
     * request is sent elsewhere until its answer is known.
     */
    answer: orNull<Sealed | KeptAnswer>((value) =>
      isObject(value) && 'status' in value ? answerOf(value) : parseSealed(value),
    ),
  },
  [gathered, AS_IT_IS],
);

/** An answer as the text that is sealed. Bodies of bytes come back as the same bytes. */
export function answerText({ status, fields, body }: KeptAnswer): string {
  return JSON.stringify(
    typeof body === 'string'
      ? { status, fields, text: body }
      : { status, fields, base64: Buffer.from(body).toString('base64') },
  );
}

/** The answer of such a text. */
export function readAnswer(text: string): KeptAnswer {
  const { text: plain, base64, ...rest }: JsonObject = JSON.parse(text);
  return answerOf({
    ...rest,
    body: typeof base64 === 'string' ? Buffer.from(base64, 'base64') : plain,
  });
}

/** Where an answer is sealed for. */
export function placeOf(account: string, hash: string): SealPlace {
  return { account, merchant: hash, field: 'kept answer' };
}

/** When a key was used, for sweeping. */
export type AgeRecord = ReturnType<typeof parseAge>;

export const parseAge = recordReader('idempotency age', 1, {
  account: text,
  hash: text,
  at: number,
  /** What it counts for in the share of its account; zero where it is older than shares. */
  bytes: since(number, 0),
});

// What whoever carries out a request under an Idempotency-Key is handed, and what became of it.

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
