/** The plain bytes of a body that is stored, from any place of it, and files that jobs may read. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TURN_BYTES_MAX } from '../../base/turns.js';
import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';

/** Opens a body at a place in it, counted in plain bytes. */
export type ByteSource = (from: number) => AsyncIterable<Uint8Array>;

/** As much as is worked on in one turn of the event loop. */
const READ_BYTES = TURN_BYTES_MAX;
/** More than the longest header line and the piece it ends in. */
const HELD_BYTES_MAX = 1_048_576;

/** What a file is recognised by when a run goes on. */
export interface FileIdentity {
  readonly bytes: number;
  /** Milliseconds since 1970, with a fraction. */
  readonly modifiedMs: number;
}

/** Size and time of an open file. */
export async function identityOf(file: FileHandle): Promise<FileIdentity> {
  const { size, mtimeMs } = await file.stat();
  return { bytes: size, modifiedMs: mtimeMs };
}

/** Thrown when a file is not the one it was: what was answered of it belongs to another. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged';

  constructor() {
    super('The input file has changed since it was begun.');
  }
}

/** The bytes of a stream after the first ones. */
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

/** Reads an open file without moving it; it is left open. */
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
 * Reads a file, unpacked where `packed`. A symbolic link is refused unless they are `followed`.
 * @throws FileChanged when it is not the one that `identity` tells of.
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
        // A failure of any of the steps is thrown by the last one.
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
 * Reads input that can be read only once, such as a pipe; as much as a header line of it is kept
 * and can be read again.
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

// Files that jobs may read where they are: those of one folder, and nothing that leads out.

/** Characters of a name. */
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
 * Finds a file by its name in the folder. Null when there is none: a name that leads out, a
 * symbolic link anywhere on the way and a folder are as if they were not there.
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
    // It is not there, or may not be looked at.
    return null;
  }
}

/** Account names that can be folder names as they are: every file system keeps them apart. */
const PLAIN = /^(?!account-)[a-z0-9][a-z0-9._-]{0,99}$/;
const HASH_CHARS = 32;

/** Name of the folder of an account: the account itself, or its hash where that is no name. */
function accountFolder(account: string): string {
  if (PLAIN.test(account)) return account;
  const hash = createHash('sha256').update(account, 'utf8').digest('hex');
  return `account-${hash.slice(0, HASH_CHARS)}`;
}

/** Where the files of an account are. */
export function filesOf(filesDir: string, account: string): string {
  return join(filesDir, accountFolder(account));
}
