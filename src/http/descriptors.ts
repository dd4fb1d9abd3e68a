/**
 * How many connections may be open. The native server turns in circles with a whole processor when
 * the process has no file descriptor left to accept a connection with, so some are always kept
 * free: a connection that would need them is closed at once.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Kept for files, datasets, workers and connections to others that are opened later. */
export const DESCRIPTORS_RESERVED = 64;

/** A third of what is free stays so where that is less. */
const RESERVED_SHARE = 3;

/** Connections that leave some free, of a process that may have `limit` and has `open`. */
export function connectionsFor(limit: number, open: number): number {
  const free = Math.max(0, limit - open);
  return Math.max(1, free - Math.min(DESCRIPTORS_RESERVED, Math.ceil(free / RESERVED_SHARE)));
}

/** Connections this process may have beside what is open; infinite where none can tell. */
export function connectionsMax(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const limit = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    if (limit === undefined) return Infinity;
    return connectionsFor(Number(limit), readdirSync('/proc/self/fd').length);
  } catch {
    return Infinity;
  }
}

/** A native app as far as its connections are counted. */
interface CountedApp {
  filter(changed: (response: { close(): unknown }, change: unknown) => void): unknown;
}

/** Closes connections that would leave the process without file descriptors. */
export class ConnectionLimit {
  #open = 0;
  #openMax = Infinity;

  /** Connections that are open. */
  get open(): number {
    return this.#open;
  }

  /** Counts those of one more app. */
  watch(app: CountedApp): void {
    app.filter((response, change) => {
      // The published types take it for a response or nothing.
      this.#open += Number(change);
      if (Number(change) > 0 && this.#open > this.#openMax) response.close();
    });
  }

  /** From now on: `more` tells how many may come beside those that are open. */
  begin(more = connectionsMax): void {
    this.#openMax = this.#open + more();
  }
}
