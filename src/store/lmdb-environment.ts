/** The LMDB environment of the embedded store: how it is opened, and how its transactions begin. */
import { open, type RootDatabase } from 'lmdb';
import { DamagedRecord, StoreFault, writeError } from './fault.js';
import { FORMAT_KEY, FORMAT_VERSION, FORMATS_READ } from './format.js';
import type { LastCommit } from './last-commit.js';
import { packPlain, unpackRecord } from './record-bytes.js';
import { markBegun, openedIn } from './store-file.js';

/** Records as bytes, by their keys. */
export type Environment = RootDatabase<Buffer, string[]>;

/**
 * Size of the memory map, which is address space and not disk. Fixed, because processes that let
 * LMDB grow a shared map damage it. New records are refused once the pages in use pass
 * `STORE_BYTES_MAX`.
 */
const MAP_BYTES = 4 * 1024 ** 3;
const READERS_MAX = 512;

/** The format that the store records, unchecked, so that every version can read it. */
function formatOf(root: Environment): unknown {
  const found = root.get([...FORMAT_KEY]);
  return found === undefined ? undefined : unpackRecord(FORMAT_KEY, found);
}

/** A number that was set back is corrected at once; only a fault makes many transactions stale. */
const STALE_MAX = 20;

/** Thrown to undo a transaction that began without the last commit. */
class StaleTransaction extends Error {}

/** What LMDB or the system throws, as the fault that callers know. */
function orUnwritable<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    const isTold = error instanceof StoreFault || error instanceof DamagedRecord;
    throw isTold ? error : new StoreFault('unwritable', error);
  }
}

/** Within a transaction: whether it began with the last commit. */
function isCurrent(root: Environment, last: LastCommit): boolean {
  return orUnwritable(() => last.isIn(root.getWriteTxnId()));
}

/**
 * Runs an action, with the number of its transaction, in one that began with the last commit. It is
 * a child transaction, because only that is undone completely when the action throws.
 */
export async function inTransaction<T>(
  root: Environment,
  last: LastCommit,
  action: (id: number) => T,
): Promise<T> {
  for (let stale = 0; stale < STALE_MAX; stale += 1) {
    try {
      return await root.childTransaction(() => {
        if (!isCurrent(root, last)) throw new StaleTransaction();
        return action(root.getWriteTxnId());
      });
    } catch (error) {
      if (!(error instanceof StaleTransaction)) throw error;
    }
  }
  throw new StoreFault('unwritable');
}

/** Within a transaction: records the format of this program, unless a newer one wrote the store. */
function takeFormat(root: Environment): void {
  const format = formatOf(root);
  if (format === FORMAT_VERSION) return;
  if (format !== undefined && !FORMATS_READ.includes(format)) return;
  root.putSync([...FORMAT_KEY], packPlain(FORMAT_VERSION));
}

/**
 * Begins to use an environment that was just opened, before anything is read and in the same turn
 * of the event loop, since opening may have set the last commit's number back. Beside what is read
 * under an earlier number, two busy writers of LMDB damaged their lists of free pages.
 */
function begin(root: Environment, last: LastCommit): void {
  for (let stale = 0; stale < STALE_MAX; stale += 1) {
    // It returns where it is stale. If it threw, LMDB would go on with its list of free pages.
    const isDone = root.transactionSync(() => {
      if (!isCurrent(root, last)) return false;
      takeFormat(root);
      return true;
    });
    if (isDone) return;
  }
  throw new StoreFault('unwritable');
}

/** Opens the environment in a folder, or makes it. @throws Error when a newer program wrote it. */
export async function openEnvironment(path: string, last: LastCommit): Promise<Environment> {
  const options = {
    path,
    // record-bytes.ts packs and checks the records.
    encoding: 'binary' as const,
    mapSize: MAP_BYTES,
    maxReaders: READERS_MAX,
    // With this, a commit is only reported when the data is on the disk.
    overlappingSync: false,
    // Its batches would be additional promises, whose rejection nobody could catch when a disk
    // fails.
    eventTurnBatching: false,
    // With this, the thread that began a transaction is notified when its actions have run, instead
    // of polling. The option's name comes from the order of actions and single puts, of which there
    // are none.
    strictAsyncOrder: true,
  };
  const root = openedIn(path, () => open<Buffer, string[]>(options));
  try {
    orUnwritable(() => begin(root, last));
    const format = formatOf(root);
    if (format !== FORMAT_VERSION) {
      throw new Error(
        `the store in ${path} has format ${String(format)}, this version reads ${FORMAT_VERSION}`,
      );
    }
    markBegun(path);
    return root;
  } catch (error) {
    await root.close().catch(() => undefined);
    throw await writeError(error);
  }
}
