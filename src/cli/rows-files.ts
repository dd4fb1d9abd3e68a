/** Where the commands read rows from: a file, packed or not, or whatever comes once. */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type ByteSource,
  type FileIdentity,
  fileSource,
  onceSource,
} from '../bulk/job/byte-source.js';
import { STANDARD } from './bulk-options.js';
import { UsageError } from './command-line.js';

const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

export interface RowsSource {
  readonly source: ByteSource;
  readonly identity: FileIdentity;
  /** It comes once, as a pipe does: a run of it cannot be gone on with. */
  readonly once: boolean;
  /** Null where plain bytes are not known. */
  readonly plainBytes: number | null;
}

async function isPackedFile(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(GZIP_MAGIC.length), 0, GZIP_MAGIC.length, 0);
    return GZIP_MAGIC.equals(buffer);
  } finally {
    await file.close();
  }
}

/**
 * A stream that comes once, unpacked where it begins as a gzip stream does. It is opened by the
 * first read: a pipe without a writer would keep the process from ending.
 */
async function* unpacked(begun: () => AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const iterator = begun()[Symbol.asyncIterator]();
  let begin = Buffer.alloc(0);
  while (begin.length < GZIP_MAGIC.length) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    begin = Buffer.concat([begin, value]);
  }
  const whole = {
    async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
      if (begin.length > 0) yield begin;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return;
        yield value;
      }
    },
  };
  if (!begin.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    yield* whole;
    return;
  }
  yield* pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined);
}

/**
 * Opens what FILE names. A pipe and a device are read once, as standard input is.
 * @throws UsageError for a folder
 */
export async function openRows(file: string): Promise<RowsSource> {
  const passing = (stream: () => AsyncIterable<Buffer>): RowsSource => ({
    source: onceSource(unpacked(stream)),
    identity: { bytes: 0, modifiedMs: 0 },
    once: true,
    plainBytes: null,
  });
  if (file === STANDARD) return passing(() => process.stdin);
  const path = resolve(file);
  const found = await stat(path);
  if (found.isDirectory()) throw new UsageError(`${file} is a folder`);
  if (!found.isFile()) return passing(() => createReadStream(path));
  const packed = await isPackedFile(path);
  const identity = { bytes: found.size, modifiedMs: found.mtimeMs };
  return {
    source: fileSource(path, identity, packed, true),
    identity,
    once: false,
    plainBytes: packed ? null : found.size,
  };
}
