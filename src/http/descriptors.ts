/**
 * How many connections may be open. When the process has no file descriptor left to accept a
 * connection with, the native server loops and takes a whole processor. So some descriptors are
 * always left free, and a connection that would need one of them is closed at once.
 */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * File descriptors left for files, datasets, workers and outgoing connections that are opened
 * later.
 */
export const DESCRIPTORS_RESERVED = 64;

/** Where a third of the free ones is less than that, only a third is left. */
const RESERVED_SHARE = 3;

/** How many connections a process may have that may open `limit` files and has opened `open`. */
export function connectionsFor(limit: number, open: number): number {
  const free = Math.max(0, limit - open);
  return Math.max(1, free - Math.min(DESCRIPTORS_RESERVED, Math.ceil(free / RESERVED_SHARE)));
}

/** How many further connections this process may have; Infinity where the system does not tell. */
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

/** The part of a native app that reports its connections. */
interface CountedApp {
  filter(changed: (response: { close(): unknown }, change: unknown) => void): unknown;
}

/** Closes connections that would leave the process without free file descriptors. */
export class ConnectionLimit {
  #open = 0;
  #openMax = Infinity;

  /** How many connections are open. */
  get open(): number {
    return this.#open;
  }

  /** Counts the connections of one more app. */
  watch(app: CountedApp): void {
    app.filter((response, change) => {
      // The published types declare `change` wrongly; it is 1 or -1.
      this.#open += Number(change);
      if (Number(change) > 0 && this.#open > this.#openMax) response.close();
    });
  }

  /**
   * Enforces the limit from now on; `more` returns how many connections may come beside those open.
   */
  begin(more = connectionsMax): void {
    this.#openMax = this.#open + more();
  }
}
