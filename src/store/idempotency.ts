/**
 * Answers kept under an Idempotency-Key, so that a request sent again after a lost answer is not
 * carried out again. An answer is kept in the transaction of the write it reports: either both are
 * on the disk or neither is. Only answers of writes are kept; a refusal changed nothing and may be
 * tried again, with another body too.
 *
 * What is carried out elsewhere, by the compliance provider, cannot share a transaction. It is
 * written down before it is sent, and its answer takes that record's place. A record without an
 * answer is a request that a server has under way; once that server has ended, or has given it up,
 * nobody knows what became of it: it is never carried out again.
 *
 * Several servers may get the same key at once. Which of them carries it out is settled in the
 * transaction: the others' are undone, and answered as if they had come later.
 *
 * key                                         record
 * ["idempotency", account, hash]              KeptRecord; the hash is of the Idempotency-Key
 * ["idempotency-age", time, account, hash]    AgeRecord; in order of time, for sweeping
 */
import { createHash } from 'node:crypto';
import {
  ageKey,
  type AgeRecord,
  answerText,
  type Claim,
  type Claimed,
  type Intent,
  type KeptAnswer,
  keptKey,
  type KeptRecord,
  KeyTaken,
  parseAge,
  parseKept,
  placeOf,
  readAnswer,
  UnstoredOutcomes,
} from './idempotency-record.js';
import { sweepKept } from './idempotency-sweep.js';
import { isDoubtful } from './fault.js';
import { lives } from './nodes.js';
import type { CredentialsVault } from './credentials.js';
import { addShare, recordBytes, takeShare } from './share.js';
import type { Store, StoreTransaction } from './store.js';

export {
  KeyTaken,
  type Claim,
  type Claimed,
  type Intent,
  type KeptAnswer,
} from './idempotency-record.js';

/** Longest Idempotency-Key in characters. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** How long an answer is kept. */
export const KEPT_MS_MAX = 24 * 3_600_000;
/** How often expired answers are removed. */
export const SWEEP_MS = 10 * 60_000;
/**
 * Least bytes that an answer counts for. This room is reserved before an answer from elsewhere is
 * known.
 */
const KEPT_BYTES_MIN = 2_048;
interface IdempotencyOptions {
  /** Id of this server on the store; empty where it is the only one. */
  readonly node?: string;
  /** Hashes bodies with a key, since they may contain secrets. */
  readonly vault: CredentialsVault;
  /** The service's clock, in milliseconds. */
  readonly now?: () => number;
  /** Called when sweeping or storing an outcome failed; it is tried again. */
  readonly failed?: (error: unknown) => void;
}

/** The use of a key. */
interface Used {
  readonly account: string;
  /** Hash of the Idempotency-Key. */
  readonly hash: string;
  readonly fingerprint: string;
  /** Identifies the key among those of all accounts. */
  readonly name: string;
}

export class IdempotencyBook {
  readonly #store: Store;
  readonly #node: string;
  readonly #vault: CredentialsVault;
  readonly #now: () => number;
  readonly #failed: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  /** Keys of requests that this process is carrying out. */
  readonly #running = new Set<string>();
  readonly #unstored: UnstoredOutcomes;
  #sweeping: Promise<number> | null = null;

  constructor(store: Store, options: IdempotencyOptions) {
    this.#store = store;
    this.#node = options.node ?? '';
    this.#vault = options.vault;
    this.#now = options.now ?? Date.now;
    this.#failed = options.failed ?? ((): void => undefined);
    this.#unstored = new UnstoredOutcomes(this.#failed);
    this.#timer = setInterval(() => {
      this.sweep().catch(this.#failed);
    }, SWEEP_MS).unref();
  }

  /** Claims a key: returns what to carry the request out with, or the state of the key. */
  claim({ account, key, path, body }: Intent): Claimed {
    const hash = createHash('sha256').update(key, 'utf8').digest('hex');
    const sum = createHash('sha256').update(body).digest('hex');
    const fingerprint = this.#vault.index(`${path}\n${sum}`, account);
    const name = `${hash} ${account}`;
    // Checked before the store, since the answer is stored before its request has ended.
    if (this.#running.has(name)) return { kind: 'running' };
    const used: Used = { account, hash, fingerprint, name };
    const known = this.#known(used);
    if (known !== null) return known;
    this.#running.add(name);
    return { kind: 'fresh', claim: this.#claim(used) };
  }

  /** Removes expired answers and returns how many. */
  sweep(): Promise<number> {
    this.#sweeping ??= sweepKept(this.#store, () => this.#now() - KEPT_MS_MAX).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Stores outcomes that could not be stored before, and stops sweeping. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#unstored.close();
    await this.#sweeping?.catch(this.#failed);
  }

  /** The state of a key; null when its request may be carried out. */
  #known(used: Used): Exclude<Claimed, { readonly kind: 'fresh' }> | null {
    const { answer = null, fingerprint } = this.#unstored.find(used.name) ?? {};
    if (answer === null) return this.#stored(this.#store, used);
    return fingerprint === used.fingerprint ? { kind: 'kept', answer } : { kind: 'other' };
  }

  /** The state of a key by the store; null when its request may be carried out. */
  #stored(
    reader: Pick<StoreTransaction, 'get'>,
    { account, hash, fingerprint, name }: Used,
  ): Exclude<Claimed, { readonly kind: 'fresh' }> | null {
    const found = reader.get(keptKey(account, hash));
    if (found === undefined) return null;
    const kept = parseKept(found);
    if (this.#now() - kept.at >= KEPT_MS_MAX) return null;
    // That the request changed nothing is known here, though the store still has it as begun.
    if (this.#waits(kept) && this.#unstored.find(name)?.answer === null) return null;
    if (kept.fingerprint !== fingerprint) return { kind: 'other' };
    const answer = this.#open(kept, account, hash);
    if (answer !== null) return { kind: 'kept', answer };
    const { by = '' } = kept;
    return by !== this.#node && lives(reader, by) ? { kind: 'running' } : { kind: 'unknown' };
  }

  /** @throws KeyTaken when another server has used the key since it was claimed. */
  #check(transaction: StoreTransaction, used: Used): void {
    const stored = this.#stored(transaction, used);
    if (stored !== null) throw new KeyTaken(stored);
  }

  /** Whether this server has begun a request whose outcome is not stored. */
  #waits({ answer, by = '' }: KeptRecord): boolean {
    return answer === null && by === this.#node;
  }

  #claim(used: Used): Claim {
    let begunAt: number | null = null;
    return {
      keep: (transaction, answer) => {
        this.#check(transaction, used);
        this.#keep(transaction, used, answer, this.#now());
      },
      begin: async () => {
        const at = this.#now();
        try {
          await this.#begin(used, at);
        } catch (error) {
          // Nothing is sent, though the record may be stored.
          if (isDoubtful(error)) await this.#settle(used, null, at);
          throw error;
        }
        this.#unstored.forget(used.name);
        begunAt = at;
      },
      settle: (answer) => {
        const at = begunAt ?? this.#now();
        begunAt = null;
        return this.#settle(used, answer, at);
      },
      end: () => {
        this.#running.delete(used.name);
        if (begunAt !== null) this.#giveUp(used);
      },
    };
  }

  #begin(used: Used, at: number): Promise<void> {
    return this.#store.write(
      (transaction) => {
        this.#check(transaction, used);
        // Fails now, rather than after the request was sent, if answers cannot be sealed.
        this.#vault.seal('', placeOf(used.account, used.hash));
        this.#keep(transaction, used, null, at);
      },
      { quiet: true },
    );
  }

  /** Records for the other servers that this one no longer waits for the outcome of a request. */
  #giveUp({ account, hash }: Used): void {
    if (this.#node === '') return;
    this.#store
      .write(
        (transaction) => {
          const key = keptKey(account, hash);
          const found = transaction.get(key);
          const kept = found === undefined ? null : parseKept(found);
          if (kept === null || !this.#waits(kept)) return;
          transaction.put(key, { ...kept, by: '' });
        },
        { quiet: true },
      )
      .catch(this.#failed);
  }

  #keep(
    transaction: StoreTransaction,
    { account, hash, fingerprint }: Used,
    answer: KeptAnswer | null,
    at: number,
  ): void {
    const sealed =
      answer === null ? null : this.#vault.seal(answerText(answer), placeOf(account, hash));
    const record: KeptRecord = {
      v: 3,
      answer: sealed,
      fingerprint,
      at,
      ...(answer === null ? { by: this.#node } : {}),
    };
    const key = ageKey({ at, account, hash });
    const before = transaction.get(key);
    const held = before === undefined ? 0 : parseAge(before).bytes;
    const bytes = Math.max(KEPT_BYTES_MIN, recordBytes(record));
    // An answer from elsewhere must be stored: its room was reserved, and a small excess is
    // accepted.
    if (before === undefined) takeShare(transaction, 'kept', account, bytes);
    else addShare(transaction, 'kept', account, bytes - held);
    const age: AgeRecord = { v: 1, account, hash, at, bytes };
    transaction.put(keptKey(account, hash), record);
    transaction.put(key, age);
  }

  /** Replaces the record of a begun request by its outcome, later if that fails now. */
  async #settle(used: Used, answer: KeptAnswer | null, at: number): Promise<void> {
    const { account, hash, fingerprint, name } = used;
    const store = (): Promise<void> =>
      this.#store.write(
        (transaction) => {
          if (answer !== null) return this.#keep(transaction, used, answer, at);
          const found = transaction.get(keptKey(account, hash));
          const kept = found === undefined ? null : parseKept(found);
          // The key may have been used again since.
          if (kept !== null && kept.at <= at && this.#waits(kept)) {
            transaction.remove(keptKey(account, hash));
          }
          const key = ageKey({ account, hash, at });
          const age = transaction.get(key);
          if (age !== undefined) addShare(transaction, 'kept', account, -parseAge(age).bytes);
          transaction.remove(key);
        },
        { quiet: true },
      );
    try {
      await store();
    } catch (error) {
      this.#failed(error);
      this.#unstored.add(name, { fingerprint, answer, store });
    }
  }

  #open({ answer }: KeptRecord, account: string, hash: string): KeptAnswer | null {
    if (answer === null || 'status' in answer) return answer;
    return readAnswer(this.#vault.open(answer, placeOf(account, hash)));
  }
}
