/**
 * Pulls a release in a separate process, since unpacking and checking gigabytes would hold up the
 * thread that answers. The process ends with the one that started it.
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

/** The order for the process, written to it as one line of JSON. */
export interface PullOrder {
  readonly place: PlaceSettings;
  readonly offer: Offer;
  readonly varDir: string;
  readonly signedBy: readonly string[];
}

/** A line that the process writes: its progress, or its outcome. */
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

/** Ends the process, together with the one that checks the release for it. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}

/**
 * Pulls a release. `pulled` is called with the bytes that have arrived, and with the whole number.
 * @throws UnsoundRelease where the pushed release may not be used; other errors where it could not
 * be pulled now.
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
      // Only a process that never started has no other end. One that runs may still write, so its
      // end is awaited.
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
    // The input stays open. Its end tells the process that nobody waits for it any more.
    child.stdin.write(`${JSON.stringify(order)}\n`);
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = jsonOf(text, isLine);
      if (line === null) return;
      if (line.kind === 'progress') pulled(line.done, line.total);
      else last = line;
    });
  });
}

/** Digits that distinguish the nodes on one machine. */
const DIGITS = 6;

/**
 * A node's name, from machine, folder and process: servers may share a folder, and a machine may
 * have several.
 */
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
 * Opens the follower; null where no fleet is followed.
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
