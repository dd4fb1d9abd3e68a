/** What commands share: output, exit codes, signals, and checks of the command line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** Commands write results to standard output, and messages on their progress to standard error. */

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a message on a command's progress to standard error. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Largest number of threads that an option accepts. */
export const THREADS_MAX = 999;

/** Is given the exit code of a command where it is not 0. */
export type End = (code: number) => void;

/** The command line is not valid: exit code 2. The message says what is accepted. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The exit code for a command line that is not valid. */
export const BAD_USAGE = 2;

/** Errors of the file system, as the end of a sentence about the file. */
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

/** Writes to standard error why a command failed, and returns its exit code. */
export function tellFailure(error: unknown): number {
  process.stderr.write(`situs: ${reasonOf(error)}\n`);
  return error instanceof UsageError ? BAD_USAGE : 1;
}

/** Exit codes of a command that a signal ended. */
export const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
/** `disconnect` means that the server that started this command has gone. */
const ENDS = { ...SIGNAL_CODES, disconnect: SIGNAL_CODES.SIGTERM };

/**
 * Removes a temporary folder when the command is interrupted. Further signals are still caught
 * meanwhile, because a second one would end the process before the folder is removed.
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
 * Calls `interrupted` at the first signal; a second one ends the process. Returns a function that
 * stops listening.
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

/**
 * An AbortSignal that is aborted at the first SIGINT or SIGTERM; `end` stops listening for them.
 */
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

/** How a process that was waited for has ended. */
interface WatchedEnd {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Exit code for this process where it was interrupted meanwhile; otherwise 0. */
  readonly interrupted: number;
  /** What the process printed, if `heard` was set. */
  readonly printed: string;
}

/**
 * Runs Node.js with these arguments until it ends, and kills it when this process is interrupted.
 * `tidy` then removes what it left, and no second signal is obeyed before that is done. What the
 * process prints goes to standard output, or is returned where `heard` is set.
 */
export async function watched(
  words: readonly string[],
  tidy: (pid: number, code: number | null) => void | Promise<void>,
  heard = false,
): Promise<WatchedEnd> {
  const child = spawn(process.execPath, words, {
    stdio: [
      'ignore',
      heard ? 'pipe' : 'inherit',
      'inherit',
      // By a channel it knows that a server builds its first dataset (src/cli.ts).
      ...(process.connected ? (['ipc'] as const) : []),
    ],
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

/** Exit code, as of a program that SIGPIPE ended: nobody reads what the command writes. */
export const READER_GONE = 141;

/**
 * Ends like other tools when nobody reads their output: by SIGPIPE, which a shell reports as 141.
 * Node ignores that signal; when its last listener is removed, libuv restores the default action.
 * `process.exit` is not used, because it ends worker threads first and aborts where one is still
 * loading. Listeners for the end of the process, which remove unfinished files, are called first.
 */
export function endByBrokenPipe(): void {
  process.emit('exit', READER_GONE);
  const listener = (): void => undefined;
  process.on('SIGPIPE', listener);
  process.off('SIGPIPE', listener);
  process.kill(process.pid, 'SIGPIPE');
}

/** An option for a process that was started by another one of the same command. */
export function inThisProcess(): Option<'--in-this-process'> {
  return new Option('--in-this-process').hideHelp();
}

/** An option for a build whose findings are read by the command that started it. */
export function withoutFindings(): Option<'--without-findings'> {
  return new Option('--without-findings').hideHelp();
}

/** Reads an option that may be given several times. */
export function oneMore(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

/** Reads an option that may be given several times, each time one of some names. */
export function oneMoreOf<T extends string>(
  names: readonly T[],
): (text: string, earlier?: readonly T[]) => readonly T[] {
  return (text, earlier = []) => {
    const name = names.find((each) => each === text);
    if (name !== undefined) return [...earlier, name];
    throw new InvalidArgumentError(`There are: ${names.join(', ')}.`);
  };
}

/** Reads an option that is a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

/**
 * Refuses a command line that would not do what is meant: with more words than the command takes,
 * or with an option as the value of the option before it. (Such a value may be given with `=`.)
 * @throws UsageError that names the word or the option.
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
