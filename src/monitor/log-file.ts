/** The file of the log of requests: that it can be written, before anything is, and writing it. */
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

/** In place of a path: standard output. */
const STANDARD_OUTPUT_NAME = '-';
export const STANDARD_OUTPUT = 1;
/** Lines tell who asked what: for the owner, and the group that reads logs. */
const LOG_FILE_MODE = 0o640;
/** Bytes of lines that are written together; what is less is written within the time below. */
const BUFFER_BYTES = 8_192;
/** Of a pipe, which several servers may share: more than a page it may take in parts (POSIX). */
const PIPE_BYTES = 4_096;
const FLUSH_MS = 1_000;
/** Bytes that wait for a file that takes none; lines beyond them are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 ** 2;
/** How long what waits may take at the end: whoever reads a pipe may stand still. */
const CLOSE_MS_MAX = 1_000;

const { O_APPEND, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/** Waits for nobody: where it may be read it is its own reader until another one comes. */
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
 * Makes the file where there is none; what lines are to be written to: its path, or the descriptor
 * of a pipe, which is not waited for when it is full.
 * @throws Error that names the setting when it cannot be written.
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
 * Looks whether `makeLogFile` would do, and leaves everything as it is.
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

/** Told of lines that could not be written, and of those that were dropped. */
interface LogFaults {
  readonly failed: (error: unknown) => void;
  readonly dropped: () => void;
}

/** Writes lines to what `makeLogFile` made. */
export class LogFile {
  readonly lines: ReturnType<typeof destination>;
  /** Null for a file. */
  readonly #descriptor: number | null;
  /** When a pipe that is full is given up. */
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

  /** Goes on with what was made anew; false where that is another pipe, or no pipe any more. */
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

  /** Writes what waits; where the file does not take it, that is dropped. */
  async close(): Promise<void> {
    this.#retriedUntil = performance.now() + CLOSE_MS_MAX;
    const isWritten = await new Promise<boolean>((resolve) => {
      this.lines.flush((fault) => resolve(!fault));
    });
    // The library tries again for ever, as the process ends, what a full disk did not take.
    if (!isWritten) this.lines.destroy();
    else if (this.#descriptor !== STANDARD_OUTPUT) this.lines.end();
  }
}
