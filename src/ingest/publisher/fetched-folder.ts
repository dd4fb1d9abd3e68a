/**
 * A folder of publishers' files: records of what was got, and a lock so that only one command
 * writes.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { SHA256 } from '../../base/patterns.js';
import { isObject } from '../../base/json-object.js';
import { isAlive } from '../../base/process.js';
import { fileSha256, putFile } from '../../dataset/stamp.js';
import { datasetsDir } from '../source-files.js';
import { unknownName } from '../spelling.js';
import { isWebAddress } from './catalogue.js';
import { dropPart, reasonOf, transfer, type TransferOptions, type Version } from './transfer.js';
import { errorCode } from '../../base/error-code.js';

/*
 * Gets one file from its publisher. It is written beside its place, checked and renamed, so that a
 * file in the folder is always complete.
 */

interface DownloadOptions extends TransferOptions {
  /** Folder below which files are put. */
  readonly folder: string;
  /** Whether to get a file even if there is one already. */
  readonly again: boolean;
}

/** The outcome of a download. */
type Fetched = 'fetched' | 'kept';

/** Why a file on disk is not the one in the list; null where it may be. */
function mismatch({ bytes, sha256 }: Download, size: number, hash: () => string): string | null {
  if (bytes !== null && bytes !== size) return `it has ${size} bytes, the list says ${bytes}`;
  if (sha256 !== null && hash() !== sha256) return 'its SHA-256 is not that of the list';
  return null;
}

/**
 * Gets a file, unless there is one that agrees with the list.
 * @throws Error naming the path; nothing of the file is left then.
 */
export async function fetchDownload(
  download: Download,
  options: DownloadOptions,
): Promise<Fetched> {
  const target = join(options.folder, download.path);
  if (!options.again && existsSync(target)) {
    const problem = mismatch(download, statSync(target).size, () => fileSha256(target));
    if (problem === null) return 'kept';
  }
  mkdirSync(dirname(target), { recursive: true });
  try {
    const came = await transfer(download.url, target, null, options);
    if (came.kind !== 'whole') throw new Error('the publisher says nothing changed');
    const problem = mismatch(download, came.bytes, () => came.sha256);
    if (problem !== null) throw new Error(problem);
    renameSync(came.part, target);
  } catch (error) {
    throw new Error(`${download.path} from ${download.url}: ${reasonOf(error)}`);
  } finally {
    dropPart(target);
  }
  return 'fetched';
}

// What `situs dataset fetch` gets from publishers: an entry for each file, or for each state of a
// file.

export interface Download {
  /** Path below the folder that is asked for. */
  readonly path: string;
  readonly url: string;
  /** Size as published; null where the list does not give it. */
  readonly bytes: number | null;
  /** 64 hexadecimal digits; null where the list does not give them. */
  readonly sha256: string | null;
}

/** Keys that an entry of a list may have. */
const KEYS: readonly string[] = ['path', 'url', 'bytes', 'sha256', 'states'];

const STATE = '{fips}';

type Fields = Readonly<Record<string, unknown>>;

/** Whether a path cannot lead out of the folder it is put below. */
function isBelow(path: string): boolean {
  const plain = normalize(path);
  return path !== '' && !isAbsolute(path) && plain !== '..' && !plain.startsWith('../');
}

/** The states of an entry whose path depends on the state; otherwise a single empty text. */
function statesOf(entry: Fields, path: string): readonly string[] {
  if (!path.includes(STATE)) return [''];
  const { states } = entry;
  return Array.isArray(states) ? states.map(String) : [];
}

function readEntry(entry: unknown, at: number): readonly Download[] {
  const wrong = (what: string): Error => new Error(`download ${at + 1}: ${what}`);
  if (!isObject(entry)) throw wrong('expected an object');
  const stranger = Object.keys(entry).find((name) => !KEYS.includes(name));
  if (stranger !== undefined) throw wrong(unknownName('key', stranger, KEYS));
  const { path, url, bytes = null, sha256 = null } = entry;
  if (typeof path !== 'string' || !isBelow(path)) throw wrong('path must lie below the folder');
  if (typeof url !== 'string' || !isWebAddress(url)) throw wrong('url must be of http or https');
  if (bytes !== null && (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)) {
    throw wrong('bytes must be a whole number');
  }
  if (sha256 !== null && (typeof sha256 !== 'string' || !SHA256.test(sha256))) {
    throw wrong('sha256 must be 64 small hexadecimal digits');
  }
  const states = statesOf(entry, path);
  if (states.length === 0) throw wrong(`states must say what ${STATE} stands for`);
  return states.map((state) => ({
    path: path.replaceAll(STATE, state),
    url: url.replaceAll(STATE, state),
    bytes,
    sha256,
  }));
}

/**
 * Reads a list of downloads.
 * @throws Error naming the entry that cannot be read.
 */
export function parseDownloads(text: string): readonly Download[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('a list of downloads is a JSON array');
  const downloads = list.flatMap(readEntry);
  const paths = new Set(downloads.map(({ path }) => path));
  if (paths.size < downloads.length) throw new Error('two downloads have one path');
  return downloads;
}

/** The file that lists the downloads of a recipe. */
export function downloadsFile(recipe: string): string {
  if (!/^[a-z0-9-]+$/.test(recipe)) throw new Error(`"${recipe}" is no recipe's name`);
  return join(datasetsDir(), 'recipes', `downloads-${recipe}.json`);
}

/**
 * Reads the list in a file.
 * @throws Error naming the file.
 */
export function readDownloads(file: string): readonly Download[] {
  try {
    return parseDownloads(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`no list of downloads in ${file}: ${(error as Error).message}`);
  }
}

/** The record of a file that was got. */
export interface FetchRecord extends Version {
  /** Path below the folder of sources. */
  readonly path: string;
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Days (YYYY-MM-DD) on which it was got, and on which its publisher was last asked. */
  readonly fetchedOn: string;
  readonly checkedOn: string;
}

const FILE = 'fetched.json';

function isRecord(value: unknown): value is FetchRecord {
  const { path, url, sha256 } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof path === 'string' && typeof url === 'string' && typeof sha256 === 'string';
}

/**
 * Records by key; empty where nothing was got yet.
 * @throws Error when the file exists and cannot be read, since otherwise everything would be got
 * again.
 */
export function readRecords(folder: string): Map<string, FetchRecord> {
  const file = join(folder, FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return new Map();
  }
  try {
    const entries = Object.entries(JSON.parse(text) as Readonly<Record<string, unknown>>);
    return new Map(entries.filter((entry): entry is [string, FetchRecord] => isRecord(entry[1])));
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Files below a folder that a path stands for: one, or all with an ending ("tx/*.zip"). */
export function filesThere(folder: string, path: string): readonly string[] {
  const [below, name] = [dirname(path), basename(path)];
  if (!name.startsWith('*') || !existsSync(join(folder, below))) {
    return existsSync(join(folder, path)) ? [path] : [];
  }
  return readdirSync(join(folder, below))
    .filter((own) => own.endsWith(name.slice(1)))
    .sort()
    .map((own) => join(below, own));
}

/** Writes the records completely or not at all. */
export function writeRecords(folder: string, records: ReadonlyMap<string, FetchRecord>): void {
  const file = join(folder, FILE);
  const sorted = [...records].sort((one, other) => (one[0] < other[0] ? -1 : 1));
  putFile(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/*
 * Only one command at a time writes to a folder of publishers' files. Two that write the same file
 * would mix its bytes, and each would lose the records of the other.
 */

const HOLD_FILE = '.getting';
/** Processes of another machine cannot be checked, but no command takes this long. */
const OLD_MS = 2 * 86_400_000;

/** Whether the process that a file names has ended. */
function isLeft(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return true;
  const [host = '', pid = ''] = readFileSync(file, 'utf8').trim().split(' ');
  if (host !== hostname()) return Date.now() - found.mtimeMs > OLD_MS;
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

/**
 * Locks a folder until the returned function is called. Takes over the lock of a process that was
 * killed.
 * @throws Error that names the process which holds the lock.
 */
export function holdFolder(folder: string): () => void {
  const file = join(folder, HOLD_FILE);
  const hold = (): void => writeFileSync(file, `${hostname()} ${process.pid}\n`, { flag: 'wx' });
  try {
    hold();
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (!isLeft(file)) {
      const [host, pid] = readFileSync(file, 'utf8').trim().split(' ');
      throw new Error(
        `process ${pid} on ${host} gets files into ${folder}; wait for it, or remove ` +
          `${file} where there is no such command`,
      );
    }
    rmSync(file, { force: true });
    hold();
  }
  return () => rmSync(file, { force: true });
}
