/** What a process knows of itself (version, core dumps, memory, waiting) and of others. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { errorCode } from './error-code.js';

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
 *
 * What is made anew for each request is made among what is young, always. V8 may find, while a
 * process starts, that what some line of code makes lives long, and has all that the line makes
 * from then on beside what is old: one process in three then took a seventh more for each cart.
 */
export function collectForRequests(): void {
  setFlagsFromString('--no-concurrent-marking');
  setFlagsFromString('--heap-growing-percent=200');
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Waiting for what tells nobody when it comes true. */

const LOOK_MS = 10;

/** Waits for something to come true, up to a moment of `performance.now()`. */
export async function waitUntil(isTrue: () => boolean, until: number): Promise<void> {
  while (!isTrue() && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** What the kernel says of a process. */
interface ProcessFacts {
  /** It has ended, and waits to be asked for at most. */
  readonly ended: boolean;
  /** When it began, in the kernel's own count; empty if unknown. */
  readonly began: string;
}

/** States of a process that has ended and waits to be asked for. */
const ENDED = new Set(['Z', 'X']);

/** What can be known of a process; null where there is none of that number to be seen. */
export function processFacts(pid: number | 'self'): ProcessFacts | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name stands in brackets and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { ended: ENDED.has(fields[0] ?? ''), began: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** The kernel's name for this start of the machine; null where it has none. */
export function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return null;
  }
}

/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // One that is not ours to signal lives.
    if (errorCode(error) !== 'EPERM') return false;
  }
  return processFacts(pid)?.ended !== true;
}
