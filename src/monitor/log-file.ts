/** The file of the request log: checks before a start that it can be written, and writes it. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { destination } from 'pino';
import { messageOf } from '../log.js';
import { errorCode } from '../base/error-code.js';

/** Means standard output instead of a path. */
const STANDARD_OUTPUT_NAME = '-';
export const STANDARD_OUTPUT = 1;
/**
 * Readable for the owner and the group that reads logs only, since lines tell who asked for what.
 */
const LOG_FILE_MODE = 0o640;
/** How many bytes are collected for one write, unless FLUSH_MS passes before. */
const BUFFER_BYTES = 8_192;
/**
 * The limit for a pipe, which several servers may share: it may take longer writes in parts
 * (POSIX).
 */
const PIPE_BYTES = 4_096;
const FLUSH_MS = 1_000;
/** Most bytes that wait for a file that takes none; lines beyond them are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 ** 2;
/**
 * How long the last lines may take when the log is closed, since the reader of a pipe may be stuck.
 */
const CLOSE_MS_MAX = 1_000;

const { O_APPEND, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/**
 * Opens a pipe without waiting for a reader: opened for reading as well, where that is allowed, it
 * has one.
 */
function openPipe(path: string): number {
  try {
    return openSync(path, O_RDWR | O_NONBLOCK);
  } catch {
    return openSync(path, O_WRONLY | O_NONBLOCK);
  }
}

function unwritten(error: unknown): Error {
  return new Error(`SITUS_REQUEST_LOG cannot be written (${messageOf(error)})`);
}

/**
 * Creates the file if it does not exist. Returns what lines are to be written to: its path, or the
 * descriptor of a pipe, which is not waited for when it is full.
 * @throws Error that names the setting when the file cannot be written.
 */
export function makeLogFile(path: string): string | number {
  if (path === STANDARD_OUTPUT_NAME) return STANDARD_OUTPUT;
  try {
    if (isPipe(path)) return openPipe(path);
    closeSync(openSync(path, 'a', LOG_FILE_MODE));
    return path;
  } catch (error) {
    throw unwritten(error);
  }
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT';
}

/**
 * Checks whether `makeLogFile` would succeed, without changing anything.
 * @throws Error that names the setting when the file cannot be written.
 */
export function checkLogFile(path: string): void {
  if (path === STANDARD_OUTPUT_NAME) return;
  try {
    closeSync(isPipe(path) ? openPipe(path) : openSync(path, O_WRONLY | O_APPEND));
  } catch (error) {
    if (!isMissing(error)) throw unwritten(error);
    try {
      rmdirSync(mkdtempSync(join(dirname(path), '.situs-')));
    } catch {
      throw unwritten(error);
    }
  }
}

/** What to call when lines could not be written, and when lines were dropped. */
interface LogFaults {
  readonly failed: (error: unknown) => void;
  readonly dropped: () => void;
}

/** Writes lines to what `makeLogFile` returned. */
export class LogFile {
  readonly lines: ReturnType<typeof destination>;
  /** Null for a file. */
  readonly #descriptor: number | null;
  /** Until when writing to a full pipe is tried again. */
  #retriedUntil = Infinity;

  constructor(made: string | number, { failed, dropped }: LogFaults) {
    this.#descriptor = typeof made === 'number' ? made : null;
    this.lines = destination({
      dest: made,
      append: true,
      sync: false,
      ...(this.#descriptor === null
        ? { minLength: BUFFER_BYTES }
        : { minLength: PIPE_BYTES / 2, maxWrite: PIPE_BYTES }),
      retryEAGAIN: () => performance.now() < this.#retriedUntil,
      maxLength: WAITING_BYTES_MAX,
      periodicFlush: FLUSH_MS,
      mode: LOG_FILE_MODE,
    });
    this.lines.on('error', failed).on('drop', dropped);
  }

  /**
   * Goes on after `makeLogFile` has opened the log again; false where that is another pipe, or no
   * longer a pipe, so that a new LogFile is needed.
   */
  goesOn(made: string | number): boolean {
    if (typeof made === 'string') {
      if (this.#descriptor === null) this.lines.reopen(made);
      return this.#descriptor === null;
    }
    if (this.#descriptor === null) return false;
    const [there, ours] = [fstatSync(made), fstatSync(this.#descriptor)];
    if (there.dev !== ours.dev || there.ino !== ours.ino) return false;
    closeSync(made);
    return true;
  }

  /** Writes the lines that wait; drops them where the file does not take them. */
  async close(): Promise<void> {
    this.#retriedUntil = performance.now() + CLOSE_MS_MAX;
    const isWritten = await new Promise<boolean>((resolve) => {
      this.lines.flush((fault) => resolve(!fault));
    });
    // When the process ends, the library would try for ever to write what a full disk did not take.
    if (!isWritten) this.lines.destroy();
    else if (this.#descriptor !== STANDARD_OUTPUT) this.lines.end();
  }
}
