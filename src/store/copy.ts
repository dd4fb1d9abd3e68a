/**
 * Copies a whole store between a folder and a database, record by record, as bytes, including
 * damaged and sealed ones. The copy only becomes the store of its place after it was read again and
 * found to have the same records.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeProcessFolder } from '../base/process-folder.js';
import { obstacle, temporaryIn } from './backup.js';
import { makeFolder, syncToDisk } from './folder.js';
import type { StoreKey } from './format.js';
import { LmdbRoot } from './lmdb-root.js';
import { isDatabaseUrl } from './postgres/place.js';
import { storeDir } from './store.js';
import { markBegun, openIn, STORE_FILE, storeFileProblem } from './store-file.js';
import { pageOf, type RecordBytes } from './root.js';

/** Most records that are read or written at a time. */
const PAGE_RECORDS = 500;
const FILE_MODE = 0o600;

export type CopyPages = AsyncIterable<readonly RecordBytes[]>;

/** The number of records, and a checksum that does not depend on their order. */
interface CopySum {
  readonly records: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** The store that is copied. */
export interface CopySource {
  /** All its records, as of one moment. */
  pages(): CopyPages;
  close(): Promise<void>;
}

/** The store that is written. */
export interface CopyTarget {
  put(records: readonly RecordBytes[]): Promise<void>;
  /** The records that were written, read again. */
  pages(): CopyPages;
  /** Makes the copy the store of its place, which has none before that. */
  keep(): Promise<void>;
  /** Discards the copy if `keep` was not called. */
  close(): Promise<void>;
}

const SUM_MODULUS = 1n << 256n;

/** Calculates the sum of records. */
class Summing {
  #records = 0;
  #sum = 0n;

  add(records: readonly RecordBytes[]): void {
    for (const { key, value } of records) {
      const hash = createHash('sha256').update(JSON.stringify(key)).update('\0').update(value);
      this.#sum = (this.#sum + BigInt(`0x${hash.digest('hex')}`)) % SUM_MODULUS;
    }
    this.#records += records.length;
  }

  get sum(): CopySum {
    return { records: this.#records, sha256: this.#sum.toString(16).padStart(64, '0') };
  }
}

async function sumOf(pages: CopyPages): Promise<CopySum> {
  const summing = new Summing();
  for await (const page of pages) summing.add(page);
  return summing.sum;
}

async function* pagesOf(root: LmdbRoot): AsyncGenerator<readonly RecordBytes[]> {
  for (let after: StoreKey | null = null; ; ) {
    const range = after === null ? {} : { start: after, exclusiveStart: true };
    const page: readonly RecordBytes[] = [...pageOf(root.range({ ...range, limit: PAGE_RECORDS }))];
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.key;
    await new Promise(setImmediate);
  }
}

async function folderSource(varDir: string): Promise<CopySource> {
  const folder = storeDir(varDir);
  const problem = existsSync(join(folder, STORE_FILE))
    ? storeFileProblem(join(folder, STORE_FILE))
    : `there is no store in ${folder}`;
  if (problem !== null) throw new Error(problem);
  const root = await LmdbRoot.open(folder);
  const users = root.users();
  if (users.length > 0) {
    await root.close();
    throw new Error(
      `${openIn(users)}: stop the server first, or ` +
        'what it stores meanwhile is not in the copy',
    );
  }
  return { pages: () => pagesOf(root), close: () => root.close() };
}

async function folderTarget(
  varDir: string,
  begun: (temporary: string) => void,
): Promise<CopyTarget> {
  const problem = await obstacle(varDir, false);
  if (problem !== null) throw new Error(problem.replace(/; --force replaces it$/, ''));
  const temporary = temporaryIn(varDir, 'SITUS_VAR', 0o700);
  begun(temporary);
  const made = storeDir(temporary);
  mkdirSync(made, { mode: 0o700 });
  const root = await LmdbRoot.open(made);
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= root.close());
  return {
    put: (records) =>
      root.write(() => {
        for (const { key, value } of records) root.put(key, value);
      }),
    pages: () => pagesOf(root),
    keep: async () => {
      await close();
      const folder = storeDir(varDir);
      makeFolder(folder, 'SITUS_VAR', 0o700);
      chmodSync(join(made, STORE_FILE), FILE_MODE);
      renameSync(join(made, STORE_FILE), join(folder, STORE_FILE));
      syncToDisk(folder);
      markBegun(folder);
    },
    close: async () => {
      await close();
      removeProcessFolder(temporary);
    },
  };
}

/** The folder of a place; the place may begin with `lmdb:`. */
function folderOf(place: string): string {
  return place.replace(/^lmdb:(\/\/)?/, '');
}

async function sourceOf(place: string): Promise<CopySource> {
  if (!isDatabaseUrl(place)) return folderSource(folderOf(place));
  return (await import('./postgres/whole-store.js')).databaseSource(place);
}

async function targetOf(place: string, begun: (temporary: string) => void): Promise<CopyTarget> {
  if (!isDatabaseUrl(place)) return folderTarget(folderOf(place), begun);
  return (await import('./postgres/whole-store.js')).databaseTarget(place);
}

/**
 * Copies the store of one place to another, which must have no records. A place is a folder of
 * variables, with or without `lmdb:` before it, or the address of a database.
 * @param begun is given a folder that must be removed if the process is ended
 * @throws Error when there is nothing to copy, the other place has records, or the copy differs;
 * nothing is left of the copy then.
 */
export async function copyStore(
  from: string,
  to: string,
  begun: (temporary: string) => void = () => undefined,
): Promise<CopySum> {
  const source = await sourceOf(from);
  try {
    const target = await targetOf(to, begun);
    try {
      const read = new Summing();
      for await (const page of source.pages()) {
        read.add(page);
        await target.put(page);
      }
      const { records, sha256 } = await sumOf(target.pages());
      if (records !== read.sum.records || sha256 !== read.sum.sha256) {
        throw new Error(
          `the copy has ${records} records, not the ${read.sum.records} that were ` +
            'copied, or others; nothing is left of it',
        );
      }
      await target.keep();
      return read.sum;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
