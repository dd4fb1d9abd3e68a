/** Prints the findings of releases. */
import { join } from 'node:path';
import { type Finding, type Manifest, readManifest } from '../dataset/manifest.js';
import { currentRelease, previousRelease, releasesDir } from '../dataset/release.js';
import { findingText } from '../ingest/findings/finding.js';
import { findingsOf } from '../ingest/findings/release-faults.js';
import { isComparable } from '../ingest/findings/list-shrunk.js';
import { progress } from './command-line.js';

/** Most findings of a kind that are printed; --json has all. */
const KIND_LINES_MAX = 20;

/** Null where the release is damaged or of another format, so that nothing can be compared. */
function manifestOf(varDir: string, name: string): Manifest | null {
  try {
    return readManifest(join(releasesDir(varDir), name));
  } catch {
    return null;
  }
}

/**
 * The release to compare another with: the active one, or the one before it; null if it cannot be
 * read.
 */
export function releaseBefore(varDir: string, dir: string): Manifest | null {
  const own = readManifest(dir);
  for (const name of [currentRelease(varDir), previousRelease(varDir)]) {
    if (name === null) continue;
    const manifest = manifestOf(varDir, name);
    if (manifest !== null && manifest.id !== own.id && isComparable(manifest, own)) return manifest;
  }
  return null;
}

/**
 * The findings of a sound release, compared with the release `against`. Without that, it is
 * compared with the active release or the one before, if one of them is comparable.
 */
export async function findingsBeside(
  varDir: string,
  dir: string,
  against: string | null,
): Promise<readonly Finding[]> {
  return findingsOf(
    dir,
    against === null
      ? releaseBefore(varDir, dir)
      : readManifest(join(releasesDir(varDir), against)),
  );
}

/** How many of the findings are errors. */
export function errorsIn(findings: readonly Finding[]): number {
  return findings.filter(({ severity }) => severity === 'error').length;
}

/**
 * Prints findings, errors first, and the first ones of each kind. Returns a sentence with the
 * number of all.
 */
export function tellFindings(
  findings: readonly Finding[],
  all: readonly Finding[] = findings,
): string {
  const kinds = new Map<string, Finding[]>();
  for (const one of findings) {
    const key = `${one.severity} ${one.kind}`;
    kinds.set(key, [...(kinds.get(key) ?? []), one]);
  }
  for (const [kind, own] of [...kinds].sort(([one], [other]) => (one < other ? -1 : 1))) {
    for (const each of own.slice(0, KIND_LINES_MAX)) progress(findingText(each));
    const more = own.length - KIND_LINES_MAX;
    if (more > 0) progress(`${kind}: and ${more} more (dataset verify --json has all)`);
  }
  const errors = errorsIn(all);
  return `${errors} errors, ${all.length - errors} warnings`;
}
