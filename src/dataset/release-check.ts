/**
 * Checks a release in a process of its own, because reading a damaged LMDB file can end the process
 * that reads it. A server opens only what passed this check.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isObject, jsonOf } from '../base/json-object.js';
import { messageOf } from '../log.js';

const CHECKER = fileURLToPath(new URL('../../workers/release.js', import.meta.url));

/** A check without any progress for this long is ended, since the disk does not answer. */
export const SILENT_MS_MAX = 120_000;

export type CheckProgress = (stage: string, done: number, total: number) => void;

export interface CheckOptions {
  /** Folder of the release. */
  readonly dir: string;
  /**
   * A folder that does not exist yet, named as the release. The release is copied into it and the
   * copy is checked. Null to check the release where it is.
   */
  readonly copyTo: string | null;
  /** Whether the check runs at low priority. */
  readonly background: boolean;
  readonly progress: CheckProgress;
  /**
   * Public keys, one of whose holders must have signed the release; empty where none is required.
   */
  readonly signedBy?: readonly string[];
  /**
   * Ends the check. If given, the checker has a process group of its own, so that signals to the
   * caller's group, such as Ctrl-C, do not reach it.
   */
  readonly signal?: AbortSignal;
}

/** The check was interrupted, so nothing is known about the release; it may be repeated. */
export class UnfinishedCheck extends Error {
  override readonly name = 'UnfinishedCheck';
}

export interface Checked {
  /** The problems found, one sentence each; empty when the release is sound. */
  readonly problems: readonly string[];
  /** Folder of what was checked: `copyTo`, or `dir` where the disk had no room for a copy. */
  readonly dir: string;
}

/** A line that the checking process writes: its progress, or the outcome. */
export type CheckLine =
  | { readonly stage: string; readonly done: number; readonly total: number }
  /** Why the check has no outcome. */
  | { readonly unfinished: string }
  | Checked;

const under = new Set<ChildProcess>();

// When this process ends, the checks that it started end too.
process.once('exit', () => {
  for (const child of under) child.kill('SIGKILL');
});

function isLine(value: unknown): value is CheckLine {
  return isObject(value) && ('stage' in value || 'problems' in value || 'unfinished' in value);
}

/** Signals that end a process which reads beyond the end of a mapped file or at a wrong address. */
const UNREADABLE: ReadonlySet<string | null> = new Set(['SIGBUS', 'SIGSEGV']);

function start({ dir, copyTo, background, signedBy = [], signal }: CheckOptions): ChildProcess {
  return spawn(
    process.execPath,
    [CHECKER, dir, copyTo ?? '', background ? 'background' : '', signedBy.join()],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: signal !== undefined,
      signal,
      killSignal: 'SIGKILL',
    },
  );
}

/** The outcome of a checker that ended by itself. @throws UnfinishedCheck where it has none. */
function foundBy(
  last: CheckLine | null,
  { dir, copyTo }: CheckOptions,
  code: number | null,
  signal: string | null,
): Checked {
  if (last !== null && 'problems' in last) return last;
  if (UNREADABLE.has(signal)) {
    const problem = `the data cannot be read: the process that read them was ended by ${signal}`;
    return { problems: [problem], dir: copyTo ?? dir };
  }
  throw new UnfinishedCheck(
    last !== null && 'unfinished' in last
      ? last.unfinished
      : `the check did not come to its end (${signal ?? `exit code ${code}`})`,
  );
}

/** Reads the lines of a checker until it has ended. */
function watched(child: ChildProcess, options: CheckOptions): Promise<Checked> {
  under.add(child);
  const patience = setTimeout(() => child.kill('SIGKILL'), SILENT_MS_MAX).unref();
  return new Promise<Checked>((resolve, reject) => {
    let last: CheckLine | null = null;
    child.once('error', (error) => {
      // A process that was started may still write into the caller's folder, so its end is awaited.
      if (child.pid === undefined) reject(error);
    });
    child.once('close', (code, signal) => {
      try {
        resolve(foundBy(last, options, code, signal));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(messageOf(error)));
      }
    });
    // Absent where the system had no file descriptor left for it.
    const output: Readable | null | undefined = child.stdout;
    if (!output) return;
    createInterface({ input: output }).on('line', (text) => {
      patience.refresh();
      const line = jsonOf(text, isLine);
      if (line === null) return;
      if ('stage' in line) options.progress(line.stage, line.done, line.total);
      else last = line;
    });
  }).finally(() => {
    clearTimeout(patience);
    under.delete(child);
  });
}

/**
 * Checks a release. A stamp is written for a sound release that has none.
 * @throws UnfinishedCheck where it could not be told whether the release is sound.
 */
export async function checkRelease(options: CheckOptions): Promise<Checked> {
  try {
    return await watched(start(options), options);
  } catch (error) {
    if (error instanceof UnfinishedCheck) throw error;
    throw new UnfinishedCheck(`the check could not be started: ${messageOf(error)}`);
  }
}
