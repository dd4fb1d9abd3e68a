/**
 * Checks whether the files of a release are those that were built. It maps no file into memory, so
 * damaged data cannot crash the process.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CHECKSUM_FILE,
  DATA_FILE,
  MANIFEST_FILE,
  manifestId,
  readManifest,
  releaseName,
} from './manifest.js';
import { pageProblem } from './page-check.js';
import type { CheckProgress } from './release-check.js';
import { fileSha256, stampOf, type Stamp } from './stamp.js';

/** The outcome of a check of a release's files. */
interface CheckedFiles {
  readonly problems: readonly string[];
  /** Size and checksum of each file; null where there are problems. */
  readonly stamp: Stamp | null;
}

/** The line in which the release states its data's checksum; empty where it states none. */
export function readSum(dir: string): string {
  try {
    return readFileSync(join(dir, CHECKSUM_FILE), 'latin1');
  } catch {
    return '';
  }
}

/**
 * Problems of the release's name and manifest.
 * @throws Error when there is no readable release at all.
 */
function nameProblems(dir: string): readonly string[] {
  const manifest = readManifest(dir);
  const { id, ...rest } = manifest;
  return [
    ...(manifestId(rest) === id ? [] : ['the manifest is not the one that was built']),
    ...(dir.endsWith(releaseName(manifest)) ? [] : ['the folder does not bear its name']),
  ];
}

/** Problems of the data file's length. */
function cutProblems(dir: string): readonly string[] {
  const file = join(dir, DATA_FILE);
  const cut = existsSync(file) ? pageProblem(file) : `it has no ${DATA_FILE}`;
  return cut === null ? [] : [cut];
}

/**
 * All problems except those of the data file's bytes.
 * @throws Error when there is no readable release at all.
 */
export function nameAndLengthProblems(dir: string): readonly string[] {
  return [...nameProblems(dir), ...cutProblems(dir)];
}

/**
 * Checks name, manifest and bytes of the release in `dir`, without mapping a file into memory.
 * @throws Error when there is no readable release at all.
 */
export function checkFiles(dir: string, progress: CheckProgress = () => undefined): CheckedFiles {
  const cut = cutProblems(dir);
  const problems = [...nameProblems(dir), ...cut];
  if (cut.length > 0) return { problems, stamp: null };
  const sum = fileSha256(join(dir, DATA_FILE), (done, total) => progress('bytes', done, total));
  if (readSum(dir) !== `${sum}\n`) problems.push('the data differ from what was built');
  if (problems.length > 0) return { problems, stamp: null };
  return {
    problems,
    stamp: stampOf(dir, {
      [DATA_FILE]: sum,
      [MANIFEST_FILE]: fileSha256(join(dir, MANIFEST_FILE)),
      [CHECKSUM_FILE]: fileSha256(join(dir, CHECKSUM_FILE)),
    }),
  };
}
