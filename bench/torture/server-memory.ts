/** The memory of a process, watched from outside. */
import { readFileSync } from 'node:fs';

const SAMPLE_MS = 100;
const KILOBYTE = 1_024;

/** A field of `/proc/PID/status` in bytes; 0 where there is no such file. */
function bytesOf(pid: number, field: string): number {
  try {
    const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(
      readFileSync(`/proc/${pid}/status`, 'utf8'),
    );
    return found === null ? 0 : Number(found[1]) * KILOBYTE;
  } catch {
    return 0;
  }
}

/**
 * Samples a process. Its own memory is what no file stands behind: pages of a mapped dataset belong
 * to the cache of the system, which takes them back when it needs them.
 */
export class ServerMemory {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  /** Bytes of its own when the watch began. */
  readonly idle: number;
  #own = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.idle = bytesOf(pid, 'RssAnon');
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  /** Whether this system tells. */
  get known(): boolean {
    return this.idle > 0;
  }

  /** Most bytes of its own so far. */
  get own(): number {
    this.#sample();
    return this.#own;
  }

  /** Bytes of its own now. */
  get last(): number {
    return bytesOf(this.#pid, 'RssAnon');
  }

  /** Most bytes at a time since it began, with what is mapped from files. */
  get resident(): number {
    return bytesOf(this.#pid, 'VmHWM');
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    this.#own = Math.max(this.#own, bytesOf(this.#pid, 'RssAnon'));
  }
}
