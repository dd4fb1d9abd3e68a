/** What a folder of sources holds of the catalogue: fetched.json, one line a file. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  writeFileSync(`${file}.tmp`, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  renameSync(`${file}.tmp`, file);
}
