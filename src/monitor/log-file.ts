/** The file of the log of requests: that it can be written, before anything is. */
import { closeSync, constants, mkdtempSync, openSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../log.js';

/** In place of a path: standard output. */
const STANDARD_OUTPUT_NAME = '-';
const STANDARD_OUTPUT = 1;
/** Lines tell who asked what: for the owner, and the group that reads logs. */
export const LOG_FILE_MODE = 0o640;

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
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
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
