/**
 * Folders for the copies of processes that answer beside a server, as `situs stream` and further
 * servers do, each its own: `open-beside/HOST-PID-…` below SITUS_VAR. What a process that was
 * killed has left goes with the next one.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Below SITUS_VAR. */
export const PROCESS_COPIES = 'open-beside';

const SIGN_OF_LIFE_MS = 60_000;
/** Of another machine nobody can ask which processes it has. */
const SILENT_MS_MAX = 86_400_000;

/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // One that is not ours to signal lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Folders of this process, which may have the number of one that is gone. */
const ours = new Set<string>();

function isLeft(folder: string, name: string): boolean {
  const [, host = '', pid = ''] = /^(.*)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
  if (host === hostname()) {
    return Number(pid) === process.pid ? !ours.has(name) : !isAlive(Number(pid));
  }
  const found = statSync(join(folder, name), { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > SILENT_MS_MAX;
}

/** The folder of this process, and what removes it at the end. */
interface ProcessCopies {
  readonly folder: string;
  close(): void;
}

/** Removes the folders of processes that are gone. */
export function removeLeftCopies(varDir: string): void {
  const all = join(varDir, PROCESS_COPIES);
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    if (isLeft(all, name)) rmSync(join(all, name), { recursive: true, force: true });
  }
}

/** Makes the folder of this process, and removes those of processes that are gone. */
export function openProcessCopies(varDir: string): ProcessCopies {
  removeLeftCopies(varDir);
  const name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  ours.add(name);
  const folder = join(varDir, PROCESS_COPIES, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const timer = setInterval(() => {
    const now = new Date();
    // What somebody removed has nothing to say any more.
    if (existsSync(folder)) utimesSync(folder, now, now);
  }, SIGN_OF_LIFE_MS).unref();
  return {
    folder,
    close: () => {
      clearInterval(timer);
      ours.delete(name);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
