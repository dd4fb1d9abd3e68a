/** Chooses where tests have their temporary files: in memory, if there is enough of it. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../src/base/process.js';

const MEMORY = '/dev/shm';
/** Matches the folder of a run, and the number of its process. */
const OF_A_RUN = /^situs-run-(\d+)-/;

/**
 * How many bytes the system could give without taking any from a process; 0 where it does not
 * report that.
 */
function bytesAvailable(): number {
  if (!existsSync('/proc/meminfo')) return 0;
  const told = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'latin1'));
  return Number(told?.[1] ?? 0) * 1_024;
}

/**
 * A folder in memory that has room for so many bytes and whose files may be executed; null where
 * there is none. The same files on a disk take more processor time, and twice as much where there
 * are thousands.
 */
export function memoryFolder(bytesMin: number): string | null {
  const mounted = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'latin1') : '';
  const [, options] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounted) ?? [];
  if (options === undefined || /\bnoexec\b/.test(options)) return null;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, bytesAvailable()) >= bytesMin ? MEMORY : null;
}

/** Four times what the files of a whole run took at most, with six test processes at once. */
const RUN_BYTES_MIN = 3_000_000_000;
/**
 * The mode of the system's folder too: some tests start programs as other users, whose folders are
 * in it.
 */
const ALL_MAY_WRITE = 0o1777;

/**
 * Makes a folder in memory for temporary files of the processes that this one starts, unless the
 * environment names one; SITUS_TEST_DISK is set to the usual folder. Returns a function that
 * removes the folder. Folders left by killed runs are removed first.
 */
export function useMemory(): () => void {
  if (process.env['TMPDIR'] !== undefined) return () => undefined;
  const memory = memoryFolder(RUN_BYTES_MIN);
  if (memory === null) return () => undefined;
  for (const name of readdirSync(memory)) {
    const [, pid] = OF_A_RUN.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) {
      rmSync(join(memory, name), { recursive: true, force: true });
    }
  }
  const dir = mkdtempSync(join(memory, `situs-run-${process.pid}-`));
  chmodSync(dir, ALL_MAY_WRITE);
  process.env['SITUS_TEST_DISK'] = tmpdir();
  process.env['TMPDIR'] = dir;
  return () => rmSync(dir, { recursive: true, force: true });
}
