/**
 * Answers kept under an Idempotency-Key, so that a request sent again after a lost answer is not
 * carried out again. An answer is kept in the transaction of the write it reports: either both are
 * on the disk or neither is. Only answers of writes are kept; a refusal changed nothing and may be
 * tried again, with another body too.
 *
 * key                                         record
 * ["idempotency", account, hash]              KeptRecord; the hash is of the Idempotency-Key
 * ["idempotency-age", time, account, hash]    AgeRecord; in order of time, for sweeping
 */
import { createHash } from 'node:crypto';
import type { StoreKey } from './format.js';
import { damaged, upgraded, type RecordFields } from './record.js';
import { parseSealed, type Sealed, type SealPlace } from './sealed.js';
import type { Store, StoreTransaction } from './store.js';

export const KEPT_PREFIX = 'idempotency';
export const AGE_PREFIX = 'idempotency-age';

/** Longest Idempotency-Key in characters. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** How long an answer is kept. */
export const KEPT_MS_MAX = 24 * 3_600_000;
/** How often expired answers are looked for. */
export const SWEEP_MS = 10 * 60_000;
/** Answers removed in one transaction. */
export const SWEEP_BATCH_MAX = 500;

const TIME_DIGITS = 15;

/** An answer as it is given again. */
export interface KeptAnswer {
  readonly status: number;
  /** Header fields by name, the content type among them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

interface KeptRecord {
  readonly v: 2;
  /** Sealed: what the compliance provider answered names the connection. */
  readonly answer: Sealed | KeptAnswer;
  /** Keyed hash of path and body. */
  readonly fingerprint: string;
  readonly at: number;
}

/** What seals, opens and hashes; the part of the vault that is used here. */
export interface AnswerVault {
  seal(text: string, place: SealPlace): Sealed;
  open(sealed: Sealed, place: SealPlace): string;
  /** Keyed hash of a text: bodies may hold secrets, so a plain one will not do. */
  index(text: string, account: string): string;
}

interface AgeRecord {
  readonly v: 1;
  readonly account: string;
  readonly hash: string;
  readonly at: number;
}

function keptKey(account: string, hash: string): StoreKey {
  return [KEPT_PREFIX, account, hash];
}

function ageKey({ at, account, hash }: AgeRecord): StoreKey {
  return [AGE_PREFIX, String(at).padStart(TIME_DIGITS, '0'), account, hash];
}

const KIND = 'idempotency';

function answerOf({ status, fields, body }: RecordFields): KeptAnswer {
  if (
    typeof status !== 'number' || typeof fields !== 'object' || fields === null ||
    (typeof body !== 'string' && !(body instanceof Uint8Array))
  ) {
    throw damaged(KIND);
  }
  const texts = Object.entries(fields).map(([name, text]) => [name, String(text)] as const);
  return { status, fields: Object.fromEntries(texts), body };
}

/** Version 1 kept the answer as members of its own, unsealed. */
function gathered({ status, fields, body, ...rest }: RecordFields): RecordFields {
  return { ...rest, answer: { status, fields, body } };
}

function parseKept(value: unknown): KeptRecord {
  const fields = upgraded(value, KIND, [gathered]);
  const { answer, fingerprint, at } = fields;
  if (
    typeof fingerprint !== 'string' || typeof at !== 'number' || typeof answer !== 'object' ||
    answer === null
  ) {
    throw damaged(KIND);
  }
  return {
    v: 2, fingerprint, at,
    answer: 'status' in answer ? answerOf({ ...answer }) : parseSealed(answer),
  };
}

/** An answer as the text that is sealed. Bodies of bytes come back as the same bytes. */
function answerText({ status, fields, body }: KeptAnswer): string {
  return JSON.stringify(typeof body === 'string'
    ? { status, fields, text: body }
    : { status, fields, base64: Buffer.from(body).toString('base64') });
}

function readAnswer(text: string): KeptAnswer {
  const { text: plain, base64, ...rest }: RecordFields = JSON.parse(text);
  return answerOf({
    ...rest, body: typeof base64 === 'string' ? Buffer.from(base64, 'base64') : plain,
  });
}

function placeOf(account: string, hash: string): SealPlace {
  return { account, merchant: hash, field: 'kept answer' };
}

function parseAge(value: unknown): AgeRecord {
  const { account, hash, at } = upgraded(value, 'idempotency age');
  if (typeof account !== 'string' || typeof hash !== 'string' || typeof at !== 'number') {
    throw damaged('idempotency age');
  }
  return { v: 1, account, hash, at };
}

/** A request that is being carried out under its key. End it once, whatever became of it. */
export interface Claim {
  /** Keeps the answer, inside the transaction of the write. */
  keep(transaction: StoreTransaction, answer: KeptAnswer): void;
  end(): void;
}

export type Claimed =
  | { readonly kind: 'fresh'; readonly claim: Claim }
  | { readonly kind: 'kept'; readonly answer: KeptAnswer }
  /** The same key is under way. */
  | { readonly kind: 'running' }
  /** The key belongs to another request. */
  | { readonly kind: 'other' };

/** What a key stands for. */
export interface Intent {
  readonly account: string;
  /** The Idempotency-Key as sent. */
  readonly key: string;
  readonly path: string;
  readonly body: Uint8Array;
}

export interface IdempotencyOptions {
  readonly vault: AnswerVault;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Told when sweeping failed; it is tried again. */
  readonly failed?: (error: unknown) => void;
}

export class IdempotencyBook {
  readonly #store: Store;
  readonly #vault: AnswerVault;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  /** What is under way in this process, which alone carries out requests. */
  readonly #running = new Set<string>();
  #sweeping: Promise<number> | null = null;

  constructor(store: Store, options: IdempotencyOptions) {
    this.#store = store;
    this.#vault = options.vault;
    this.#now = options.now ?? Date.now;
    this.#failed = options.failed ?? ((): void => undefined);
    this.#timer = setInterval(() => {
      this.sweep().catch(this.#failed);
    }, SWEEP_MS).unref();
  }

  /** Asks for a key: whether its request is to be carried out, or what became of it. */
  claim({ account, key, path, body }: Intent): Claimed {
    const hash = createHash('sha256').update(key, 'utf8').digest('hex');
    const sum = createHash('sha256').update(body).digest('hex');
    const fingerprint = this.#vault.index(`${path}\n${sum}`, account);
    const running = `${hash} ${account}`;
    // Asked before the store: an answer is kept before its request ends.
    if (this.#running.has(running)) return { kind: 'running' };
    const found = this.#store.get(keptKey(account, hash));
    if (found !== undefined) {
      const kept = parseKept(found);
      if (this.#now() - kept.at < KEPT_MS_MAX) {
        return kept.fingerprint === fingerprint
          ? { kind: 'kept', answer: this.#open(kept, account, hash) } : { kind: 'other' };
      }
    }
    this.#running.add(running);
    const claim: Claim = {
      keep: (transaction, answer) => this.#keep(transaction, account, hash, fingerprint, answer),
      end: () => {
        this.#running.delete(running);
      },
    };
    return { kind: 'fresh', claim };
  }

  /** Removes expired answers and returns how many. */
  sweep(): Promise<number> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Stops sweeping. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping?.catch(this.#failed);
  }

  #keep(
    transaction: StoreTransaction, account: string, hash: string, fingerprint: string,
    answer: KeptAnswer,
  ): void {
    const at = this.#now();
    const sealed = this.#vault.seal(answerText(answer), placeOf(account, hash));
    const record: KeptRecord = { v: 2, answer: sealed, fingerprint, at };
    const age: AgeRecord = { v: 1, account, hash, at };
    transaction.put(keptKey(account, hash), record);
    transaction.put(ageKey(age), age);
  }

  #open({ answer }: KeptRecord, account: string, hash: string): KeptAnswer {
    return 'status' in answer
      ? answer : readAnswer(this.#vault.open(answer, placeOf(account, hash)));
  }

  async #sweep(): Promise<number> {
    let swept = 0;
    for (;;) {
      const before = this.#now() - KEPT_MS_MAX;
      const oldest = this.#store.list([AGE_PREFIX], SWEEP_BATCH_MAX).map(parseAge)
        .filter(({ at }) => at <= before);
      if (oldest.length === 0) return swept;
      await this.#store.write((transaction) => {
        for (const age of oldest) {
          const key = keptKey(age.account, age.hash);
          const found = transaction.get(key);
          // The key may have been used again since.
          if (found !== undefined && parseKept(found).at === age.at) transaction.remove(key);
          transaction.remove(ageKey(age));
        }
      }, { quiet: true });
      swept += oldest.length;
    }
  }
}
