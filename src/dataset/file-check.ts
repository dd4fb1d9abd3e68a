/** Whether the files of a release are those that were built. Maps nothing, so it cannot crash. */
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

/** A release whose files are what their checksums say. */
export interface CheckedFiles {
  readonly problems: readonly string[];
  /** What the files are; null with problems. */
  readonly stamp: Stamp | null;
}

function readSum(dir: string): string {
  try {
    return readFileSync(join(dir, CHECKSUM_FILE), 'latin1');
  } catch {
    return '';
  }
}

/**
 * Checks name, manifest and bytes of the release in `dir` without mapping anything of it.
 * @throws Error when there is no readable release at all.
 */
export function checkFiles(dir: string, progress: CheckProgress = () => undefined): CheckedFiles {
  const manifest = readManifest(dir);
  const problems: string[] = [];
  const { id, ...rest } = manifest;
  if (manifestId(rest) !== id) problems.push('the manifest is not the one that was built');
  if (!dir.endsWith(releaseName(manifest))) problems.push('the folder does not bear its name');
  const file = join(dir, DATA_FILE);
  const cut = existsSync(file) ? pageProblem(file) : `it has no ${DATA_FILE}`;
  if (cut !== null) return { problems: [...problems, cut], stamp: null };
  const sum = fileSha256(file, (done, total) => progress('bytes', done, total));
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
