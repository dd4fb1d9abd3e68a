/**
 * Lets one process at a time write an output that is kept under the same name until it is whole. A
 * file beside it names that process.
 */
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { isObject, jsonFile } from '../base/json-object.js';
import { errorCode } from '../base/error-code.js';
import { hasEnded, ownMark, type ProcessMark } from '../store/process-mark.js';

const RENEW_MS = 10_000;
/**
 * A process that cannot be observed from here, as on another machine or before this one was started
 * anew, has ended after this time without renewing its file.
 */
const SILENT_MS = 120_000;

function isMark(value: unknown): value is ProcessMark {
  return isObject(value) && 'machine' in value && 'pid' in value && 'began' in value;
}

/** Whether the process that a file names has ended. One that stands still has not. */
function isLeft(file: string): boolean {
  const [mark, own] = [jsonFile(file), ownMark()];
  const isSeen = isMark(mark) && mark.began !== '' && mark.machine === own.machine;
  if (isSeen && own.machine !== '') return hasEnded(mark, own);
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined || Date.now() - found.mtimeMs > SILENT_MS;
}

function claimed(file: string): boolean {
  try {
    writeFileSync(file, JSON.stringify(ownMark()), { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the file of a process that has ended. Where another process has written its own
 * meanwhile, that is put back.
 */
function takeAway(file: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (!isLeft(aside)) renameSync(aside, file);
  } catch (error) {
    // Another process may have removed it.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  rmSync(aside, { force: true });
}

/**
 * Keeps other processes from writing `output` until the returned function is called or this process
 * ends.
 * @throws Error with a sentence where another process writes it.
 */
export function holdOutput(output: string, file: string): () => void {
  if (!claimed(file)) {
    if (isLeft(file)) takeAway(file);
    if (!claimed(file)) {
      throw new Error(
        `another run writes ${output}: wait for its end or give another -o (${file})`,
      );
    }
  }
  const isOwn = (): boolean => {
    const mark = jsonFile(file);
    return isMark(mark) && mark.pid === process.pid && mark.began === ownMark().began;
  };
  const timer = setInterval(() => {
    try {
      if (isOwn()) utimesSync(file, new Date(), new Date());
    } catch {
      // Somebody has removed the file.
    }
  }, RENEW_MS).unref();
  const end = (): void => {
    clearInterval(timer);
    process.off('exit', end);
    if (isOwn()) rmSync(file, { force: true });
  };
  process.once('exit', end);
  return end;
}
