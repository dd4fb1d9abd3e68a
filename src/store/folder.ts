/** Folders that are made when they are missing, room on the disk, and what is written to it. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf } from '../log.js';

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function makeMissing(path: string, mode: number): void {
  if (isFolder(path)) return;
  if (existsSync(path)) throw new Error(`${path} is not a folder`);
  if (dirname(path) !== path) makeMissing(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (!isFolder(path)) throw error;
  }
}

/**
 * Makes a folder and those above it. It does so one by one: the recursive `mkdir` of Node.js never
 * returns where a file system takes no new folders and says that they do not exist, as /proc does.
 * @throws Error that names the folder and the setting that chose it.
 */
export function makeFolder(path: string, setting: string, mode = 0o777): void {
  try {
    makeMissing(resolve(path), mode);
  } catch (error) {
    const why = messageOf(error);
    throw new Error(`the folder ${path} cannot be made, ${setting} says where: ${why}`);
  }
}

/**
 * Below this, writes that need new pages fail. Those that find freed ones in the file still
 * succeed, so that a write that did tells nothing of the next.
 */
const ROOM_BYTES_MIN = 1_048_576;

/** Whether the disk of the store has room for anything; true where it cannot be told. */
export function hasRoom(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    return true;
  }
}

/** Writes a folder's entries, or the bytes of a file that is opened with 'r+', to the disk. */
export function syncToDisk(path: string, mode: 'r' | 'r+' = 'r'): void {
  const opened = openSync(path, mode);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
