/**
 * Folders that a process makes for itself and removes at its end, named PREFIX HOST-PID-…. The name
 * tells whose folder it is, so that another process can remove those that a killed process has
 * left.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './process.js';

/**
 * A process cannot be looked up on another machine; its folder counts as left after this time
 * without a change.
 */
const SILENT_MS_MAX = 86_400_000;

/** Folders of this process, whose number an ended process may have had before it. */
const ours = new Set<string>();

/** Makes a folder for this process, open to its user alone, in an existing folder. */
export function makeProcessFolder(parent: string, prefix: string): string {
  const name = `${prefix}${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const folder = join(parent, name);
  mkdirSync(folder, { mode: 0o700 });
  ours.add(folder);
  return folder;
}

/** Removes a folder of this process with all that is in it. */
export function removeProcessFolder(folder: string): void {
  ours.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

function isLeft(path: string, owner: string): boolean {
  const [, host = '', pid = ''] = /^(.*)-(\d+)-[0-9a-f]+$/.exec(owner) ?? [];
  if (pid === '') return false;
  if (host === hostname()) {
    return Number(pid) === process.pid ? !ours.has(path) : !isAlive(Number(pid));
  }
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > SILENT_MS_MAX;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Whoever opens something in the folder reports why it cannot be read.
    return [];
  }
}

/** Removes the folders that ended processes have left; those of another user may stay. */
export function removeLeftFolders(parent: string, prefix: string): void {
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    if (!name.startsWith(prefix) || !isLeft(path, name.slice(prefix.length))) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // A folder that cannot be removed does no harm.
    }
  }
}
