/** Reads the plain bytes of a stored body from any position, and finds files that jobs may read. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TURN_BYTES_MAX } from '../../base/turns.js';
import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';

/** Opens a body at a position, which counts plain bytes. */
export type ByteSource = (from: number) => AsyncIterable<Uint8Array>;

/** As much as is processed in one turn of the event loop. */
const READ_BYTES = TURN_BYTES_MAX;
/** More than the longest header line and the piece that it ends in. */
const HELD_BYTES_MAX = 1_048_576;

/** Tells whether a file is still the same when a run continues. */
export interface FileIdentity {
  readonly bytes: number;
  /** Milliseconds since 1970, with a fraction. */
  readonly modifiedMs: number;
}

/** Size and modification time of an open file. */
export async function identityOf(file: FileHandle): Promise<FileIdentity> {
  const { size, mtimeMs } = await file.stat();
  return { bytes: size, modifiedMs: mtimeMs };
}

/** Thrown when a file has changed, so that the answers so far belong to another content. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged';

  constructor() {
    super('The input file has changed since it was begun.');
  }
}

/** The bytes of `pieces` after the first `from` bytes. */
async function* skipped(
  pieces: AsyncIterable<Uint8Array>,
  from: number,
): AsyncGenerator<Uint8Array> {
  let left = from;
  for await (const piece of pieces) {
    if (left >= piece.length) left -= piece.length;
    else {
      yield left === 0 ? piece : piece.subarray(left);
      left = 0;
    }
  }
}

/** Reads an open file at explicit positions, and leaves it open. */
export async function* fileBytes(file: FileHandle, from = 0): AsyncGenerator<Uint8Array> {
  for (let at = from; ; ) {
    const piece = Buffer.allocUnsafeSlow(READ_BYTES);
    const { bytesRead } = await file.read(piece, 0, READ_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/**
 * Opens the reader of a file, unpacking it where `packed`. Symbolic links are refused unless
 * `followed`.
 * @throws FileChanged when the file does not have this `identity`.
 */
export function fileSource(
  path: string,
  identity: FileIdentity | null,
  packed = false,
  followed = false,
): ByteSource {
  return async function* read(from) {
    const links = followed ? 0 : constants.O_NOFOLLOW;
    const file = await open(path, constants.O_RDONLY | links);
    try {
      const found = await identityOf(file);
      if (
        identity !== null &&
        (found.bytes !== identity.bytes || found.modifiedMs !== identity.modifiedMs)
      )
        throw new FileChanged();
      if (!packed) yield* fileBytes(file, from);
      else {
        const raw = file.createReadStream({ start: 0, autoClose: false });
        // The last step of the pipeline throws the failure of any step.
        yield* skipped(
          pipeline(raw, createGunzip(), () => undefined),
          from,
        );
      }
    } finally {
      await file.close();
    }
  };
}

/**
 * Opens the reader of input that can be read only once, such as a pipe. As much as a header line
 * needs is kept, so that this part can be read again.
 */
export function onceSource(stream: AsyncIterable<Uint8Array>): ByteSource {
  const iterator = stream[Symbol.asyncIterator]();
  let held: Buffer | null = Buffer.alloc(0);
  return async function* read(from) {
    if (held !== null && held.length > from) yield held.subarray(from);
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true) return;
      if (held !== null) held = Buffer.concat([held, value]);
      if (held !== null && held.length > HELD_BYTES_MAX) held = null;
      yield value;
    }
  };
}

// Files that jobs may read in place: only those of one folder.

/** Longest name of a file. */
const FILE_NAME_CHARS_MAX = 1_024;

/** A file that may be read. */
interface AllowedFile {
  readonly path: string;
  readonly identity: FileIdentity;
}

function isName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= FILE_NAME_CHARS_MAX &&
    !isAbsolute(name) &&
    !/[\\\0]/.test(name) &&
    name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/**
 * Finds a file of the folder by its name. Null where there is none. A name that leads out of the
 * folder, a name with a symbolic link in its path and the name of a folder count as missing.
 */
export async function allowedFile(folder: string, name: string): Promise<AllowedFile | null> {
  if (!isName(name)) return null;
  try {
    const path = join(await realpath(folder), name);
    if ((await realpath(path)) !== path) return null;
    const found = await lstat(path);
    return found.isFile()
      ? { path, identity: { bytes: found.size, modifiedMs: found.mtimeMs } }
      : null;
  } catch {
    // The file does not exist or may not be read.
    return null;
  }
}

/**
 * Account names that can be folder names unchanged, since every file system keeps them distinct.
 */
const PLAIN = /^(?!account-)[a-z0-9][a-z0-9._-]{0,99}$/;
const HASH_CHARS = 32;

/**
 * Name of the folder of an account: the account's name, or a hash of it where it cannot be a folder
 * name.
 */
function accountFolder(account: string): string {
  if (PLAIN.test(account)) return account;
  const hash = createHash('sha256').update(account, 'utf8').digest('hex');
  return `account-${hash.slice(0, HASH_CHARS)}`;
}

/** The folder with the files of an account. */
export function filesOf(filesDir: string, account: string): string {
  return join(filesDir, accountFolder(account));
}
