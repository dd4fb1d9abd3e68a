/** The file of the log of requests: that it can be written, before anything is. */
import { closeSync, constants, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../log.js';

/** In place of a path: standard output. */
export const STANDARD_OUTPUT_NAME = '-';
/** Lines tell who asked what: for the owner, and the group that reads logs. */
export const LOG_FILE_MODE = 0o640;

/** A look is not to wait for whoever reads a pipe. */
const LOOK = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;

function unwritten(error: unknown): Error {
  return new Error(`SITUS_REQUEST_LOG cannot be written (${messageOf(error)})`);
}

/**
 * Makes the file where there is none.
 * @throws Error that names the setting when it cannot be written.
 */
export function makeLogFile(path: string): void {
  if (path === STANDARD_OUTPUT_NAME) return;
  try {
    closeSync(openSync(path, 'a', LOG_FILE_MODE));
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
    closeSync(openSync(path, LOOK));
  } catch (error) {
    if (!isMissing(error)) throw unwritten(error);
    try {
      rmdirSync(mkdtempSync(join(dirname(path), '.situs-')));
    } catch {
      throw unwritten(error);
    }
  }
}
