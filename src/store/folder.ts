/** Makes missing folders, checks for room on the disk, and flushes files to it. */
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
    // Another process has made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

/**
 * Makes a folder and those above it, one by one. The recursive `mkdir` of Node.js never returns on
 * a file system that accepts no folders and reports that they do not exist, such as /proc.
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
 * With less room, writes that need new pages fail. Writes that reuse freed pages still succeed, so
 * a successful write proves nothing about the next.
 */
const ROOM_BYTES_MIN = 1_048_576;

/** Whether the disk of the store has room; true where that cannot be determined. */
export function hasRoom(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    return true;
  }
}

/**
 * Flushes the entries of a folder, or the bytes of a file that is opened with 'r+', to the disk.
 */
export function syncToDisk(path: string, mode: 'r' | 'r+' = 'r'): void {
  const opened = openSync(path, mode);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
