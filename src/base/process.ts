/**
 * What a process can learn about itself and others, and set for itself: version, core dumps,
 * collection of memory, waiting.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { errorCode } from './error-code.js';

/** The version in package.json. */
export function packageVersion(): string {
  // The path starts from dist/src/base.
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/**
 * Selects which memory the kernel writes into a core dump of this process. Unlike a limit on the
 * size, this also applies to dumps that are piped to a program, and a process may set it for
 * itself.
 */
const FILTER = '/proc/self/coredump_filter';

/**
 * Leaves the memory of this process, and of those it starts, out of core dumps: it holds callers'
 * keys and the key that seals secrets.
 * @returns false where the kernel offers no such setting.
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
 * Sets how V8 collects memory. Each thread marks its own heap, in small steps. By default V8 does
 * this in helper threads that all threads share and that run at full priority: after a worker of
 * low priority has read megabytes they keep the front end from the processor, and lookups wait
 * (docs/benchmarks.md). Call this before threads are started; V8 reads the setting whenever it
 * begins to mark.
 *
 * A collection begins when a heap has grown to three times the memory in use. By default, once a
 * process has rested for a while, V8 collects after a sixth more and keeps doing so: a front end
 * with a stream then spent a third of its time collecting, eleven times a second.
 *
 * Objects that a request makes are always allocated among the young ones. By default V8 may find,
 * while a process starts, that the objects of some line of code live long, and allocate all further
 * objects of that line among the old ones: one process in three then took a seventh more time for
 * each cart.
 */
export function collectForRequests(): void {
  setFlagsFromString('--no-concurrent-marking');
  setFlagsFromString('--heap-growing-percent=200');
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** How often `waitUntil` looks at a condition that announces no change. */

const LOOK_MS = 10;

/** Waits until a condition holds, but no longer than until a moment of `performance.now()`. */
export async function waitUntil(isTrue: () => boolean, until: number): Promise<void> {
  while (!isTrue() && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** What the kernel tells about a process. */
interface ProcessFacts {
  /** Whether it has ended, even if its parent has not read its exit status yet. */
  readonly ended: boolean;
  /** When it began, in the kernel's own unit; empty if unknown. */
  readonly began: string;
}

/** States of a process that has ended, but whose exit status was not read yet. */
const ENDED = new Set(['Z', 'X']);

/** What is known of a process; null where no process of that number is visible. */
export function processFacts(pid: number | 'self'): ProcessFacts | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in brackets, which may contain any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { ended: ENDED.has(fields[0] ?? ''), began: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** The kernel's id of this start of the machine; null where it has none. */
export function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return null;
  }
}

/** Whether a process runs on this machine. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process that may not be signalled exists.
    if (errorCode(error) !== 'EPERM') return false;
  }
  return processFacts(pid)?.ended !== true;
}
