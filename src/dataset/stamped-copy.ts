/**
 * Compares a release with its stamp in this process, also while it copies the release. For a
 * command, or a server that does not answer yet, this is quicker than starting a process. No file
 * is mapped into memory, so damage cannot end this process. It only confirms: where bytes differ
 * from the stamp, checkRelease finds out what is wrong.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { nameAndLengthProblems, readSum } from './file-check.js';
import { DATA_FILE } from './manifest.js';
import {
  type CheckOptions,
  type CheckProgress,
  SILENT_MS_MAX,
  UnfinishedCheck,
} from './release-check.js';
import { signatureProblem } from './signature.js';
import { copyRelease, type BytesRead, PIECE_BYTES, readStamp, RELEASE_FILES } from './stamp.js';

type StampedOptions = Pick<CheckOptions, 'dir' | 'progress' | 'signedBy'>;

export type StampedCopyOptions = StampedOptions & {
  /** A folder that does not exist yet, named as the release. */
  readonly copyTo: string;
  readonly signal: AbortSignal;
};

const UNFINISHED = 'the check did not come to its end';

/** SHA-256 of a file in hexadecimal; other work can run between its pieces. */
async function sumOf(path: string, read: BytesRead, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    let done = 0;
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(piece, 0, piece.length);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, bytesRead));
      done += bytesRead;
      read(done, Math.max(done, size));
    }
  } finally {
    await file.close();
  }
}

/** Whether the files in `checked` have the bytes of the stamp of the release in `dir`. */
async function areStamped(
  { dir, signedBy = [], progress }: StampedOptions,
  checked: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const stamp = readStamp(dir);
  if (stamp === null) return false;
  if (signedBy.length > 0 && signatureProblem(dir, stamp, signedBy) !== null) return false;
  if (nameAndLengthProblems(checked).length > 0) return false;
  for (const name of RELEASE_FILES) {
    const read: BytesRead = (done, total) => {
      if (name === DATA_FILE) progress('bytes', done, total);
    };
    const sum = await sumOf(join(checked, name), read, signal);
    if (sum !== stamp.files[name].sha256) return false;
    if (name === DATA_FILE && readSum(checked) !== `${sum}\n`) return false;
  }
  return true;
}

/** Whether a release has the bytes of its stamp; false also where that cannot be told. */
export function isStamped(options: StampedOptions): Promise<boolean> {
  return areStamped(options, options.dir).catch(() => false);
}

async function isCopied(options: StampedCopyOptions, signal: AbortSignal): Promise<boolean> {
  await copyRelease(options.dir, options.copyTo);
  return areStamped(options, options.copyTo, signal);
}

/**
 * Copies a release and returns whether the copy has the bytes of the stamp. If not, or if that
 * cannot be told here, the copy is removed.
 * @throws UnfinishedCheck where it was ended, or the disk does not answer.
 */
export async function makeStampedCopy(options: StampedCopyOptions): Promise<boolean> {
  const { signal: given } = options;
  // After an abort the caller may have removed its folders, which must not be made again.
  if (given.aborted) throw new UnfinishedCheck(UNFINISHED);
  const silent = new AbortController();
  const patience = setTimeout(() => silent.abort(), SILENT_MS_MAX).unref();
  const signal = AbortSignal.any([given, silent.signal]);
  const ended = new Promise<never>((_, reject) => {
    const end = (): void => reject(new UnfinishedCheck(UNFINISHED));
    signal.addEventListener('abort', end, { once: true });
  });
  const progress: CheckProgress = (...told) => {
    patience.refresh();
    options.progress(...told);
  };
  try {
    const made = isCopied({ ...options, progress }, signal).catch(() => false);
    const sound = await Promise.race([made, ended]);
    if (!sound) rmSync(options.copyTo, { recursive: true, force: true });
    return sound;
  } finally {
    clearTimeout(patience);
  }
}
