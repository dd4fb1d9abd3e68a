/** Findings of releases as commands tell them. */
import { join } from 'node:path';
import { type Finding, type Manifest, readManifest } from '../dataset/manifest.js';
import { currentRelease, previousRelease, releasesDir } from '../dataset/release.js';
import { findingText } from '../ingest/findings/finding.js';
import { findingsOf } from '../ingest/findings/release-faults.js';
import { isComparable } from '../ingest/findings/list-shrunk.js';
import { progress } from './command-line.js';

/** Findings of a kind told one by one; --json has all. */
const KIND_LINES_MAX = 20;

/** Null where it is damaged or of another format, and so nothing to compare with. */
function manifestOf(varDir: string, name: string): Manifest | null {
  try {
    return readManifest(join(releasesDir(varDir), name));
  } catch {
    return null;
  }
}

/** The release that another is compared with: the active or the one before, if comparable. */
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
 * Findings of a sound release; compared with the release `against`, or with the one before of the
 * same recipe where there is one.
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
 * Tells findings, errors first, the first of each kind; returns a sentence with the number of all,
 * of which these may be some.
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
