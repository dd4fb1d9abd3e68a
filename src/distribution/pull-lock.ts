/**
 * Lets one process at a time pull a release into a folder of datasets: several servers may use it.
 * A file names who does; it is renewed while that works, and taken over where it has ended.
 */
import {
  mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasEnded, ownMark, type ProcessMark } from '../store/process-mark.js';

const FILE = 'owner.json';
const LOOK_MS = 200;
const RENEW_MS = 10_000;
/** Whoever cannot be seen from here, as in another container, has ended after so long. */
const SILENT_MS = 120_000;

function isMark(value: unknown): value is ProcessMark {
  return typeof value === 'object' && value !== null && 'machine' in value && 'pid' in value
    && 'began' in value;
}

/** Whether the owner that a file tells of works no more. */
function isLeft(file: string, text: string): boolean {
  try {
    const mark: unknown = JSON.parse(text);
    if (isMark(mark) && hasEnded(mark, ownMark())) return true;
    return Date.now() - statSync(file).mtimeMs > SILENT_MS;
  } catch {
    // Not written whole yet, or gone: the time tells, or the next look.
    const found = statSync(file, { throwIfNoEntry: false });
    return found !== undefined && Date.now() - found.mtimeMs > SILENT_MS;
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}

/** Takes the file away of an owner that has ended; of two that try, the other's stays. */
function takeAway(file: string, text: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (textOf(aside) !== text) renameSync(aside, file);
  } catch {
    // Another process was first.
  }
  rmSync(aside, { force: true });
}

function claimed(folder: string, file: string): boolean {
  try {
    // Whoever worked in it before may have removed it.
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify(ownMark()), { flag: 'wx' });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Waits until no other process works in the folder, and keeps others out until the returned
 * function is called.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const file = join(folder, FILE);
  while (!claimed(folder, file)) {
    const text = textOf(file);
    if (text !== null && isLeft(file, text)) takeAway(file, text);
    else await delay(LOOK_MS);
  }
  const timer = setInterval(() => {
    try {
      utimesSync(file, new Date(), new Date());
    } catch {
      // Removed with its folder.
    }
  }, RENEW_MS).unref();
  return () => {
    clearInterval(timer);
    rmSync(file, { force: true });
  };
}
