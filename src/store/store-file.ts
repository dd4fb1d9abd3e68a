/** Checks the file of the store before LMDB maps it. */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../log.js';

/** The file in the store's folder that holds all records. */
export const STORE_FILE = 'data.mdb';
/** Stands beside it once it was complete, as evidence that there was a store. */
export const BEGUN_FILE = 'begun';
const BEGUN_TEXT = 'A store was begun in this folder. Without data.mdb it is lost, not new.\n';
const BEGUN_MODE = 0o600;

/** Layout of LMDB's first two pages, which describe a commit each; the newer one counts. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const PAGE_BYTES_AT = 48;
const ROOTS_AT = [88, 136] as const;
const LAST_PAGE_AT = 144;
const COMMIT_AT = 152;
const META_BYTES = 160;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** A writer may be at work, so contradictory pages are read again this many times. */
const READS_MAX = 5;

function metaOf(file: number, at: number): Buffer | null {
  const meta = Buffer.alloc(META_BYTES);
  if (readSync(file, meta, 0, META_BYTES, at) < META_BYTES) return null;
  return meta.readUInt32LE(MAGIC_AT) === MAGIC ? meta : null;
}

/** The page number that a page itself states. */
function numberOf(file: number, at: number): bigint | null {
  const head = Buffer.alloc(8);
  return readSync(file, head, 0, 8, at) < 8 ? null : head.readBigUInt64LE();
}

/** The problem of a commit's pages; null when none is found. */
function commitProblem(file: number, path: string, meta: Buffer): string | null {
  const pageBytes = meta.readUInt32LE(PAGE_BYTES_AT);
  const needed = (Number(meta.readBigUInt64LE(LAST_PAGE_AT)) + 1) * pageBytes;
  const { size } = fstatSync(file);
  if (size < needed) return `${path} was cut off: it has ${size} of ${needed} bytes`;
  for (const at of ROOTS_AT) {
    const root = meta.readBigUInt64LE(at);
    if (root === NO_PAGE) continue;
    if (numberOf(file, Number(root) * pageBytes) !== root) return notSound(path);
  }
  return null;
}

/** Opens a store. The error of LMDB does not name the folder, so it is replaced. */
export function openedIn<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const why = messageOf(error);
    throw new Error(`the store in ${path} cannot be opened: ${why}`);
  }
}

function notSound(path: string): string {
  return `${path} is not a store, or is damaged`;
}

/** The newer of the two commits; null when one of the pages is not valid. */
function newestMeta(file: number): Buffer | null {
  const first = metaOf(file, 0);
  if (first === null) return null;
  const pageBytes = first.readUInt32LE(PAGE_BYTES_AT);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return null;
  const second = metaOf(file, pageBytes);
  if (second === null) return null;
  return first.readBigUInt64LE(COMMIT_AT) > second.readBigUInt64LE(COMMIT_AT) ? first : second;
}

/** The number of the newest commit in a store's open file; null for a file that is no store. */
export function newestCommit(file: number): bigint | null {
  return newestMeta(file)?.readBigUInt64LE(COMMIT_AT) ?? null;
}

function problemIn(file: number, path: string): string | null {
  let commit: bigint | null = null;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const meta = newestMeta(file);
    if (meta === null) return notSound(path);
    const problem = commitProblem(file, path, meta);
    const now = meta.readBigUInt64LE(COMMIT_AT);
    if (problem === null || now === commit) return problem;
    commit = now;
  }
  return null;
}

/** Whether a store's file is empty or missing. */
export function isEmptyStoreFile(path: string): boolean {
  if (!existsSync(path)) return true;
  const file = openSync(path, 'r');
  try {
    return fstatSync(file).size === 0;
  } finally {
    closeSync(file);
  }
}

/** A file that exists only after there was a store; null when there is none. */
function earlierLife(folder: string, isThere: boolean): string | null {
  const begun = join(folder, BEGUN_FILE);
  if (existsSync(begun)) return begun;
  // An operator's own key file may exist before the first start, but then there is no store's file.
  if (!isThere) return null;
  const varDir = dirname(folder);
  const kek = join(varDir, 'kek');
  if (existsSync(kek)) return kek;
  const jobs = join(varDir, 'jobs');
  return existsSync(jobs) && readdirSync(jobs).length > 0 ? jobs : null;
}

function lostProblem(path: string): string | null {
  const isThere = existsSync(path);
  const evidence = earlierLife(dirname(path), isThere);
  if (evidence === null) return null;
  return (
    `${path} is ${isThere ? 'empty' : 'gone'}, but ${evidence} says that there was a store: ` +
    'put a backup back (situs store restore FILE); to begin anew without its keys and merchants, ' +
    `move ${dirname(path)} and ${evidence} away`
  );
}

/**
 * Why a store's file must not be opened, as a sentence; null when it may. An empty or missing file
 * is normal for a first start, or after one that was killed; where there was a store, it is a loss.
 */
export function storeFileProblem(path: string): string | null {
  if (isEmptyStoreFile(path)) return lostProblem(path);
  const file = openSync(path, 'r');
  try {
    return problemIn(file, path);
  } finally {
    closeSync(file);
  }
}

/**
 * Refuses a file that would end the process, or be taken for a new store.
 * @throws Error that says what is wrong with the file.
 */
export function checkStoreFile(path: string): void {
  const problem = storeFileProblem(path);
  if (problem !== null) throw new Error(problem);
}

/** A text that names the processes that have a store open; there must be one. */
export function openIn(pids: readonly number[]): string {
  return pids.length === 1
    ? `process ${pids[0]} has the store open`
    : `processes ${pids.join(', ')} have the store open`;
}

/** Records durably that there is a store. */
export function markBegun(folder: string): void {
  const path = join(folder, BEGUN_FILE);
  if (existsSync(path)) return;
  const file = openSync(path, 'w', BEGUN_MODE);
  try {
    writeSync(file, BEGUN_TEXT);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The statistics of LMDB that are used. */
export interface RootStats {
  readonly pageSize?: number;
  readonly treeBranchPageCount?: number;
  readonly treeLeafPageCount?: number;
  readonly overflowPages?: number;
  readonly entryCount?: number;
}

/** Bytes of pages with records. */
export function bytesIn({
  pageSize = 0,
  treeBranchPageCount = 0,
  treeLeafPageCount = 0,
  overflowPages = 0,
}: RootStats): number {
  return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages);
}
