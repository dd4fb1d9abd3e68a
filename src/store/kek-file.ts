/**
 * The file of key-encryption keys: JSON, readable by its owner alone.
 *
 * {"v":1,"keys":[{"id":"…16 hex digits…","key":"…32 bytes in base64…","createdAt":"…ISO…"}]}
 *
 * The first key is the current one. During a rotation the previous ones follow it. The file is
 * only ever replaced whole, by a rename, so a reader sees the old keys or the new ones.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject, jsonOf } from '../base/json-object.js';
import { makeFolder, syncToDisk } from './folder.js';

// Key-encryption keys. They wrap data keys and are never in the store.

/** A key-encryption key with its id. */
export interface Kek {
  /** Derived from the key, so that the same key always has the same id. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** The key-encryption keys that are available. */
export interface KekSource {
  /** The key that seals. */
  current(): Kek;
  /** The key with an id, current or previous. @throws Error when it is not available. */
  find(id: string): Kek;
  /** All of them, the current one first. */
  all(): readonly Kek[];
}

const KEK_BYTES = 32;
const ID_CHARS = 16;

/** Gives a key its id. */
export function kekOf(key: Uint8Array): Kek {
  const hash = createHash('sha256').update('situs kek id 1').update(key);
  return { id: hash.digest('hex').slice(0, ID_CHARS), key };
}

/** The error for a key that is missing. */
export function missingKek(id: string, place: string): Error {
  return new Error(
    `secrets in the store are sealed with the key-encryption key ${id}, which is not in ${place}` +
      '; put the key back (it was never in the store or its backups)',
  );
}

/** Largest file that is read, far more than any rotation needs. */
const KEK_FILE_BYTES_MAX = 65_536;
const KEK_FILE_MODE = 0o600;
/** Bits of a mode that give access to the group or others. */
const OTHERS = 0o077;

/** A key in the form of the file. */
export interface KeptKek extends Kek {
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** A new random key. */
export function newKek(createdAt: string): KeptKek {
  return { ...kekOf(randomBytes(KEK_BYTES)), createdAt };
}

function keptKek(value: unknown, path: string): KeptKek {
  const damaged = new Error(`the key file ${path} is damaged: a key or its id is not as written`);
  if (!isObject(value)) throw damaged;
  const { id, key, createdAt } = value;
  if (typeof key !== 'string' || typeof createdAt !== 'string') throw damaged;
  const kek = kekOf(Buffer.from(key, 'base64'));
  if (kek.key.length !== KEK_BYTES || kek.id !== id) throw damaged;
  return { ...kek, createdAt };
}

function parseKeks(text: string, path: string): readonly [KeptKek, ...KeptKek[]] {
  // The error of the JSON parser is not passed on, since it would repeat a part of the file.
  const file = jsonOf(text, isObject);
  if (file?.['v'] !== 1 || !Array.isArray(file['keys'])) {
    throw new Error(`the key file ${path} is not in the format of this version`);
  }
  const keys: readonly unknown[] = file['keys'];
  const [first, ...rest] = keys.map((key) => keptKek(key, path));
  if (first === undefined) throw new Error(`the key file ${path} holds no key`);
  return [first, ...rest];
}

/** The problem of a mode that gives others access; null when it does not. */
export function modeProblem(mode: number, path: string): string | null {
  if ((mode & OTHERS) === 0) return null;
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return (
    `the key file ${path} has mode ${octal}: others than its owner may use it; ` +
    `run: chmod 600 ${path}`
  );
}

function besideName(path: string): string {
  return `.${basename(path)}.`;
}

/** Writes keys to a new file beside the real one; it is on the disk when this returns. */
function writeBeside(path: string, keys: readonly KeptKek[]): string {
  const beside = join(dirname(path), `${besideName(path)}${process.pid}.new`);
  rmSync(beside, { force: true });
  const file = openSync(beside, 'wx', KEK_FILE_MODE);
  try {
    const kept = keys.map(({ id, key, createdAt }) => ({
      id,
      key: Buffer.from(key).toString('base64'),
      createdAt,
    }));
    // Unlike `writeSync`, this writes all bytes or throws, also on a disk that gets full.
    writeFileSync(file, `${JSON.stringify({ v: 1, keys: kept }, null, 1)}\n`);
    fsyncSync(file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return beside;
}

/** Removes files that killed processes have left beside the real one. */
function sweep(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(besideName(path)) || !name.endsWith('.new')) continue;
    rmSync(join(folder, name), { force: true });
  }
}

/** Makes the first file. If another process has made one meanwhile, that is kept. */
function createFile(path: string): void {
  makeFolder(dirname(path), 'SITUS_KEK_FILE', 0o700);
  const beside = writeBeside(path, [newKek(new Date().toISOString())]);
  try {
    linkSync(beside, path);
  } catch {
    if (!existsSync(path)) throw new Error(`the key file ${path} cannot be made`);
  } finally {
    rmSync(beside, { force: true });
  }
  syncToDisk(dirname(path));
}

/** Identifies a state of the file; a file that replaces it has another inode. */
function stampOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}

interface Reading {
  readonly keys: readonly [KeptKek, ...KeptKek[]];
  readonly stamp: string;
}

function readKeks(path: string): Reading {
  const file = openSync(path, 'r');
  try {
    const stat = fstatSync(file, { bigint: true });
    const problem = modeProblem(Number(stat.mode), path);
    if (problem !== null) throw new Error(problem);
    if (stat.size > KEK_FILE_BYTES_MAX) {
      throw new Error(`the key file ${path} has more than ${KEK_FILE_BYTES_MAX} bytes`);
    }
    return { keys: parseKeks(readFileSync(file, 'utf8'), path), stamp: stampOf(stat) };
  } finally {
    closeSync(file);
  }
}

export class KekFile implements KekSource {
  readonly path: string;
  #keys: readonly [KeptKek, ...KeptKek[]];
  #stamp: string;
  /** All keys that this process has read, so that it can open secrets from before a rotation. */
  readonly #seen = new Map<string, Kek>();

  private constructor(path: string) {
    this.path = path;
    const { keys, stamp } = readKeks(path);
    this.#keys = keys;
    this.#stamp = stamp;
    this.#remember();
  }

  /**
   * Opens the file, or makes it where `needed` is null.
   * @param needed id of a key that secrets in the store are sealed with; null when there are none
   * @throws Error when the file is missing though needed, damaged or readable by others
   */
  static open(path: string, needed: string | null): KekFile {
    if (!existsSync(path)) {
      if (needed !== null) throw missingKek(needed, `${path}, which does not exist`);
      createFile(path);
    }
    return new KekFile(path);
  }

  /**
   * @throws Error when the file is missing or unusable, so that nothing is sealed with a lost key.
   */
  current(): Kek {
    this.#refresh();
    return this.#keys[0];
  }

  find(id: string): Kek {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return seen;
    this.#refresh();
    const found = this.#seen.get(id);
    if (found === undefined) throw missingKek(id, this.path);
    return found;
  }

  all(): readonly KeptKek[] {
    this.#refresh();
    return this.#keys;
  }

  /**
   * Replaces the file, which is on the disk when this returns. Only to be called inside a
   * transaction of the store.
   */
  replace(keys: readonly [KeptKek, ...KeptKek[]]): void {
    sweep(this.path);
    renameSync(writeBeside(this.path, keys), this.path);
    syncToDisk(dirname(this.path));
    this.#refresh();
  }

  #refresh(): void {
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) throw new Error(`the key file ${this.path} is gone; put it back`);
    if (stampOf(stat) === this.#stamp) return;
    const { keys, stamp } = readKeks(this.path);
    this.#keys = keys;
    this.#stamp = stamp;
    this.#remember();
  }

  #remember(): void {
    for (const kek of this.#keys) this.#seen.set(kek.id, kek);
  }
}
