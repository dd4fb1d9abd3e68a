/** A folder of publishers' files: what was got into it, and that one command at a time does so. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../dataset/process-copies.js';
import { putFile } from '../../dataset/stamp.js';
import type { Version } from './transfer.js';

/** A file that was got. */
export interface FetchRecord extends Version {
  /** Below the folder of sources. */
  readonly path: string;
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Days (YYYY-MM-DD) on which it came, and on which its publisher was last asked. */
  readonly fetchedOn: string;
  readonly checkedOn: string;
}

const FILE = 'fetched.json';

function isRecord(value: unknown): value is FetchRecord {
  const { path, url, sha256 } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof path === 'string' && typeof url === 'string' && typeof sha256 === 'string';
}

/**
 * Records by key; none where nothing was got yet.
 * @throws Error when the file is there and cannot be read: what is held would be got anew.
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

/** Writes the records, whole or not at all. */
export function writeRecords(folder: string, records: ReadonlyMap<string, FetchRecord>): void {
  const file = join(folder, FILE);
  const sorted = [...records].sort((one, other) => (one[0] < other[0] ? -1 : 1));
  putFile(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/*
 * A folder of publishers' files is one command's at a time: two that write parts of the same file
 * would mix them, and each would forget what the other has got.
 */

const HOLD_FILE = '.getting';
/** Of another machine nobody can ask which processes it has; no command gets files for as long. */
const OLD_MS = 2 * 86_400_000;

/** Whether the process that a file names is gone. */
function isLeft(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return true;
  const [host = '', pid = ''] = readFileSync(file, 'utf8').trim().split(' ');
  if (host !== hostname()) return Date.now() - found.mtimeMs > OLD_MS;
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

/**
 * Holds a folder until what is returned is called; one that a killed process held is taken over.
 * @throws Error that names the process which has it.
 */
export function holdFolder(folder: string): () => void {
  const file = join(folder, HOLD_FILE);
  const hold = (): void =>
    writeFileSync(file, `${hostname()} ${process.pid}\n`, { flag: 'wx' });
  try {
    hold();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isLeft(file)) {
      const [host, pid] = readFileSync(file, 'utf8').trim().split(' ');
      throw new Error(`process ${pid} on ${host} gets files into ${folder}; wait for it, or remove `
        + `${file} where there is no such command`);
    }
    rmSync(file, { force: true });
    hold();
  }
  return () => rmSync(file, { force: true });
}
