/**
 * A folder of publishers' files is one command's at a time: two that write parts of the same file
 * would mix them, and each would forget what the other has got.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../writer.js';

const HOLD_FILE = '.getting';
/** Of another machine nobody can ask which processes it has; no command gets files for as long. */
const OLD_MS = 2 * 86_400_000;

/** Whether the process that a file names is gone. */
function isLeft(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return true;
  const [host = '', pid = ''] = readFileSync(file, 'utf8').trim().split(' ');
  if (host !== hostname()) return Date.now() - found.mtimeMs > OLD_MS;
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

/**
 * Holds a folder until what is returned is called; one that a killed process held is taken over.
 * @throws Error that names the process which has it.
 */
export function holdFolder(folder: string): () => void {
  const file = join(folder, HOLD_FILE);
  const hold = (): void =>
    writeFileSync(file, `${hostname()} ${process.pid}\n`, { flag: 'wx' });
  try {
    hold();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isLeft(file)) {
      const [host, pid] = readFileSync(file, 'utf8').trim().split(' ');
      throw new Error(`process ${pid} on ${host} gets files into ${folder}; wait for it, or remove `
        + `${file} where there is no such command`);
    }
    rmSync(file, { force: true });
    hold();
  }
  return () => rmSync(file, { force: true });
}
