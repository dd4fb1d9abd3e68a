/** What a process knows of itself: its program's version, core dumps, memory, waiting. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

/** As package.json has it. */
export function packageVersion(): string {
  // From dist/src/base.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

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

/**
 * Has every thread look through its own memory in steps of its own. V8 gives that to threads which
 * all others share and which run at full priority: megabytes that a worker of low priority has read
 * then keep the front end from the processor, and lookups wait (docs/benchmarks.md). To be called
 * before threads are started; V8 reads it whenever it begins to look.
 *
 * It looks anew when a heap has grown to three times of what is alive. Left to itself V8 is content
 * with a sixth more once a process has rested for a while, and stays so: a front end with a stream
 * then spent a third of its time looking, eleven times a second.
 */
export function markOnOwnThreads(): void {
  setFlagsFromString('--no-concurrent-marking');
  setFlagsFromString('--heap-growing-percent=200');
}

/** Waiting for what tells nobody when it comes true. */

const LOOK_MS = 10;

/** Waits for something to come true, up to a moment of `performance.now()`. */
export async function waitUntil(isTrue: () => boolean, until: number): Promise<void> {
  while (!isTrue() && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
