/**
 * Replaces the key-encryption key while the service runs. Only data keys are wrapped again; secrets
 * are not decrypted. Secrets are sealed inside transactions of the store, and the file of keys is
 * replaced inside one, so nothing is sealed with an old key once the file has a new one.
 */
import { isObject } from '../base/json-object.js';
import { addAudit, type Actor } from './audit.js';
import { type Kek, type KekFile, type KekSource, newKek } from './kek-file.js';
import type { StoreKey } from './format.js';
import { isSealed, rewrap, type Sealed } from './sealed.js';
import type { Store, StoreEntry, StoreTransaction } from './store.js';

/** Most records that are read at a time, and wrapped in one transaction. */
const ROTATION_BATCH = 100;

export interface RotationProgress {
  /** Secrets wrapped again so far. */
  readonly done: number;
  readonly total: number;
}

interface Rotation {
  /** Id of the key that now wraps everything. */
  readonly current: string;
  /** Ids of the keys that are no longer needed; none while a damaged record may need one. */
  readonly dropped: readonly string[];
  readonly rewrapped: number;
  /** Keys of records that are damaged and were skipped. */
  readonly damaged: readonly StoreKey[];
}

/** A record with each sealed secret replaced; the record itself where none was. */
function mapSealed(value: unknown, map: (sealed: Sealed) => Sealed): unknown {
  if (isSealed(value)) return map(value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const mapped = items.map((item) => mapSealed(item, map));
    return mapped.some((item, index) => item !== items[index]) ? mapped : value;
  }
  if (!isObject(value) || value instanceof Uint8Array) return value;
  const members = Object.entries(value);
  const mapped = members.map(([name, member]) => [name, mapSealed(member, map)] as const);
  const changed = mapped.some(([, member], index) => member !== members[index]?.[1]);
  return changed ? Object.fromEntries(mapped) : value;
}

/** Ids of the keys that wrap a record's secrets, one for each secret. */
function keksOf(record: unknown): readonly string[] {
  const ids: string[] = [];
  mapSealed(record, (sealed) => {
    ids.push(sealed.kek);
    return sealed;
  });
  return ids;
}

/**
 * All records in batches. Each batch is read at once, so that no read transaction stays open.
 * @param passedOver as for `Store.scan`
 */
async function* batches(
  store: Store,
  passedOver?: (key: StoreKey) => void,
): AsyncGenerator<readonly StoreEntry[]> {
  let after: StoreEntry['key'] | null = null;
  for (;;) {
    const batch: readonly StoreEntry[] = store.scan(after, ROTATION_BATCH, passedOver);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    after = last.key;
    // Lets a server on the same thread answer requests in between.
    await new Promise(setImmediate);
  }
}

/** How many secrets each key wraps, by id of the key. @param passedOver as for `Store.scan` */
export async function sealedCounts(
  store: Store,
  passedOver?: (key: StoreKey) => void,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const batch of batches(store, passedOver)) {
    for (const { record } of batch) {
      for (const id of keksOf(record)) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Ids of the keys that wrap any secret, read without a pause so that nothing is written meanwhile.
 * Null where a record is damaged and may need any key.
 */
function neededKeks(store: Store): ReadonlySet<string> | null {
  const ids = new Set<string>();
  let damaged = 0;
  const passedOver = (): void => {
    damaged += 1;
  };
  let after: StoreEntry['key'] | null = null;
  for (;;) {
    const batch: readonly StoreEntry[] = store.scan(after, ROTATION_BATCH, passedOver);
    for (const { record } of batch) keksOf(record).forEach((id) => ids.add(id));
    const last = batch.at(-1);
    if (last === undefined) return damaged === 0 ? ids : null;
    after = last.key;
  }
}

/** Wraps the secrets of a batch that other keys wrap; returns how many. */
async function rewrapBatch(
  store: Store,
  batch: readonly StoreEntry[],
  source: KekSource,
  current: Kek,
): Promise<number> {
  // A damaged record is null here, and has no secrets.
  const keys = batch
    .filter(({ record }) => keksOf(record).some((id) => id !== current.id))
    .map(({ key }) => key);
  if (keys.length === 0) return 0;
  return store.write(
    (transaction) => {
      let done = 0;
      for (const key of keys) {
        // Read again, since it may have changed or been removed.
        const record = transaction.get(key);
        const mapped = mapSealed(record, (sealed) => {
          if (sealed.kek === current.id) return sealed;
          done += 1;
          return rewrap(sealed, source.find(sealed.kek), current);
        });
        if (isObject(mapped) && mapped !== record) transaction.put(key, mapped);
      }
      return done;
    },
    { quiet: true },
  );
}

/** The outcome of wrapping everything again. */
interface Rewrapped {
  /** Number of secrets wrapped again. */
  readonly done: number;
  /** Keys of records that are damaged and were skipped. */
  readonly damaged: readonly StoreKey[];
}

/**
 * Wraps every data key with the current key. If interrupted, what is done stays done.
 * @throws Error when a key that wraps a secret is not available.
 */
export async function rewrapAll(
  store: Store,
  source: KekSource,
  report: (progress: RotationProgress) => void,
): Promise<Rewrapped> {
  const current = source.current();
  const damaged: StoreKey[] = [];
  const counts = await sealedCounts(store, (key) => damaged.push(key));
  const total = [...counts]
    .filter(([id]) => id !== current.id)
    .reduce((sum, [, count]) => sum + count, 0);
  let done = 0;
  for await (const batch of batches(store, () => undefined)) {
    const rewrapped = await rewrapBatch(store, batch, source, current);
    done += rewrapped;
    if (rewrapped > 0) report({ done, total });
  }
  return { done, damaged };
}

/** Records in the audit log that everything is about to be wrapped with a key. */
export function auditRotation(
  transaction: StoreTransaction,
  actor: Actor,
  kek: string,
  now: number,
): void {
  addAudit(transaction, { actor, account: null, action: 'secrets.rotate', object: kek }, now);
}

/** Puts a new key first, unless an unfinished rotation has; true when that is resumed. */
async function begin(store: Store, file: KekFile, now: Date, actor: Actor): Promise<boolean> {
  return store.write(
    (transaction) => {
      const keys = file.all();
      const resumed = keys.length > 1;
      const current = resumed ? keys[0] : newKek(now.toISOString());
      if (current === undefined) throw new Error(`the key file ${file.path} holds no key`);
      auditRotation(transaction, actor, current.id, now.getTime());
      if (!resumed) file.replace([current, ...keys]);
      return resumed;
    },
    { quiet: true },
  );
}

/** Callbacks of a rotation. */
interface RotationTold {
  readonly report: (progress: RotationProgress) => void;
  readonly begun: (resumed: boolean) => void;
  /** Whether servers on the store may have key files of their own, without the new key. */
  readonly elsewhere?: () => boolean;
}

/**
 * Makes a new key, wraps every data key with it, and drops the old ones. If interrupted, the next
 * call finishes it; two calls at once do the same work. Servers with key files of their own seal
 * with the old key until they have the new one; the next call then drops the old key.
 */
export async function rotateKek(
  store: Store,
  file: KekFile,
  now: Date,
  actor: Actor,
  { report, begun, elsewhere = (): boolean => false }: RotationTold,
): Promise<Rotation> {
  const resumed = await begin(store, file, now, actor);
  begun(resumed);
  const { done: rewrapped, damaged } = await rewrapAll(store, file, report);
  const dropped = await store.write(
    () => {
      if (!resumed && elsewhere()) return [];
      const [current, ...previous] = file.all();
      if (current === undefined) throw new Error(`the key file ${file.path} holds no key`);
      const needed = neededKeks(store);
      if (needed === null) return [];
      const kept = previous.filter(({ id }) => needed.has(id));
      if (kept.length < previous.length) file.replace([current, ...kept]);
      return previous.filter(({ id }) => !needed.has(id)).map(({ id }) => id);
    },
    { quiet: true },
  );
  return { current: file.current().id, dropped, rewrapped, damaged };
}
