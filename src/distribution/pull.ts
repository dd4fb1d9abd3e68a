/**
 * Gets a release from a place: its pieces go one by one into a file, which an interrupted pull
 * continues; the bundle is unpacked and checked; then the release lies among the datasets, not
 * active yet.
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
 * Lets one process at a time pull a release into a folder of datasets that several servers share. A
 * file names the process; it renews the file, and another takes over once it has ended.
 */

const FILE = 'owner.json';
const LOOK_MS = 200;
const RENEW_MS = 10_000;
/**
 * A process that cannot be observed from here, as in another container, has ended after this time
 * without renewing its file.
 */
const SILENT_MS = 120_000;

function isMark(value: unknown): value is ProcessMark {
  return isObject(value) && 'machine' in value && 'pid' in value && 'began' in value;
}

/** Whether the process that a file names has ended. */
function isLeft(file: string, text: string): boolean {
  try {
    const mark: unknown = JSON.parse(text);
    if (isMark(mark) && hasEnded(mark, ownMark())) return true;
    return Date.now() - statSync(file).mtimeMs > SILENT_MS;
  } catch {
    // The file is incomplete or gone. Its age decides, or the next attempt does.
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

/**
 * Removes the file of a process that has ended. Where another process has written a new one
 * meanwhile, that is put back.
 */
function takeAway(file: string, text: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (textOf(aside) !== text) renameSync(aside, file);
  } catch {
    // Another process has removed it.
  }
  rmSync(aside, { force: true });
}

function claimed(folder: string, file: string): boolean {
  try {
    // The process that used the folder before may have removed it.
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
 * Waits until no other process uses the folder, and keeps others out until the returned function is
 * called.
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
      // The file was removed together with its folder.
    }
  }, RENEW_MS).unref();
  return () => {
    clearInterval(timer);
    rmSync(file, { force: true });
  };
}

const PREFIX = '.pull-';
const BUNDLE = 'bundle';
/** Space to leave free on the disk. */
const SPARE_BYTES = 67_108_864;
/** How often a piece is requested, and the wait in between. */
const TRIES_MAX = 3;
const AGAIN_MS = 500;

export interface Pull {
  readonly place: Place;
  readonly offer: Offer;
  readonly varDir: string;
  /**
   * Public keys, one of whose holders must have signed the release; empty where none is required.
   */
  readonly signedBy: readonly string[];
  /** Called with the bytes that have arrived, and with the whole number. */
  readonly pulled: (done: number, total: number) => void;
}

/** Removes what was pulled of releases that are no longer wanted. */
export function removeUnwanted(varDir: string, wanted: readonly string[]): void {
  const folder = releasesDir(varDir);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (name.startsWith(PREFIX) && !wanted.includes(name.slice(PREFIX.length))) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** @throws Error where the disk has no room for what is missing. */
function requireRoom(folder: string, { dataset, bytes, unpacked }: Offer, have: number): void {
  const needed = bytes - have + unpacked + SPARE_BYTES;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < needed) {
    throw new Error(`${dataset} needs ${needed} bytes, and the disk has ${bavail * bsize}`);
  }
}

/** How many pieces at the beginning of the file are intact. */
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

/** Gets a piece, again where it failed or arrived with other bytes. */
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

/** Writes all bytes, since a disk that gets full takes some of them before it fails. */
async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** Completes the file; the pieces that it has are not requested again. */
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
      await writeAll(file, piece, bytes);
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

/** Unpacks the bundle and checks the release. @throws UnsoundRelease with a sentence. */
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

/**
 * Pulls and places a release. The folder is removed on success, and where trying again is in vain.
 */
async function pullLocked(pull: Pull, folder: string, target: string): Promise<void> {
  const path = join(folder, BUNDLE);
  try {
    await fillBundle(path, folder, pull);
    const dir = await unpacked(path, folder, pull);
    // A release that lies there could not be used. Without its stamp it is replaced.
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
 * Pulls a release, unless another process has done so meanwhile. What has arrived stays when the
 * place or the disk fails.
 * @throws UnsoundRelease where the pushed release may not be used; other errors where it could not
 * be pulled now.
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
