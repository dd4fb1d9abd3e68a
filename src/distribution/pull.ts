/**
 * Gets a release from a place: its pieces one by one into a file, which goes on where it ended; the
 * bundle out of it, checked as any other; then it lies among the datasets, and nothing answers with
 * it yet.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '../base/json-object.js';
import { DamagedBundle, openBundle, unpackBundle } from '../dataset/bundle.js';
import { putRelease } from '../dataset/put-release.js';
import { checkRelease } from '../dataset/release-check.js';
import { factsOf } from '../dataset/release-copy.js';
import { releasesDir, UnsoundRelease } from '../dataset/release.js';
import { STAMP_FILE } from '../dataset/stamp.js';
import { hasEnded, ownMark, type ProcessMark } from '../store/process-mark.js';
import { pieceLength, type Pieces, piecesOf } from './pieces.js';
import { checkedPiece, type Place, sumOf } from './fleet-place.js';
import type { Offer } from './state.js';
import { errorCode } from '../base/error-code.js';

/*
 * Lets one process at a time pull a release into a folder of datasets: several servers may use it.
 * A file names who does; it is renewed while that works, and taken over where it has ended.
 */

const FILE = 'owner.json';
const LOOK_MS = 200;
const RENEW_MS = 10_000;
/** Whoever cannot be seen from here, as in another container, has ended after so long. */
const SILENT_MS = 120_000;

function isMark(value: unknown): value is ProcessMark {
  return isObject(value) && 'machine' in value && 'pid' in value && 'began' in value;
}

/** Whether the owner that a file tells of works no more. */
function isLeft(file: string, text: string): boolean {
  try {
    const mark: unknown = JSON.parse(text);
    if (isMark(mark) && hasEnded(mark, ownMark())) return true;
    return Date.now() - statSync(file).mtimeMs > SILENT_MS;
  } catch {
    // Not written whole yet, or gone: the time tells, or the next look.
    const found = statSync(file, { throwIfNoEntry: false });
    return found !== undefined && Date.now() - found.mtimeMs > SILENT_MS;
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}

/** Takes the file away of an owner that has ended; of two that try, the other's stays. */
function takeAway(file: string, text: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (textOf(aside) !== text) renameSync(aside, file);
  } catch {
    // Another process was first.
  }
  rmSync(aside, { force: true });
}

function claimed(folder: string, file: string): boolean {
  try {
    // Whoever worked in it before may have removed it.
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify(ownMark()), { flag: 'wx' });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Waits until no other process works in the folder, and keeps others out until the returned
 * function is called.
 */
async function lockFolder(folder: string): Promise<() => void> {
  const file = join(folder, FILE);
  while (!claimed(folder, file)) {
    const text = textOf(file);
    if (text !== null && isLeft(file, text)) takeAway(file, text);
    else await delay(LOOK_MS);
  }
  const timer = setInterval(() => {
    try {
      utimesSync(file, new Date(), new Date());
    } catch {
      // Removed with its folder.
    }
  }, RENEW_MS).unref();
  return () => {
    clearInterval(timer);
    rmSync(file, { force: true });
  };
}

const PREFIX = '.pull-';
const BUNDLE = 'bundle';
/** Left on the disk for everything else. */
const SPARE_BYTES = 67_108_864;
/** How often one piece is asked for, and how long is waited in between. */
const TRIES_MAX = 3;
const AGAIN_MS = 500;

export interface Pull {
  readonly place: Place;
  readonly offer: Offer;
  readonly varDir: string;
  /** Public keys, one of whose holders must have signed it; none where it need not be signed. */
  readonly signedBy: readonly string[];
  /** Told of the bytes that are here, of all. */
  readonly pulled: (done: number, total: number) => void;
}

/** Removes what was pulled of releases that nobody wants any more. */
export function removeUnwanted(varDir: string, wanted: readonly string[]): void {
  const folder = releasesDir(varDir);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (name.startsWith(PREFIX) && !wanted.includes(name.slice(PREFIX.length))) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** @throws Error where the disk has no room for what is still to come. */
function requireRoom(folder: string, { dataset, bytes, unpacked }: Offer, have: number): void {
  const needed = bytes - have + unpacked + SPARE_BYTES;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < needed) {
    throw new Error(`${dataset} needs ${needed} bytes, and the disk has ${bavail * bsize}`);
  }
}

/** How many pieces the file begins with that are as they should be. */
async function soundPieces(file: FileHandle, pieces: Pieces): Promise<number> {
  let count = 0;
  for (; count < pieces.sums.length; count += 1) {
    const length = pieceLength(pieces, count);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(length),
      0,
      length,
      count * pieces.each,
    );
    if (bytesRead < length || sumOf(buffer) !== pieces.sums[count]) break;
  }
  return count;
}

/** A piece, asked for again where it did not come or came with other bytes. */
async function gotPiece(place: Place, sum: string): Promise<Uint8Array> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await checkedPiece(place, sum);
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
      await delay(AGAIN_MS * tries);
    }
  }
}

/** Brings the file to its whole length; what it holds already is not asked for again. */
async function fillBundle(path: string, folder: string, pull: Pull): Promise<void> {
  const { place, offer, pulled } = pull;
  const pieces = await piecesOf(place, offer);
  const file = await open(path, existsSync(path) ? 'r+' : 'wx+', 0o600);
  try {
    const have = await soundPieces(file, pieces);
    let bytes = Math.min(have * pieces.each, pieces.total);
    await file.truncate(bytes);
    requireRoom(folder, offer, bytes);
    for (const [index, sum] of pieces.sums.entries()) {
      if (index < have) continue;
      const piece = await gotPiece(place, sum);
      await file.write(piece, 0, piece.length, bytes);
      bytes += piece.length;
      pulled(bytes, pieces.total);
    }
    if (bytes !== pieces.total) {
      throw new UnsoundRelease(`the pieces of ${offer.dataset} are not as long as their list says`);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Takes the release out of its bundle and checks it. @throws UnsoundRelease with a sentence. */
async function unpacked(path: string, folder: string, pull: Pull): Promise<string> {
  const {
    offer: { dataset },
    signedBy,
  } = pull;
  const bundle = await openBundle(path);
  if (bundle.dataset !== dataset) {
    throw new UnsoundRelease(`what was pushed as ${dataset} is ${bundle.dataset}`);
  }
  const dir = join(folder, dataset);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  await unpackBundle(path, bundle, dir, () => undefined);
  const { problems } = await checkRelease({
    dir,
    copyTo: null,
    background: true,
    progress: () => undefined,
    signedBy,
  });
  if (problems.length === 0) return dir;
  throw new UnsoundRelease(`${dataset} was pulled and not taken: ${problems.join('; ')}`);
}

/** What came to its end is not left behind, nor what cannot come to a good one. */
async function pullLocked(pull: Pull, folder: string, target: string): Promise<void> {
  const path = join(folder, BUNDLE);
  try {
    await fillBundle(path, folder, pull);
    const dir = await unpacked(path, folder, pull);
    // One that is there was not fit to be used, whatever its stamp says.
    rmSync(join(target, STAMP_FILE), { force: true });
    putRelease(dir, target);
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    const damaged = error instanceof DamagedBundle;
    if (!damaged && !(error instanceof UnsoundRelease)) throw error;
    rmSync(folder, { recursive: true, force: true });
    throw damaged ? new UnsoundRelease(error.message) : error;
  }
}

/**
 * Pulls a release, unless another process has done so meanwhile; what came of it stays when the
 * place or the disk fails.
 * @throws UnsoundRelease where it was pushed as it may not be used; other errors where it could not
 * be got now.
 */
export async function pullRelease(pull: Pull): Promise<void> {
  const {
    varDir,
    offer: { dataset },
  } = pull;
  const folder = join(releasesDir(varDir), `${PREFIX}${dataset}`);
  const target = join(releasesDir(varDir), dataset);
  const before = factsOf(target);
  const unlock = await lockFolder(folder);
  try {
    const after = factsOf(target);
    if (after === null || after === before) await pullLocked(pull, folder, target);
    else rmSync(folder, { recursive: true, force: true });
  } finally {
    unlock();
  }
}
