/**
 * Checks a release in a process of its own: reading a torn LMDB file can end the process that does.
 * The server opens nothing else than what came through here.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isObject, jsonOf } from '../base/json-object.js';
import { messageOf } from '../log.js';

const CHECKER = fileURLToPath(new URL('../../workers/release.js', import.meta.url));

/** A check that says nothing for as long is ended: the disk does not answer. */
export const SILENT_MS_MAX = 120_000;

export type CheckProgress = (stage: string, done: number, total: number) => void;

export interface CheckOptions {
  /** Folder of the release. */
  readonly dir: string;
  /**
   * A folder that does not exist yet and bears the release's name. The release is copied into it,
   * and the copy is what is checked. Null checks the release where it is.
   */
  readonly copyTo: string | null;
  /** Leaves the processor to others. */
  readonly background: boolean;
  readonly progress: CheckProgress;
  /** Public keys, one of whose holders must have signed it; none where it need not be signed. */
  readonly signedBy?: readonly string[];
  /**
   * Ends the check. With it the checker is in a process group of its own: what is sent to the
   * caller's, as Ctrl-C is, does not reach it.
   */
  readonly signal?: AbortSignal;
}

/** The check did not come to its end, so nothing is known of the release; it may be tried again. */
export class UnfinishedCheck extends Error {
  override readonly name = 'UnfinishedCheck';
}

export interface Checked {
  /** What is wrong, one sentence each; nothing when the release is sound. */
  readonly problems: readonly string[];
  /** Folder of what was checked: `copyTo`, or `dir` where the disk had no room for a copy. */
  readonly dir: string;
}

/** A line of the checking process. */
export type CheckLine =
  | { readonly stage: string; readonly done: number; readonly total: number }
  /** Why nothing can be said of the release. */
  | { readonly unfinished: string }
  | Checked;

const under = new Set<ChildProcess>();

// Whoever ends takes the checks along.
process.once('exit', () => {
  for (const child of under) child.kill('SIGKILL');
});

function isLine(value: unknown): value is CheckLine {
  return isObject(value) && ('stage' in value || 'problems' in value || 'unfinished' in value);
}

/** Signals of a process that reads a file which lacks what LMDB looks for in it. */
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

/** What a checker that has ended by itself found; throws where it did not get that far. */
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

/** Listens to a checker until it has ended. */
function watched(child: ChildProcess, options: CheckOptions): Promise<Checked> {
  under.add(child);
  const patience = setTimeout(() => child.kill('SIGKILL'), SILENT_MS_MAX).unref();
  return new Promise<Checked>((resolve, reject) => {
    let last: CheckLine | null = null;
    child.once('error', (error) => {
      // One that runs is waited for: it may still write where the caller tidies up.
      if (child.pid === undefined) reject(error);
    });
    child.once('close', (code, signal) => {
      try {
        resolve(foundBy(last, options, code, signal));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(messageOf(error)));
      }
    });
    // Absent where there was no file descriptor left for it.
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
 * Checks a release. The stamp is written where a release without one is sound.
 * @throws UnfinishedCheck where it cannot be told whether the release is sound.
 */
export async function checkRelease(options: CheckOptions): Promise<Checked> {
  try {
    return await watched(start(options), options);
  } catch (error) {
    if (error instanceof UnfinishedCheck) throw error;
    throw new UnfinishedCheck(`the check could not be started: ${messageOf(error)}`);
  }
}
