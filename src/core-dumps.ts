/** Keeps secrets out of core dumps. */
import { writeFileSync } from 'node:fs';

/**
 * Which memory the kernel writes into a core dump of this process. Unlike a limit of the size it
 * holds for dumps that are piped to a program too, and a process may set it for itself.
 */
const FILTER = '/proc/self/coredump_filter';

/**
 * Leaves the memory of this process, and of those it starts, out of core dumps: keys of callers and
 * the key that seals secrets are in it.
 * @returns false where the kernel offers no such thing.
 */
export function emptyCoreDumps(): boolean {
  try {
    writeFileSync(FILTER, '0');
    return true;
  } catch {
    return false;
  }
}
