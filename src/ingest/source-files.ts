/** Finds the files of a recipe, and records each one that is read. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { SourceFile } from '../dataset/manifest.js';
import { FileSums } from './file-sums.js';
import { isMany, isPacked, readPacked } from './source/container.js';
import { nameExpression, splitMember } from './source/zip.js';

/** The folder with package.json, wherever this file was compiled to. */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir);
  return dir;
}

/** The project's folder of recipes, facts and fixture. */
export function datasetsDir(): string {
  return join(packageRoot(), 'datasets');
}

/**
 * Path of "NAME/FILE" in an npm package. The package's folder is below this one in a checkout, and
 * beside it in an installation; Node searches both.
 */
export function packageFile(path: string): string {
  const name = path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const folder = folders.find((each) => existsSync(join(each, name)));
  return join(folder ?? join(packageRoot(), 'node_modules'), path);
}

/**
 * Resolves paths of recipes: "package:NAME/FILE" is in an npm package, "facts/…" in the recipe's
 * facts, "datasets/…" in the project's own folder, everything else in the folder of sources.
 */
export class SourceFiles {
  readonly #read = new Map<string, SourceFile>();
  readonly #unpacked = new Map<string, string>();

  constructor(
    readonly factsDir: string,
    /** Folder of publishers' files; null when the build has none. */
    readonly sourcesDir: string | null,
    readonly sums = new FileSums(null),
  ) {}

  /**
   * The file's path on disk.
   * @throws Error when it is in the folder of sources and there is no such folder.
   */
  resolve(path: string): string {
    if (path.startsWith('package:')) return packageFile(path.slice('package:'.length));
    if (path.startsWith('facts/')) return join(this.factsDir, path.slice('facts/'.length));
    if (path.startsWith('datasets/')) return join(packageRoot(), path);
    if (this.sourcesDir === null) {
      throw new Error(`the recipe needs ${path}: say where with --sources DIR`);
    }
    return join(this.sourcesDir, path);
  }

  /**
   * Records that the file is part of the build. Returns its path on disk, with the archive member
   * that the path names.
   */
  note(path: string): string {
    if (isMany(path)) {
      for (const file of this.filesOf(path)) this.note(file);
      return this.resolve(path);
    }
    const named = splitMember(path);
    const file = this.resolve(named.file);
    if (!existsSync(file)) {
      throw new Error(`the recipe needs ${named.file}, which is not in ${dirname(file)}`);
    }
    if (!this.#read.has(named.file)) {
      const bytes = statSync(file).size;
      this.#read.set(named.file, { path: named.file, sha256: this.sums.of(file), bytes });
    }
    return named.member === null ? file : `${file}!${named.member}`;
  }

  /** SHA-256 of a file that is part of the build, or lies beside one that is. */
  sha256(path: string): string {
    const { file } = splitMember(path);
    return this.#read.get(file)?.sha256 ?? this.sums.of(this.resolve(file));
  }

  /** The files that a path stands for, ascending. @throws Error where no name matches. */
  filesOf(path: string): readonly string[] {
    if (!isMany(path)) return [path];
    const folder = dirname(path);
    const names = nameExpression(basename(path));
    const there = this.resolve(folder);
    const found = (existsSync(there) ? readdirSync(there) : []).filter((name) => names.test(name));
    if (found.length === 0) throw new Error(`the recipe needs ${path}, and none is in ${there}`);
    return found.sort().map((name) => `${folder}/${name}`);
  }

  /**
   * Unpacks workbooks and members of zip archives, so that `text` can return them. Several files
   * with one path are joined.
   */
  async unpack(paths: readonly (string | undefined)[]): Promise<void> {
    for (const path of paths) {
      if (path === undefined || !isPacked(path) || this.#unpacked.has(path)) continue;
      const texts: string[] = [];
      for (const file of this.filesOf(path)) {
        texts.push(await readPacked(this.note(file)));
      }
      this.#unpacked.set(path, texts.join('\n'));
    }
  }

  /**
   * Text of a file, decompressed if it is gzipped; `unpack` must have run for archives and
   * workbooks.
   */
  text(path: string): string {
    const unpacked = this.#unpacked.get(path);
    if (unpacked !== undefined) return unpacked;
    const bytes = readFileSync(this.note(path));
    return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  }

  /** Records all files in the facts folder. */
  noteFacts(): void {
    const walk = (below: string): void => {
      for (const entry of readdirSync(join(this.factsDir, below), { withFileTypes: true })) {
        const path = below === '' ? entry.name : `${below}/${entry.name}`;
        if (entry.isDirectory()) walk(path);
        else if (entry.name.endsWith('.tsv')) this.note(`facts/${path}`);
      }
    };
    walk('');
  }

  /** All recorded files, by path. */
  list(): readonly SourceFile[] {
    return [...this.#read.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}
