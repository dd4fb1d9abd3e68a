/** What commands share: lines they write, exit codes, signals, and what a command line may hold. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** Lines that commands write: results on standard output, progress beside them. */

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Says how far a command is, on standard error: standard output is for what it gives. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Most threads that an option may ask for. */
export const THREADS_MAX = 999;

/** Takes the exit code of a command where it is not 0. */
export type End = (code: number) => void;

/** A command line that cannot be understood: exit code 2, the message says what is accepted. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The exit code of a command line that cannot be understood. */
export const BAD_USAGE = 2;

/** What the system says of files, as a sentence about the file. */
const FILE_FAULTS: Readonly<Partial<Record<string, string>>> = {
  ENOENT: 'there is no file or folder',
  ENOTDIR: 'a part of this path is no folder:',
  EISDIR: 'this is a folder:',
  EACCES: 'no permission for',
  EPERM: 'no permission for',
  EEXIST: 'there is already',
  EROFS: 'the disk is read-only:',
  ENOSPC: 'the disk is full:',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path }: NodeJS.ErrnoException = error;
  const fault = code === undefined ? undefined : FILE_FAULTS[code];
  return fault === undefined || path === undefined ? error.message : `${fault} ${path} (${code})`;
}

/** Tells on standard error why a command failed, and returns its exit code. */
export function tellFailure(error: unknown): number {
  process.stderr.write(`situs: ${reasonOf(error)}\n`);
  return error instanceof UsageError ? BAD_USAGE : 1;
}

/** Exit codes of a command that a signal ended. */
export const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
/** The server that started this command, for itself, has gone. */
const ENDS = { ...SIGNAL_CODES, disconnect: SIGNAL_CODES.SIGTERM };

/**
 * Removes a temporary folder when the command is interrupted. It goes on listening meanwhile: a
 * second signal, as of whoever is impatient, would end the process halfway through.
 */
export function removeOnSignal(temporary: string): void {
  for (const [signal, code] of Object.entries(SIGNAL_CODES)) {
    process.on(signal, () => {
      rmSync(temporary, { recursive: true, force: true });
      process.stderr.write('\ninterrupted, nothing was changed\n');
      process.exit(code);
    });
  }
}

/**
 * Calls `interrupted` for the first signal; a second one ends the process. Returns what ends the
 * watch.
 */
export function watchSignals(interrupted: () => void): () => void {
  let seen = false;
  const heard = (): void => {
    if (seen) process.exit(SIGNAL_CODES.SIGINT);
    seen = true;
    interrupted();
  };
  process.on('SIGINT', heard).on('SIGTERM', heard);
  return () => {
    process.off('SIGINT', heard).off('SIGTERM', heard);
  };
}

/** A signal that is given at the first SIGINT or SIGTERM; `end` stops listening for them. */
export function untilInterrupted(): { readonly signal: AbortSignal; end(): void } {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  return {
    signal: stop.signal,
    end: () => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    },
  };
}

/** How a process that was watched ended. */
interface WatchedEnd {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The exit code of whoever watched, where that was interrupted; 0 where it was not. */
  readonly interrupted: number;
  /** What it printed, where that was heard. */
  readonly printed: string;
}

/**
 * Runs Node.js with these words until it ends, and kills it when this process is told to end. Then
 * `tidy` removes what it left: a second signal is not listened to before that is done. What the
 * other process prints goes to standard output, or is given back where it is `heard`.
 */
export async function watched(
  words: readonly string[],
  tidy: (pid: number, code: number | null) => void | Promise<void>,
  heard = false,
): Promise<WatchedEnd> {
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', heard ? 'pipe' : 'inherit', 'inherit'],
  });
  let [interrupted, printed] = [0, ''];
  child.stdout?.on('data', (piece: Buffer) => {
    printed += piece.toString('utf8');
  });
  const hearing = Object.entries(ENDS).map(([signal, code]) => {
    const listener = (): void => {
      interrupted = code;
      child.kill('SIGKILL');
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  try {
    if (child.pid !== undefined) await tidy(child.pid, code);
  } finally {
    hearing.forEach((stop) => stop());
  }
  return { code, signal, interrupted, printed };
}

/** As a shell tells of a program that SIGPIPE ended: nobody reads what it writes. */
export const READER_GONE = 141;

/** Set in a process that another one of the same command watches. */
export function inThisProcess(): Option<'--in-this-process'> {
  return new Option('--in-this-process').hideHelp();
}

/** Set in a build whose findings the command that started it looks for, beside another release. */
export function withoutFindings(): Option<'--without-findings'> {
  return new Option('--without-findings').hideHelp();
}

/** An option that may be given several times. */
export function oneMore(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

/** An option that may be given several times, each time with one of some names. */
export function oneMoreOf<T extends string>(
  names: readonly T[],
): (text: string, earlier?: readonly T[]) => readonly T[] {
  return (text, earlier = []) => {
    const name = names.find((each) => each === text);
    if (name !== undefined) return [...earlier, name];
    throw new InvalidArgumentError(`There are: ${names.join(', ')}.`);
  };
}

/** An option that is a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

/**
 * Refuses what would be read otherwise than it is meant: words beyond those a command takes, and
 * an option as the value of the one before it (which may still be given with `=`).
 * @throws UsageError that names it.
 */
export function refuseMisread(command: CommandUnknownOpts, words: readonly string[]): void {
  const { args, registeredArguments: taken, options } = command;
  const extra = taken.at(-1)?.variadic === true ? undefined : args[taken.length];
  if (extra !== undefined) {
    throw new UsageError(`"${extra}" is one word too many; --help tells what the command takes`);
  }
  for (const option of options) {
    for (const value of [command.getOptionValue(option.attributeName())].flat()) {
      if (typeof value !== 'string' || !/^-./.test(value) || !words.includes(value)) continue;
      throw new UsageError(`option '${option.flags}' needs a value, and "${value}" is an option`);
    }
  }
}
