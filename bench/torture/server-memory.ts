/** Watches the memory of another process. */
import { readFileSync } from 'node:fs';

const SAMPLE_MS = 100;
const KILOBYTE = 1_024;

/** A field of `/proc/PID/status` in bytes; 0 where that cannot be read. */
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
 * Samples the memory of a process. Its own memory excludes pages of mapped files: those of a
 * dataset belong to the system's cache, which takes them back when needed.
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

  /** Whether this system reports the memory of a process. */
  get known(): boolean {
    return this.idle > 0;
  }

  /** The most bytes of its own so far. */
  get own(): number {
    this.#sample();
    return this.#own;
  }

  /** The bytes of its own at present. */
  get last(): number {
    return bytesOf(this.#pid, 'RssAnon');
  }

  /** The most bytes since its start, including mapped files. */
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
