/**
 * Bundles: a whole release in one file, for machines without a network. Two lines of text, what it
 * is and what it holds, then the bytes of the release's files one after the other, in one gzip
 * stream:
 *
 *   situs dataset bundle 1
 *   {"dataset":"2026-…","files":[{"name":"manifest.json","bytes":…,"sha256":"…"},…]}
 *
 * Reading trusts nothing: names are those of a release's files, in their order, and each has the
 * bytes and the SHA-256 that were told, nothing more and nothing less.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { parsedText } from '../base/json-object.js';
import { SHA256 } from '../base/patterns.js';
import { messageOf } from '../log.js';
import { errorCode } from '../base/error-code.js';
import { isReleaseName } from './release.js';
import { SIGNATURE_FILE } from './signature.js';
import { fileSha256, RELEASE_FILES, type BytesRead } from './stamp.js';

const FIRST_LINE = 'situs dataset bundle 1';
/** Largest head of a bundle, which is its first two lines. */
const HEAD_BYTES_MAX = 4_096;
const LINE_END = 10;
const PIECE_BYTES = 1_048_576;
/** Files of a release that may be in a bundle, in this order; the signature may be missing. */
const BUNDLED_FILES: readonly string[] = [SIGNATURE_FILE, ...RELEASE_FILES];

interface BundledFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface BundleHead {
  readonly dataset: string;
  readonly files: readonly BundledFile[];
}

/** The file is no bundle, or an incomplete one. */
class UnfitBundle extends Error {
  override readonly name = 'UnfitBundle';
}

/** Thrown for a file that is no bundle, or whose bytes differ from those that were packed. */
export class DamagedBundle extends Error {
  override readonly name = 'DamagedBundle';
}

/** Whether an error is caused by the bytes of a bundle, and not by the disk. */
function isUnfit(error: unknown): boolean {
  return error instanceof UnfitBundle || errorCode(error).startsWith('Z_');
}

function totalOf(files: readonly BundledFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Writes the bundle of the release in `dir` to a new file. If it fails, the part that was written
 * stays. `read` is called with the bytes that were packed, and with the whole number.
 * @throws Error where the file exists, or cannot be written.
 */
export async function packRelease(
  dir: string,
  dataset: string,
  file: string,
  read: BytesRead,
): Promise<void> {
  const files = BUNDLED_FILES.filter((name) => existsSync(join(dir, name))).map((name) => ({
    name,
    bytes: statSync(join(dir, name)).size,
    sha256: fileSha256(join(dir, name)),
  }));
  const total = totalOf(files);
  const head: BundleHead = { dataset, files };
  const into = createWriteStream(file, { flags: 'wx', flush: true });
  let done = 0;
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const { name } of files) {
      const from = createReadStream(join(dir, name), { highWaterMark: PIECE_BYTES });
      for await (const piece of from as AsyncIterable<Buffer>) {
        done += piece.length;
        read(done, total);
        yield piece;
      }
    }
    if (done !== total) throw new Error(`the files of ${dataset} changed while they were packed`);
  }
  into.write(`${FIRST_LINE}\n${JSON.stringify(head)}\n`);
  await pipeline(bytes, createGzip({ level: constants.Z_BEST_SPEED }), into);
}

/** Codes of errors on file systems without links, as memory sticks have. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Gives a complete bundle its name, unless a file of that name has appeared meanwhile. Tests
 * replace `link`.
 * @throws Error where there is such a file.
 */
export function nameBundle(temporary: string, file: string, link = linkSync): void {
  try {
    // Unlike a rename, a link never replaces a file.
    link(temporary, file);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error))) throw error;
    closeSync(openSync(file, 'wx'));
    renameSync(temporary, file);
  }
}

function isFile(value: Partial<BundledFile> | null): value is BundledFile {
  return (
    typeof value?.name === 'string' &&
    Number.isSafeInteger(value.bytes) &&
    Number(value.bytes) >= 0 &&
    typeof value.sha256 === 'string' &&
    SHA256.test(value.sha256)
  );
}

/** Parses and checks the head of a bundle. */
function headOf(text: string): BundleHead {
  const value = parsedText(text) as Partial<BundleHead> | null | undefined;
  if (value === undefined) throw new UnfitBundle('its second line cannot be read');
  const { dataset, files } = value ?? {};
  if (typeof dataset !== 'string' || !isReleaseName(dataset)) {
    throw new UnfitBundle('it names no dataset');
  }
  if (!Array.isArray(files) || !files.every(isFile)) {
    throw new UnfitBundle('its list of files cannot be read');
  }
  const names = files.map(({ name }) => name).join();
  if (names !== BUNDLED_FILES.join() && names !== RELEASE_FILES.join()) {
    throw new UnfitBundle('its files are not those of one whole dataset');
  }
  return { dataset, files };
}

/** The head of a bundle, and where its bytes begin. */
interface OpenBundle extends BundleHead {
  readonly headBytes: number;
}

/**
 * Reads the head of a bundle.
 * @throws DamagedBundle that names the file where it is no bundle, or another version's; Error for
 * what is no file, as a pipe, whose opening might wait for ever
 */
export async function openBundle(file: string): Promise<OpenBundle> {
  if (!(await stat(file)).isFile()) {
    throw new Error(`${file} is no regular file: a bundle is read from the disk`);
  }
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES_MAX), 0);
    const bytes = buffer.subarray(0, bytesRead);
    const first = bytes.indexOf(LINE_END);
    const second = bytes.indexOf(LINE_END, first + 1);
    if (bytes.toString('latin1', 0, Math.max(0, first)) !== FIRST_LINE || second < 0) {
      throw new UnfitBundle(`it does not begin with "${FIRST_LINE}" and a line of what it holds`);
    }
    return { ...headOf(bytes.toString('utf8', first + 1, second)), headBytes: second + 1 };
  } catch (error) {
    throw new DamagedBundle(`${file} is no bundle of a dataset: ${messageOf(error)}`);
  } finally {
    await handle.close();
  }
}

/** Writes the files of a bundle, one after the other, while their bytes arrive. */
class Unpacking {
  readonly #dir: string;
  readonly #files: readonly BundledFile[];
  #at = -1;
  #left = 0;
  #fd: number | null = null;
  #hash: Hash = createHash('sha256');

  constructor(dir: string, files: readonly BundledFile[]) {
    this.#dir = dir;
    this.#files = files;
  }

  write(piece: Buffer): void {
    for (let from = 0; from < piece.length; ) {
      if (this.#left === 0) this.#next();
      const part = piece.subarray(from, from + this.#left);
      if (this.#fd !== null) writeFileSync(this.#fd, part);
      this.#hash.update(part);
      this.#left -= part.length;
      from += part.length;
    }
  }

  /** Called when all bytes have arrived. */
  end(): void {
    while (this.#left === 0 && this.#at + 1 < this.#files.length) this.#next();
    if (this.#left > 0) throw new UnfitBundle('it ends before its last file does');
    this.#finish();
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #next(): void {
    this.#finish();
    const next = this.#files[(this.#at += 1)];
    if (next === undefined) throw new UnfitBundle('it holds more bytes than it tells');
    this.#left = next.bytes;
    this.#hash = createHash('sha256');
    this.#fd = openSync(join(this.#dir, next.name), 'wx', 0o644);
  }

  #finish(): void {
    const file = this.#files[this.#at];
    if (file === undefined || this.#fd === null) return;
    if (this.#hash.digest('hex') !== file.sha256) {
      throw new UnfitBundle(`the bytes of ${file.name} are not those that were packed`);
    }
    fsyncSync(this.#fd);
    this.close();
  }
}

/**
 * Writes the files of a bundle into an empty folder. If it fails, what was written stays there.
 * `written` is called with the bytes that were written, and with the whole number.
 * @throws DamagedBundle that names the file where it is damaged, incomplete or larger than stated;
 * Error where the disk has no room for it.
 */
export async function unpackBundle(
  file: string,
  { files, headBytes }: OpenBundle,
  dir: string,
  written: BytesRead,
): Promise<void> {
  const total = totalOf(files);
  const { bavail, bsize } = statfsSync(dir);
  if (bavail * bsize < total) {
    throw new Error(`${file} needs ${total} bytes, and the disk has ${bavail * bsize}`);
  }
  const unpacking = new Unpacking(dir, files);
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  const from = createReadStream(file, { start: headBytes, highWaterMark: PIECE_BYTES });
  from.on('error', (error) => gunzip.destroy(error));
  let done = 0;
  try {
    for await (const piece of from.pipe(gunzip) as AsyncIterable<Buffer>) {
      unpacking.write(piece);
      done += piece.length;
      written(done, total);
    }
    unpacking.end();
    if (headBytes + gunzip.bytesWritten !== statSync(file).size) {
      throw new UnfitBundle('something else lies behind it');
    }
  } catch (error) {
    throw isUnfit(error) ? new DamagedBundle(`${file} is damaged: ${messageOf(error)}`) : error;
  } finally {
    from.destroy();
    unpacking.close();
  }
}
