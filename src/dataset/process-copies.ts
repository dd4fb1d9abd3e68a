/**
 * Folders for the copies of processes that answer beside a server, as `situs stream` and further
 * servers do, each its own: `open-beside/HOST-PID-…` below SITUS_VAR.
 */
import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import {
  makeProcessFolder,
  removeLeftFolders,
  removeProcessFolder,
} from '../base/process-folder.js';

/** Below SITUS_VAR. */
export const PROCESS_COPIES = 'open-beside';

const SIGN_OF_LIFE_MS = 60_000;

/** The folder of this process, and what removes it at the end. */
interface ProcessCopies {
  readonly folder: string;
  close(): void;
}

/** Removes the folders of processes that are gone. */
export function removeLeftCopies(varDir: string): void {
  removeLeftFolders(join(varDir, PROCESS_COPIES), '');
}

/** Makes the folder of this process, and removes those of processes that are gone. */
export function openProcessCopies(varDir: string): ProcessCopies {
  removeLeftCopies(varDir);
  const all = join(varDir, PROCESS_COPIES);
  mkdirSync(all, { recursive: true, mode: 0o700 });
  const folder = makeProcessFolder(all, '');
  const timer = setInterval(() => {
    const now = new Date();
    // What somebody removed has nothing to say any more.
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
