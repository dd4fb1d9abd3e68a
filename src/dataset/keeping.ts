/**
 * Which releases are kept, and why. The days count from when a release answered last, so that what
 * it answered can be asked again for so long: receipts name releases.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST_FILE } from './manifest.js';
import { isAlive } from '../base/process.js';
import { PROCESS_COPIES } from './process-copies.js';
import { SERVER_COPIES } from './release-copy.js';
import {
  ANSWERED_FILE,
  currentRelease,
  listReleases,
  previousRelease,
  releasesDir,
} from './release.js';

const DAY_MS = 86_400_000;
/** What an interrupted removal has left, or what a process writes before it has its name. */
const TEMPORARY = /^\.(?:removed-|(?:build|push)-(\d+))/;

/** How long and how many releases are kept. */
interface KeepRule {
  /** Days after a release answered last, or was made where it never did. */
  readonly days: number;
  /** So many that answered last, whatever their age. */
  readonly count: number;
}

interface Keeping {
  readonly name: string;
  /** Why it is kept, as a clause; null where nothing speaks for it. */
  readonly reason: string | null;
}

/** When a release answered last, or was made where it never did; milliseconds since 1970. */
function lastOf(varDir: string, name: string): number {
  const dir = join(releasesDir(varDir), name);
  for (const file of [ANSWERED_FILE, MANIFEST_FILE]) {
    const found = statSync(join(dir, file), { throwIfNoEntry: false });
    if (found !== undefined) return found.mtimeMs;
  }
  return 0;
}

/** What is in a folder; nothing where it is none, or has gone meanwhile. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Releases that a server or a process beside it has copied to answer from. */
function openAtServer(varDir: string): ReadonlySet<string> {
  const streams = join(varDir, PROCESS_COPIES);
  const folders = [
    join(varDir, SERVER_COPIES),
    ...namesIn(streams).map((each) => join(streams, each)),
  ];
  return new Set(
    folders.flatMap((folder) => namesIn(folder).flatMap((copy) => namesIn(join(folder, copy)))),
  );
}

/** Every release and why it is kept, the oldest first. `inJobs` are those that jobs work on. */
export function keepings(
  varDir: string,
  { days, count }: KeepRule,
  inJobs: ReadonlySet<string>,
  nowMs: number,
): readonly Keeping[] {
  const [current, previous] = [currentRelease(varDir), previousRelease(varDir)];
  const open = openAtServer(varDir);
  const last = new Map(
    listReleases(varDir).map((name) => [name, name === current ? nowMs : lastOf(varDir, name)]),
  );
  const newest = new Set(
    [...last]
      .sort(([, one], [, other]) => other - one)
      .slice(0, count)
      .map(([name]) => name),
  );
  const reasonOf = (name: string, lastMs: number): string | null => {
    if (name === current) return 'active';
    if (name === previous) return 'previous';
    if (inJobs.has(name)) return 'a job works on it';
    if (open.has(name)) return 'a server has it open';
    const untilMs = lastMs + days * DAY_MS;
    if (untilMs > nowMs) return `kept until ${new Date(untilMs).toISOString().slice(0, 10)}`;
    return newest.has(name) ? `one of the last ${count}` : null;
  };
  return [...last].map(([name, lastMs]) => ({ name, reason: reasonOf(name, lastMs) }));
}

/** Removes a release: it is gone at once, whatever ends the process meanwhile. */
export function removeRelease(varDir: string, name: string): void {
  const folder = releasesDir(varDir);
  const gone = join(folder, `.removed-${name}`);
  rmSync(gone, { recursive: true, force: true });
  renameSync(join(folder, name), gone);
  rmSync(gone, { recursive: true, force: true });
}

/** What removals, builds and pushes that were killed have left in the folder of releases. */
export function leftIn(varDir: string): readonly string[] {
  const folder = releasesDir(varDir);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => {
    const found = TEMPORARY.exec(name);
    return found !== null && !(found[1] !== undefined && isAlive(Number(found[1])));
  });
}

/** Removes it. */
export function removeLeft(varDir: string): void {
  for (const name of leftIn(varDir)) {
    rmSync(join(releasesDir(varDir), name), { recursive: true, force: true });
  }
}
