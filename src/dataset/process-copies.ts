/**
 * Folders for the copies of processes that answer beside a server, as `situs stream` does, each its
 * own: `open-streams/HOST-PID` below SITUS_VAR. What a process that was killed has left goes with
 * the next one.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Below SITUS_VAR. */
export const PROCESS_COPIES = 'open-streams';

const SIGN_OF_LIFE_MS = 60_000;
/** Of another machine nobody can ask which processes it has. */
const SILENT_MS_MAX = 86_400_000;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // One that is not ours to signal lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isLeft(folder: string, name: string): boolean {
  const [, host = '', pid = ''] = /^(.*)-(\d+)$/.exec(name) ?? [];
  if (host === hostname()) return Number(pid) === process.pid || !isAlive(Number(pid));
  const found = statSync(join(folder, name), { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > SILENT_MS_MAX;
}

/** The folder of this process, and what removes it at the end. */
export interface ProcessCopies {
  readonly folder: string;
  close(): void;
}

/** Makes the folder of this process, and removes those of processes that are gone. */
export function openProcessCopies(varDir: string): ProcessCopies {
  const all = join(varDir, PROCESS_COPIES);
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    if (isLeft(all, name)) rmSync(join(all, name), { recursive: true, force: true });
  }
  const folder = join(all, `${hostname()}-${process.pid}`);
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
