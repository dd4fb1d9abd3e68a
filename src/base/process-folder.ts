/**
 * Folders that a process makes for itself and removes at its end: PREFIX HOST-PID-…. By its name is
 * known what a process has left that was killed; it goes with the next one that looks.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './process.js';

/** Of another machine nobody can ask which processes it has. */
const SILENT_MS_MAX = 86_400_000;

/** Folders of this process, which may have the number of one that is gone. */
const ours = new Set<string>();

/** Makes a folder of this process, for its user alone, below one that is there. */
export function makeProcessFolder(parent: string, prefix: string): string {
  const name = `${prefix}${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const folder = join(parent, name);
  mkdirSync(folder, { mode: 0o700 });
  ours.add(folder);
  return folder;
}

/** Removes it with all that is in it. */
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
    // Whoever opens something in it says why that cannot be.
    return [];
  }
}

/** Removes what processes that are gone have left; what another user has left may stay. */
export function removeLeftFolders(parent: string, prefix: string): void {
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    if (!name.startsWith(prefix) || !isLeft(path, name.slice(prefix.length))) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It is in nobody's way.
    }
  }
}
