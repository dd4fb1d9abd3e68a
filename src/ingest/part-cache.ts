/**
 * Parts of builds, kept below the folder of releases so that the next build only makes what has
 * changed: sources that were read, and runs of the street table, each named by the hash of
 * everything it depends on. For each release, a note lists its parts. Parts of no existing release
 * are removed at the end of a build. A part gets its name when it is complete.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { jsonFile } from '../base/json-object.js';
import { isAlive } from '../base/process.js';
import { releasesDir } from '../dataset/release.js';
import { SUMS_FILE } from './file-sums.js';

const FOLDER = '.cache';
const NOTE = /^release-(.+)\.json$/;
const TEMPORARY = /\.tmp-(\d+)$/;

/** What a release was made of. */
interface Note {
  readonly inputs: string;
  /** Names of parts. */
  readonly parts: readonly string[];
}

/** Hash of values that JSON can represent, as the name of a file. */
export function partKey(...values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 40);
}

/** The folder of parts below SITUS_VAR. */
export function partsDir(varDir: string): string {
  return join(releasesDir(varDir), FOLDER);
}

function readNote(folder: string, release: string): Note | null {
  return (jsonFile(join(folder, `release-${release}.json`)) as Note | null | undefined) ?? null;
}

/** The existing release that was made of these inputs; null for none. */
export function releaseMadeOf(
  varDir: string,
  inputs: string,
  releases: readonly string[],
): string | null {
  const folder = partsDir(varDir);
  return releases.findLast((name) => readNote(folder, name)?.inputs === inputs) ?? null;
}

function flush(path: string): void {
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}

/** Parts in a folder, which is kept between builds or belongs to a single one. */
export class PartCache {
  readonly #used = new Set<string>();
  readonly #made = new Set<string>();
  readonly #began = Date.now();

  /** `kept`: whether parts outlive this build, and therefore have to be flushed to the disk. */
  constructor(
    readonly folder: string,
    readonly kept: boolean,
  ) {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const [, pid] = TEMPORARY.exec(name) ?? [];
      if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name));
    }
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Path for a part until it is complete. */
  temporary(name: string): string {
    return join(this.folder, `${name}.tmp-${process.pid}`);
  }

  /** Gives a part that was written its name. An empty part has no file. */
  put(name: string): void {
    const temporary = this.temporary(name);
    if (!existsSync(temporary)) return;
    if (this.kept) flush(temporary);
    renameSync(temporary, this.path(name));
    this.#used.add(name);
    this.#made.add(name);
  }

  /** Stores a value that describes files, together with their sizes. */
  putValue(name: string, value: unknown, files: readonly string[]): void {
    const sizes = files.map((file) => [file, sizeOf(this.path(file))] as const);
    writeFileSync(this.temporary(name), serialize({ value, sizes }));
    this.put(name);
  }

  /** A stored value, if its files are unchanged; otherwise null. */
  value<Value>(name: string): Value | null {
    try {
      const { value, sizes } = deserialize(readFileSync(this.path(name))) as {
        readonly value: Value;
        readonly sizes: readonly (readonly [string, number])[];
      };
      if (sizes.some(([file, size]) => sizeOf(this.path(file)) !== size)) return null;
      const now = new Date();
      for (const own of [name, ...sizes.filter(([, size]) => size > 0).map(([file]) => file)]) {
        utimesSync(this.path(own), now, now);
        this.#used.add(own);
      }
      return value;
    } catch {
      return null;
    }
  }

  /** Removes a part that is not needed any more. */
  drop(name: string): void {
    this.#used.delete(name);
    rmSync(this.path(name), { force: true });
  }

  /**
   * Writes the note of a release, and removes parts that none of `releases` consists of. Parts that
   * another build has made or used meanwhile stay.
   */
  settle(release: string, inputs: string, releases: readonly string[]): void {
    if (!this.kept) return;
    const note: Note = { inputs, parts: [...this.#used].sort() };
    const name = `release-${release}.json`;
    writeFileSync(this.temporary(name), JSON.stringify(note));
    this.put(name);
    const wanted = new Set([SUMS_FILE]);
    for (const file of readdirSync(this.folder)) {
      const [, of = ''] = NOTE.exec(file) ?? [];
      if (!releases.includes(of)) continue;
      wanted.add(file);
      for (const part of readNote(this.folder, of)?.parts ?? []) wanted.add(part);
    }
    for (const file of readdirSync(this.folder)) {
      if (wanted.has(file) || TEMPORARY.test(file)) continue;
      const path = this.path(file);
      const idle = this.#made.has(file) || statSync(path).mtimeMs < this.#began;
      if (idle) rmSync(path, { force: true });
    }
  }
}

/** Bytes of a file; 0 where there is none, since a source without rows has no file. */
function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
