/**
 * A process that checks one release: `release.js DIR COPY_TO BACKGROUND PUBLIC_KEYS`. An empty
 * COPY_TO means to check it where it is; PUBLIC_KEYS are given where it must be signed. Prints a
 * line of JSON for each step, and one at the end.
 */
import { existsSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { outliveHangup } from '../src/base/held-signals.js';
import { checkFiles } from '../src/dataset/file-check.js';
import type { CheckLine } from '../src/dataset/release-check.js';
import { signatureProblem } from '../src/dataset/signature.js';
import { copyRelease, RELEASE_FILES, readStamp, writeStamp } from '../src/dataset/stamp.js';
import { messageOf } from '../src/log.js';

outliveHangup();

const NICE = 10;
/** Errors that mean there is no room for a copy; the release is then used where it is. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG']);
/** Errors of a machine that lacks something at the moment, which say nothing about the release. */
const PASSING = new Set([...NO_ROOM, 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);
const STEPS_SHOWN = 100;

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof Error && 'code' in error && codes.has(String(error.code));
}

function say(line: CheckLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Prints every hundredth part of a stage. */
function progress(stage: string, done: number, total: number): void {
  const step = Math.max(1, Math.floor(total / STEPS_SHOWN));
  if (done >= total || done % step < 1) say({ stage, done, total });
}

/** Copies a release, and returns the folder to go on with. */
async function copied(dir: string, copyTo: string): Promise<string> {
  try {
    await copyRelease(dir, copyTo);
    return copyTo;
  } catch (error) {
    rmSync(copyTo, { recursive: true, force: true });
    if (hasCode(error, NO_ROOM)) return dir;
    throw error;
  }
}

async function check(dir: string, copyTo: string, signedBy: readonly string[]): Promise<CheckLine> {
  const missing = RELEASE_FILES.filter((name) => !existsSync(join(dir, name)));
  if (missing.length > 0) {
    return { problems: missing.map((name) => `it has no ${name}`), dir };
  }
  const checked = copyTo === '' ? dir : await copied(dir, copyTo);
  const { problems, stamp } = checkFiles(checked, progress);
  if (problems.length > 0 || stamp === null) return { problems, dir: checked };
  const unsigned = signedBy.length === 0 ? null : signatureProblem(dir, stamp, signedBy);
  if (unsigned !== null) return { problems: [unsigned], dir: checked };
  const known = readStamp(dir);
  const same =
    known !== null &&
    RELEASE_FILES.every((name) => known.files[name].sha256 === stamp.files[name].sha256);
  if (same) return { problems, dir: checked };
  // Loaded only when needed: most releases have their stamp already, and a server waits for this.
  const { checkRecords } = await import('../src/ingest/verify.js');
  const found = await checkRecords(checked, progress);
  if (found.length === 0) writeStamp(dir, checkFiles(dir).stamp ?? stamp);
  return { problems: found, dir: checked };
}

const [dir = '', copyTo = '', background = '', keys = ''] = process.argv.slice(2);
if (background !== '') {
  try {
    setPriority(NICE);
  } catch {
    // Not permitted here: the check only takes more of the processor than it should.
  }
}
check(dir, copyTo, keys === '' ? [] : keys.split(',')).then(say, (error: unknown) => {
  const message = messageOf(error);
  say(hasCode(error, PASSING) ? { unfinished: message } : { problems: [message], dir });
});
