/**
 * Where the commands read rows from, and where `situs bulk` writes to: a stream, or a file that has
 * another name until it is whole, with a note beside it of how far it has come.
 */
import { createHash } from 'node:crypto';
import {
  createReadStream, createWriteStream, existsSync, readFileSync, realpathSync, renameSync, rmSync,
  statSync, writeFileSync,
} from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import {
  type ByteSource, type FileIdentity, fileSource, onceSource,
} from '../bulk/job/byte-source.js';
import type { OutputEvents, RunOutput } from '../bulk/job/durable-output.js';
import { type Checkpoint, parseCheckpoint } from '../bulk/run/checkpoint.js';
import { STANDARD } from './bulk-options.js';
import { UsageError } from './command-line.js';

// Read from: a file, packed or not, or whatever comes once.

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
    async* [Symbol.asyncIterator](): AsyncGenerator<Buffer> {
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
    source: onceSource(unpacked(stream)), identity: { bytes: 0, modifiedMs: 0 }, once: true,
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
    source: fileSource(path, identity, packed, true), identity, once: false,
    plainBytes: packed ? null : found.size,
  };
}

/** What a partial file is the beginning of. */
export interface PartialRun {
  readonly job: string;
  readonly nowMs: number;
  readonly dataset: string;
  readonly input: FileIdentity;
  /** Digest of the options, which must be the same to go on. */
  readonly options: string;
}

interface Kept extends PartialRun {
  readonly v: 1;
  readonly checkpoint: Checkpoint;
}

/** A digest of options. */
export function optionsDigest(options: object): string {
  return createHash('sha256').update(JSON.stringify(options)).digest('hex');
}

export class PartialFile {
  /** Where output is written. */
  readonly path: string;
  readonly #target: string;
  readonly #state: string;

  constructor(target: string) {
    this.#target = target;
    this.path = `${target}.part`;
    this.#state = `${target}.part.json`;
  }

  /** Keeps how far it has come: whole or not at all. */
  save(run: PartialRun, checkpoint: Checkpoint): void {
    const kept: Kept = { v: 1, ...run, checkpoint };
    const next = `${this.#state}.new`;
    writeFileSync(next, JSON.stringify(kept), { mode: 0o600 });
    renameSync(next, this.#state);
  }

  /**
   * How far it had come.
   * @throws Error when there is nothing to go on with.
   */
  load(): { readonly run: PartialRun; readonly checkpoint: Checkpoint } {
    let kept: Partial<Kept>;
    try {
      kept = JSON.parse(readFileSync(this.#state, 'utf8')) as Partial<Kept>;
    } catch {
      throw new Error(`nothing to resume: there is no ${this.#state}`);
    }
    const { v, job, nowMs, dataset, input, options } = kept;
    const checkpoint = parseCheckpoint(kept.checkpoint);
    if (v !== 1 || job === undefined || nowMs === undefined || dataset === undefined
      || input === undefined || options === undefined || checkpoint === undefined) {
      throw new Error(`nothing to resume: ${this.#state} cannot be read`);
    }
    return { run: { job, nowMs, dataset, input, options }, checkpoint };
  }

  /** Gives it its name. */
  finish(): void {
    renameSync(this.path, this.#target);
    rmSync(this.#state, { force: true });
  }

  /** Removes what was begun. */
  remove(): void {
    rmSync(this.path, { force: true });
    rmSync(this.#state, { force: true });
  }
}

/** A path for a file; a stream for standard output, a pipe or a device. */
type RowsTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream'; readonly stream: NodeJS.WritableStream;
    /** Resolves when everything is written. */
    close(): Promise<void>; };

/**
 * Opens what OUT names. Only a file is replaced by another; one that a symbolic link leads to is
 * replaced where it is. Rows that are read as they are written would be lost, so OUT is not FILE.
 * @throws UsageError for a folder, for a file in none, and for the file that rows come from
 */
export function openTarget(out: string, file: string): RowsTarget {
  if (out === STANDARD) {
    return { kind: 'stream', stream: process.stdout, close: async () => undefined };
  }
  const path = resolve(out);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    if (!existsSync(dirname(path))) throw new UsageError(`there is no folder ${dirname(path)}`);
    return { kind: 'file', path };
  }
  if (found.isDirectory()) throw new UsageError(`${out} is a folder`);
  if (found.isFile()) {
    const from = file === STANDARD ? undefined : statSync(resolve(file), { throwIfNoEntry: false });
    if (from !== undefined && from.dev === found.dev && from.ino === found.ino) {
      throw new UsageError(`${out} is the file that is read: give what is written another name`);
    }
    return { kind: 'file', path: realpathSync(path) };
  }
  const stream = createWriteStream(path);
  return {
    kind: 'stream', stream,
    close: async () => {
      stream.end();
      await finished(stream);
    },
  };
}

/** Output of a run that goes to a stream: what was written cannot be taken back. */
export class StreamOutput implements RunOutput {
  readonly #stream: NodeJS.WritableStream;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  listen({ drained, failed }: OutputEvents): void {
    this.#stream.on('drain', drained).on('error', failed);
  }

  write(output: Uint8Array): boolean {
    return this.#stream.write(output);
  }

  reached(): void {
    // There is nothing to go on from.
  }

  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#stream.write('', () => resolve());
    });
  }
}
