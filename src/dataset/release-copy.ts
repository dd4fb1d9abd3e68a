/**
 * Copies of releases that a server answers from, below `open` in SITUS_VAR. LMDB maps its file, and
 * a mapped file that somebody cuts, as a careless copy over it does, ends whoever reads it. So each
 * release is copied, the copy is checked, and it alone is opened: what becomes of the release's own
 * files afterwards changes no answer. One server at a time uses the folder; other processes have
 * folders of their own (process-copies.ts).
 *
 * The copy of the active release stays when the server ends, and the next one opens it at once
 * where nothing has changed: `kept.json` beside it holds size, times and inode of each file of the
 * release and of the copy, as they were when the copy was checked. A change of any byte changes the
 * time at which the system last changed a file, which nobody can set.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, type Log } from '../log.js';
import { type Checked, type CheckOptions, checkRelease } from './release-check.js';
import { currentRelease, releasesDir, unsoundRelease } from './release.js';
import { SIGNATURE_FILE } from './signature.js';
import { putFile, readStamp, RELEASE_FILES } from './stamp.js';
import { makeStampedCopy, type StampedCopyOptions } from './stamped-copy.js';

/** Interval at which the log reports the progress of a long check. */
const TOLD_MS = 1_000;

/** A checked release that is ready to be opened. */
export interface PreparedRelease {
  readonly dir: string;
  /** Removes the copy from the disk. To be called where it was not opened, or gave no answers. */
  remove(): void;
  /**
   * Called when nobody opens it any more. The copy is removed, unless the next server may use it.
   */
  leave(): void;
}

/** A release that is opened in its own folder, without a copy. */
export function inPlace(dir: string): PreparedRelease {
  return { dir, remove: () => undefined, leave: () => undefined };
}

export interface PrepareOptions {
  /** Whether the check runs at low priority. */
  readonly background: boolean;
  /** Ends the check when aborted. */
  readonly signal: AbortSignal;
}

/** Name of the folder below SITUS_VAR. */
export const SERVER_COPIES = 'open';

const KEPT_FILE = 'kept.json';

/** Size, times and inode of the files of a release, as one text; null where a file is missing. */
export function factsOf(dir: string): string | null {
  try {
    return JSON.stringify(
      [...RELEASE_FILES, SIGNATURE_FILE].map((name) => {
        const found = statSync(join(dir, name), { throwIfNoEntry: name !== SIGNATURE_FILE });
        return found === undefined
          ? [name]
          : [name, found.size, found.mtimeMs, found.ctimeMs, found.ino];
      }),
    );
  } catch {
    return null;
  }
}

/**
 * The text beside a copy of a release: the state of the files of both, and whose signature was
 * required, so that any change is noticed.
 */
function keptText(release: string, copy: string, signedBy: readonly string[]): string | null {
  const [from, to] = [factsOf(release), factsOf(copy)];
  return from === null || to === null ? null : JSON.stringify({ v: 2, from, to, signedBy });
}

/** Flushes every file of a copy to the disk, and then writes that the copy may be used again. */
async function keep(own: string, copy: string, text: string): Promise<void> {
  for (const name of RELEASE_FILES) {
    const file = await open(join(copy, name), 'r');
    await file.sync().finally(() => file.close());
  }
  putFile(join(own, KEPT_FILE), text);
}

/**
 * Checks in a separate process where a release answers already (`background`), or this one has no
 * stamp. Otherwise, compares with the stamp here, which is quicker.
 */
async function copyOf(asked: CheckOptions & StampedCopyOptions): Promise<Checked> {
  if (asked.background || readStamp(asked.dir) === null) return checkRelease(asked);
  const copied = await makeStampedCopy(asked);
  return copied ? { problems: [], dir: asked.copyTo } : checkRelease(asked);
}

export class ReleaseCopies {
  readonly #varDir: string;
  readonly #log: Log;
  readonly #signedBy: readonly string[];
  readonly #folder: string;
  /** The copy that the last server left, until `prepare` uses it. */
  #kept: { readonly name: string; readonly own: string } | null = null;

  /**
   * Removes what the last server left, except for an unchanged copy of the active release. One of
   * the public keys must have signed each release, if there are any. Copies lie in `folder`.
   */
  constructor(
    varDir: string,
    log: Log,
    signedBy: readonly string[],
    folder = join(varDir, SERVER_COPIES),
  ) {
    this.#varDir = varDir;
    this.#folder = folder;
    this.#log = log;
    this.#signedBy = signedBy;
    const name = currentRelease(varDir);
    for (const each of existsSync(this.#folder) ? readdirSync(this.#folder) : []) {
      const own = join(this.#folder, each);
      if (this.#kept === null && name !== null && this.#isKept(own, name)) {
        this.#kept = { name, own };
      } else rmSync(own, { recursive: true, force: true });
    }
  }

  /**
   * Copies and checks a release, or uses the copy that is there.
   * @throws UnsoundRelease with a sentence; UnfinishedCheck when that could not be told now.
   */
  async prepare(name: string, { background, signal }: PrepareOptions): Promise<PreparedRelease> {
    const kept = this.#take(name);
    if (kept !== null) return this.#prepared(name, kept, join(kept, name));
    const dir = join(releasesDir(this.#varDir), name);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const own = mkdtempSync(join(this.#folder, 'copy-'));
    const remove = (): void => rmSync(own, { recursive: true, force: true });
    const before = factsOf(dir);
    const asked = {
      dir,
      copyTo: join(own, name),
      background,
      signal,
      progress: this.#teller(name),
      signedBy: this.#signedBy,
    };
    const checked = await copyOf(asked).catch((error: unknown) => {
      remove();
      if (!signal.aborted) {
        this.#log.warn('dataset not checked', { dataset: name, message: messageOf(error) });
      }
      throw error;
    });
    if (checked.problems.length > 0) {
      remove();
      throw unsoundRelease(name, checked.problems);
    }
    if (checked.dir === dir) {
      // The folder tells those who remove releases that this one is in use.
      mkdirSync(join(own, name), { recursive: true });
      this.#log.warn('dataset not copied', {
        dataset: name,
        message: 'the disk has no room; do not touch its files while it answers',
      });
      return { ...inPlace(dir), remove, leave: remove };
    }
    const text = before === factsOf(dir) ? keptText(dir, checked.dir, this.#signedBy) : null;
    // Where this fails, or the copy is gone by then, the next server makes its own copy.
    if (text !== null) keep(own, checked.dir, text).catch(() => undefined);
    return this.#prepared(name, own, checked.dir);
  }

  #prepared(name: string, own: string, dir: string): PreparedRelease {
    const remove = (): void => rmSync(own, { recursive: true, force: true });
    return {
      dir,
      remove,
      leave: () => {
        if (currentRelease(this.#varDir) !== name) remove();
      },
    };
  }

  /**
   * The folder of the copy that the last server left of a release, if it is unchanged; otherwise
   * null.
   */
  #take(name: string): string | null {
    const kept = this.#kept;
    if (kept === null) return null;
    this.#kept = null;
    if (kept.name === name && this.#isKept(kept.own, name)) return kept.own;
    rmSync(kept.own, { recursive: true, force: true });
    return null;
  }

  /** Whether a copy and its release are unchanged since the copy was checked. */
  #isKept(own: string, name: string): boolean {
    const dir = join(releasesDir(this.#varDir), name);
    try {
      // Requires a stamp of the present version, so that its check covers all that is checked
      // today.
      const kept = readFileSync(join(own, KEPT_FILE), 'utf8');
      return readStamp(dir) !== null && kept === keptText(dir, join(own, name), this.#signedBy);
    } catch {
      return false;
    }
  }

  #teller(dataset: string): (stage: string, done: number, total: number) => void {
    let told = Date.now();
    return (stage, done, total) => {
      if (Date.now() - told < TOLD_MS) return;
      told = Date.now();
      this.#log.info('dataset being checked', { dataset, stage, done, total });
    };
  }
}
