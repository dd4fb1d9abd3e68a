/**
 * Pulls a release in a process of its own: unpacking and checking gigabytes takes the processor and
 * a thread that answers cannot spare it. It ends with the process that started it.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { UnsoundRelease } from '../dataset/release.js';
import type { PlaceSettings } from './open-place.js';
import type { Offer } from './state.js';

const PULLER = fileURLToPath(new URL('../../workers/pull.js', import.meta.url));

/** What the process is told, as one line of JSON. */
export interface PullOrder {
  readonly place: PlaceSettings;
  readonly offer: Offer;
  readonly varDir: string;
  readonly signedBy: readonly string[];
}

/** A line of that process: how far it is, or how it ended. */
export type PullLine =
  | { readonly done: number; readonly total: number }
  | { readonly failed: string; readonly unsound: boolean }
  | { readonly pulled: true };

function isLine(value: unknown): value is PullLine {
  return typeof value === 'object' && value !== null
    && ('done' in value || 'failed' in value || 'pulled' in value);
}

function parseLine(text: string): PullLine | null {
  try {
    const value: unknown = JSON.parse(text);
    return isLine(value) ? value : null;
  } catch {
    return null;
  }
}

/** Ends the process together with the one that checks for it. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/**
 * Pulls a release; `pulled` is told the bytes that are here, of all.
 * @throws UnsoundRelease where it was pushed as it may not be used; other errors where it could not
 * be got now.
 */
export function pullApart(
  order: PullOrder, signal: AbortSignal, pulled: (done: number, total: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PULLER], {
      stdio: ['pipe', 'pipe', 'ignore'], detached: true,
    });
    let last: PullLine | null = null;
    const end = (): void => endGroup(child.pid);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    child.once('error', (error) => {
      // One that runs is waited for: it may still write.
      if (child.pid === undefined) reject(error);
    });
    child.once('close', (code, ended) => {
      signal.removeEventListener('abort', end);
      if (last !== null && 'pulled' in last) resolve();
      else if (last !== null && 'failed' in last) {
        reject(last.unsound ? new UnsoundRelease(last.failed) : new Error(last.failed));
      } else reject(new Error(`the process that pulls ended (${ended ?? `exit code ${code}`})`));
    });
    child.stdin.on('error', () => undefined);
    // Kept open: its end tells that process that nobody waits for it any more.
    child.stdin.write(`${JSON.stringify(order)}\n`);
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = parseLine(text);
      if (line === null) return;
      if ('done' in line) pulled(line.done, line.total);
      else last = line;
    });
  });
}
