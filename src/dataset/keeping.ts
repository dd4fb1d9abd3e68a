/**
 * Which releases are kept on the disk, and why. Receipts name releases, so what a release answered
 * can be asked for again; the days of its keeping count from its last answer.
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
/**
 * Names that an interrupted removal leaves, or that a process uses before a release has its name.
 */
const TEMPORARY = /^\.(?:removed-|(?:build|push)-(\d+))/;

/** How long and how many releases are kept. */
interface KeepRule {
  /** Days since the release's last answer, or since it was built where it never answered. */
  readonly days: number;
  /** This many releases that answered last are kept at any age. */
  readonly count: number;
}

interface Keeping {
  readonly name: string;
  /** Why the release is kept, as a clause; null where there is no reason. */
  readonly reason: string | null;
}

/** When a release last answered, or was built where it never did; milliseconds since 1970. */
function lastOf(varDir: string, name: string): number {
  const dir = join(releasesDir(varDir), name);
  for (const file of [ANSWERED_FILE, MANIFEST_FILE]) {
    const found = statSync(join(dir, file), { throwIfNoEntry: false });
    if (found !== undefined) return found.mtimeMs;
  }
  return 0;
}

/** Names in a folder; none where it does not exist any more. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Releases of which a server, or a process beside it, has made a copy to answer from. */
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

/** All releases and why each is kept, the oldest first. `inJobs` are those that stored jobs use. */
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

/**
 * Removes a release. It is renamed first, so that it is gone at once even if the process is killed.
 */
export function removeRelease(varDir: string, name: string): void {
  const folder = releasesDir(varDir);
  const gone = join(folder, `.removed-${name}`);
  rmSync(gone, { recursive: true, force: true });
  renameSync(join(folder, name), gone);
  rmSync(gone, { recursive: true, force: true });
}

/** What killed removals, builds and pushes have left in the folder of releases. */
export function leftIn(varDir: string): readonly string[] {
  const folder = releasesDir(varDir);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => {
    const found = TEMPORARY.exec(name);
    return found !== null && !(found[1] !== undefined && isAlive(Number(found[1])));
  });
}

/** Removes what `leftIn` lists. */
export function removeLeft(varDir: string): void {
  for (const name of leftIn(varDir)) {
    rmSync(join(releasesDir(varDir), name), { recursive: true, force: true });
  }
}
