/** Opens the LMDB environment of a store. */
import { open, type RootDatabase } from 'lmdb';
import { FORMAT_KEY, FORMAT_VERSION, FORMATS_READ, type StoreKey } from './format.js';
import { packPlain, unpackRecord } from './record-bytes.js';

/** Records as bytes, by their keys. */
export type Root = RootDatabase<Buffer, string[]>;

/**
 * Address space, not disk. LMDB would grow the map by itself, and processes that grow a shared one
 * damage it: nothing new is taken once the pages in use pass `STORE_BYTES_MAX`.
 */
const MAP_BYTES = 4 * 1024 ** 3;
const READERS_MAX = 512;

/** What is read of LMDB's statistics. */
interface RootStats {
  readonly pageSize?: number;
  readonly treeBranchPageCount?: number;
  readonly treeLeafPageCount?: number;
  readonly overflowPages?: number;
  readonly entryCount?: number;
}

/** Records there are, as LMDB counts them. */
export function entriesOf(root: Root): number {
  const { entryCount = 0 }: RootStats = root.getStats();
  return entryCount;
}

/** Bytes of the pages that hold records. */
export function bytesOf(root: Root): number {
  const {
    pageSize = 0, treeBranchPageCount = 0, treeLeafPageCount = 0, overflowPages = 0,
  }: RootStats = root.getStats();
  return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
}

/** Other processes that have it open. */
export function usersOf(root: Root): readonly number[] {
  root.readerCheck();
  const lines = root.readerList().split('\n');
  const pids = lines.map((line) => Number(/^\s*(\d+)\s/.exec(line)?.[1] ?? 0));
  return [...new Set(pids)].filter((pid) => pid > 0 && pid !== process.pid);
}

/** A key as it was given: LMDB gives one of a single part as that part. */
export function partsOf(key: StoreKey): StoreKey {
  return ([] as StoreKey).concat(key);
}

/** The format that is written down; plain, so that every version can read it. */
function formatOf(root: Root): unknown {
  const found = root.get([...FORMAT_KEY]);
  return found === undefined ? undefined : unpackRecord(FORMAT_KEY, found);
}

/**
 * Opens what is in a folder, or makes it.
 * @throws Error when a newer program wrote it.
 */
export async function openRoot(path: string): Promise<Root> {
  const root = open<Buffer, string[]>({
    path,
    // Records are packed and checked in record-bytes.ts.
    encoding: 'binary',
    mapSize: MAP_BYTES,
    maxReaders: READERS_MAX,
    // A commit then means that the data is on the disk.
    overlappingSync: false,
    // Batches of a turn are promises of their own, which nobody could catch when a disk fails.
    eventTurnBatching: false,
  });
  try {
    const format = formatOf(root);
    if (format === FORMAT_VERSION) return root;
    if (format === undefined) {
      const made = (): unknown => root.put([...FORMAT_KEY], packPlain(FORMAT_VERSION));
      await root.ifNoExists([...FORMAT_KEY], made);
    } else if (FORMATS_READ.includes(format)) {
      await root.put([...FORMAT_KEY], packPlain(FORMAT_VERSION));
    } else {
      throw new Error(
        `the store in ${path} has format ${String(format)}, this version reads ${FORMAT_VERSION}`,
      );
    }
    await root.flushed;
    return root;
  } catch (error) {
    await root.close();
    throw error;
  }
}
