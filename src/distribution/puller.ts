/**
 * Pulls a release in a process of its own: unpacking and checking gigabytes takes the processor and
 * a thread that answers cannot spare it. It ends with the process that started it.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isObject, jsonOf } from '../base/json-object.js';
import { packageVersion } from '../base/process.js';
import type { Config } from '../config.js';
import type { LiveDataset } from '../dataset/live.js';
import { UnsoundRelease } from '../dataset/release.js';
import type { Log } from '../log.js';
import { openPlace, type PlaceSettings } from './address.js';
import { Follower } from './follower.js';
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
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'failed'; readonly message: string; readonly unsound: boolean }
  | { readonly kind: 'pulled' };

const LINE_KINDS: readonly unknown[] = [
  'progress',
  'failed',
  'pulled',
] satisfies readonly PullLine['kind'][];

function isLine(value: unknown): value is PullLine {
  return isObject(value) && LINE_KINDS.includes(value['kind']);
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
function pullApart(
  order: PullOrder,
  signal: AbortSignal,
  pulled: (done: number, total: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PULLER], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
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
      if (last?.kind === 'pulled') resolve();
      else if (last?.kind === 'failed') {
        reject(last.unsound ? new UnsoundRelease(last.message) : new Error(last.message));
      } else reject(new Error(`the process that pulls ended (${ended ?? `exit code ${code}`})`));
    });
    child.stdin.on('error', () => undefined);
    // Kept open: its end tells that process that nobody waits for it any more.
    child.stdin.write(`${JSON.stringify(order)}\n`);
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = jsonOf(text, isLine);
      if (line === null) return;
      if (line.kind === 'progress') pulled(line.done, line.total);
      else last = line;
    });
  });
}

/** Digits that tell the nodes of one machine apart. */
const DIGITS = 6;

/** Machine, folder and process: servers may share a folder, and a machine have several. */
export function nodeName(varDir: string): string {
  const folder = createHash('sha256').update(varDir).digest('hex').slice(0, DIGITS);
  return `${hostname().replaceAll(/[^A-Za-z0-9-]+/g, '_')}-${folder}-${process.pid}`;
}

interface Opening {
  readonly config: Config;
  readonly live: LiveDataset;
  readonly log: Log;
  readonly signedBy: readonly string[];
}

/**
 * Null where no fleet is followed.
 * @throws Error that names the setting when its address cannot be used.
 */
export async function openFollower({
  config,
  live,
  log,
  signedBy,
}: Opening): Promise<Follower | null> {
  const { datasets, aws, allowPrivateNetwork, varDir } = config;
  if (datasets === '') return null;
  const settings = { datasets, aws, allowPrivateNetwork };
  return new Follower({
    place: await openPlace(settings),
    live,
    varDir,
    log,
    signedBy,
    node: nodeName(varDir),
    program: packageVersion(),
    pull: (offer, signal, pulled) =>
      pullApart({ place: settings, offer, varDir, signedBy }, signal, pulled),
  });
}
