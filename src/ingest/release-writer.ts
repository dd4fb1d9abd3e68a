/**
 * Writes a release: records into LMDB, in a temporary folder that gets the release's name when it
 * is complete.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'lmdb';
import { removeLeft } from '../dataset/keeping.js';
import {
  type ByteEntries,
  NUMBER_TABLES,
  type NumberTable,
  openTables,
  RecordWriter,
  type Tables,
  TEXT_TABLES,
  type TextTable,
} from '../dataset/layout.js';
import {
  CHECKSUM_FILE,
  DATA_FILE,
  FORMAT_VERSION,
  type Manifest,
  MANIFEST_FILE,
  manifestId,
  releaseName,
} from '../dataset/manifest.js';
import type { AreaRecord, CityRecord, ComponentRecord, ZipRecord } from '../dataset/records.js';
import { releasesDir } from '../dataset/release.js';
import { RowHash } from '../dataset/row-hash.js';
import { fileSha256 } from '../dataset/stamp.js';
import type { Progress } from './model.js';

/** Everything in a release, before it is encoded. */
export interface ReleaseContent {
  readonly manifest: Omit<Manifest, 'format' | 'id' | 'dataSha256' | 'counts'>;
  readonly areas: readonly AreaRecord[];
  readonly components: readonly ComponentRecord[];
  readonly zips: readonly ZipRecord[];
  readonly cities: ReadonlyMap<string, CityRecord>;
  readonly documents: ReadonlyMap<string, object>;
  readonly tiles: ByteEntries<number>;
  readonly leaves: ByteEntries<number>;
  /** Ascending by key; read once, while the release is written. */
  readonly streets: ByteEntries<string>;
}

type Rows<K> = (readonly [K, Uint8Array])[];

interface EncodedTables {
  readonly number: Readonly<Record<NumberTable, Rows<number>>>;
  readonly text: Readonly<Record<Exclude<TextTable, 'streets'>, Rows<string>>>;
}

function byTextBytes(one: readonly [string, unknown], other: readonly [string, unknown]): number {
  return Buffer.compare(Buffer.from(one[0]), Buffer.from(other[0]));
}

function encode(content: ReleaseContent): EncodedTables {
  const writer = new RecordWriter();
  const records = <T extends object>(
    list: readonly T[],
    key: (record: T) => number,
  ): Rows<number> =>
    list
      .map((record) => [key(record), writer.encode(record)] as const)
      .sort((one, other) => one[0] - other[0]);
  const named = (map: ReadonlyMap<string, object>): Rows<string> =>
    [...map].sort(byTextBytes).map(([key, value]) => [key, writer.encode(value)] as const);
  const areas = records(content.areas, (area) => area.id);
  const components = records(content.components, (component) => component.id);
  const zips = records(content.zips, (zip) => zip.zip);
  const cities = named(content.cities);
  const documents = named(content.documents);
  return {
    number: {
      areas,
      components,
      zips,
      tiles: [...content.tiles].sort((one, other) => one[0] - other[0]),
      leaves: [...content.leaves].sort((one, other) => one[0] - other[0]),
    },
    text: {
      cities,
      documents,
      meta: [['structures', writer.structures()]],
    },
  };
}

const ROWS_PER_TRANSACTION = 20_000;
const APPEND = { append: true } as const;

/**
 * Writes rows as they arrive, and returns their number.
 * @throws Error when their keys do not ascend, since LMDB appends them without comparing.
 */
function writeTable<K extends number | string>(
  tables: Tables,
  database: Database<Uint8Array, K>,
  rows: ByteEntries<K>,
  hash: RowHash,
): number {
  const next = rows[Symbol.iterator]();
  let count = 0;
  let last: Buffer | undefined;
  try {
    for (let more = true; more; ) {
      tables.root.transactionSync(() => {
        for (let room = ROWS_PER_TRANSACTION; room > 0 && more; room -= 1) {
          const { done, value } = next.next();
          more = done !== true;
          if (done === true) break;
          const [key, bytes] = value;
          const text = Buffer.from(String(key));
          if (last !== undefined && !ascends(last, text, typeof key)) {
            throw new Error(`the key ${key} does not come after ${last.toString()}`);
          }
          database.putSync(key, bytes as Buffer, APPEND);
          hash.row(text, bytes);
          last = text;
          count += 1;
        }
      });
    }
  } finally {
    next.return?.();
  }
  return count;
}

/** Whether a key comes after another one, both given as text: compared by bytes, or as numbers. */
function ascends(last: Buffer, key: Buffer, type: string): boolean {
  if (type === 'number') return Number(last.toString()) < Number(key.toString());
  return last.compare(key) < 0;
}

interface Written {
  readonly dataSha256: string;
  readonly counts: Readonly<Record<string, number>>;
}

async function writeTables(
  file: string,
  content: ReleaseContent,
  progress: Progress,
): Promise<Written> {
  const encoded = encode(content);
  const tables = openTables(file, 'build');
  const hash = new RowHash();
  const stages = NUMBER_TABLES.length + TEXT_TABLES.length;
  const counts: Record<string, number> = {};
  let done = 0;
  try {
    for (const name of NUMBER_TABLES) {
      hash.table(name);
      counts[name] = writeTable(tables, tables.number[name], encoded.number[name], hash);
      progress('write', (done += 1), stages);
    }
    for (const name of TEXT_TABLES) {
      hash.table(name);
      const rows = name === 'streets' ? content.streets : encoded.text[name];
      counts[name] = writeTable(tables, tables.text[name], rows, hash);
      progress('write', (done += 1), stages);
    }
    await tables.root.flushed;
  } finally {
    await tables.root.close();
  }
  return { dataSha256: hash.digest(), counts };
}

function writeDurably(file: string, text: string): void {
  const fd = openSync(file, 'w');
  writeFileSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
}

/** Where a process writes a release before it has its name. */
export function temporaryDir(varDir: string, pid: number): string {
  return join(releasesDir(varDir), `.build-${pid}.tmp`);
}

function isIntact(dir: string, manifest: string): boolean {
  try {
    const sum = fileSha256(join(dir, DATA_FILE));
    return (
      readFileSync(join(dir, MANIFEST_FILE), 'utf8') === manifest &&
      readFileSync(join(dir, CHECKSUM_FILE), 'latin1') === `${sum}\n`
    );
  } catch {
    return false;
  }
}

/** Gives a release its name. An existing one is kept, unless it was damaged. */
function putInPlace(temporary: string, dir: string): void {
  try {
    // Fails where one exists. Another build may have made it just now.
    renameSync(temporary, dir);
  } catch (error) {
    if (!existsSync(dir)) throw error;
    if (isIntact(dir, readFileSync(join(temporary, MANIFEST_FILE), 'utf8'))) return;
    const damaged = `${temporary}.damaged`;
    renameSync(dir, damaged);
    renameSync(temporary, dir);
    rmSync(damaged, { recursive: true, force: true });
  }
}

/**
 * With less room than this, a failure was probably caused by it; LMDB reports an input/output error
 * then.
 */
const ROOM_BYTES_MIN = 64 * 1_048_576;

/** A build's error, with a remark if the disk of `temporary` has little room. */
export function withRoom(
  fault: unknown,
  temporary: string,
  enoughBytes: number = ROOM_BYTES_MIN,
): unknown {
  if (!existsSync(temporary)) return fault;
  const { bavail, bsize } = statfsSync(temporary);
  if (bavail * bsize >= enoughBytes || !(fault instanceof Error)) return fault;
  const left = `${Math.floor((bavail * bsize) / 1_048_576)} MiB`;
  return new Error(`${fault.message}; the disk of ${dirname(temporary)} has ${left} left`, {
    cause: fault,
  });
}

/** A folder for what a build needs until the release is written, within the release's folder. */
export function scratchDir(temporary: string): string {
  return join(temporary, 'scratch');
}

/** Makes the empty folder in which a release is written before it has its name. */
export function makeTemporary(varDir: string): string {
  removeLeft(varDir);
  const temporary = temporaryDir(varDir, process.pid);
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  return temporary;
}

/** Runs `work` in a temporary folder, which is removed afterwards. */
export async function inTemporary<T>(
  temporary: string,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  try {
    return await work(temporary);
  } catch (error) {
    throw withRoom(error, temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Writes the release below `varDir` and returns its name. If the build fails, or the release
 * already exists, nothing is left. `temporary` is the folder that `makeTemporary` made.
 */
export async function writeRelease(
  varDir: string,
  content: ReleaseContent,
  progress: Progress,
  temporary: string = makeTemporary(varDir),
): Promise<string> {
  return inTemporary(temporary, async () => {
    const { dataSha256, counts } = await writeTables(join(temporary, DATA_FILE), content, progress);
    rmSync(scratchDir(temporary), { recursive: true, force: true });
    const draft = { format: FORMAT_VERSION, ...content.manifest, dataSha256, counts };
    const manifest: Manifest = { ...draft, id: manifestId(draft) };
    writeDurably(join(temporary, CHECKSUM_FILE), `${fileSha256(join(temporary, DATA_FILE))}\n`);
    writeDurably(join(temporary, MANIFEST_FILE), `${JSON.stringify(manifest, null, 1)}\n`);
    const name = releaseName(manifest);
    putInPlace(temporary, join(releasesDir(varDir), name));
    return name;
  });
}
