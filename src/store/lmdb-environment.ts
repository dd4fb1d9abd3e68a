/** The LMDB environment of the embedded store: how it is opened, and how its transactions begin. */
import { open, type RootDatabase } from 'lmdb';
import { writeError } from './fault.js';
import { FORMAT_KEY, FORMAT_VERSION, FORMATS_READ } from './format.js';
import { type LastCommit, StaleTransaction } from './last-commit.js';
import { packPlain, unpackRecord } from './record-bytes.js';
import { openedIn } from './store-file.js';

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

/** A number that was set back is corrected at once; only a fault makes more transactions stale. */
const STALE_MAX = 20;

/**
 * Runs an action, with the number of its transaction, in one that began with the last commit. It is
 * a child transaction, because only that is undone completely when the action throws.
 */
export async function inTransaction<T>(
  root: Environment,
  last: LastCommit,
  action: (id: number) => T,
): Promise<T> {
  for (let stale = 0; ; stale += 1) {
    try {
      return await root.childTransaction(() => {
        const id = root.getWriteTxnId();
        last.check(id);
        return action(id);
      });
    } catch (error) {
      if (!(error instanceof StaleTransaction) || stale === STALE_MAX) throw error;
    }
  }
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
    // of polling. The option's name comes from the order of actions and single puts; single puts
    // are only used, and awaited, while the store is opened.
    strictAsyncOrder: true,
  };
  const root = openedIn(path, () => open<Buffer, string[]>(options));
  try {
    const format = formatOf(root);
    if (format !== undefined && format !== FORMAT_VERSION && !FORMATS_READ.includes(format)) {
      throw new Error(
        `the store in ${path} has format ${String(format)}, this version reads ${FORMAT_VERSION}`,
      );
    }
    // Also without anything to write, since opening may have set the last commit's number back.
    await inTransaction(root, last, () => {
      if (formatOf(root) !== FORMAT_VERSION) {
        root.putSync([...FORMAT_KEY], packPlain(FORMAT_VERSION));
      }
    });
    await root.flushed;
    return root;
  } catch (error) {
    await root.close().catch(() => undefined);
    throw await writeError(error);
  }
}
