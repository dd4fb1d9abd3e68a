/**
 * Folders for the copies of releases that processes beside a server answer from, such as `situs
 * stream` or a second server. Each process has its own: `open-beside/HOST-PID-…` below SITUS_VAR.
 */
import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import {
  makeProcessFolder,
  removeLeftFolders,
  removeProcessFolder,
} from '../base/process-folder.js';

/** Name of the folder below SITUS_VAR. */
export const PROCESS_COPIES = 'open-beside';

const SIGN_OF_LIFE_MS = 60_000;

/** The folder of this process, and how to remove it at the end. */
interface ProcessCopies {
  readonly folder: string;
  close(): void;
}

/** Removes the folders of processes that have ended. */
export function removeLeftCopies(varDir: string): void {
  removeLeftFolders(join(varDir, PROCESS_COPIES), '');
}

/** Makes the folder of this process. Removes those of processes that have ended. */
export function openProcessCopies(varDir: string): ProcessCopies {
  removeLeftCopies(varDir);
  const all = join(varDir, PROCESS_COPIES);
  mkdirSync(all, { recursive: true, mode: 0o700 });
  const folder = makeProcessFolder(all, '');
  const timer = setInterval(() => {
    const now = new Date();
    // Where somebody has removed the folder there is nothing to renew.
    if (existsSync(folder)) utimesSync(folder, now, now);
  }, SIGN_OF_LIFE_MS).unref();
  return {
    folder,
    close: () => {
      clearInterval(timer);
      removeProcessFolder(folder);
    },
  };
}
