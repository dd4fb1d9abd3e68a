/**
 * Where `situs bulk` writes to: a stream, or a file that has another name until it is whole, with a
 * note beside it of how far it has come.
 */
import { createHash } from 'node:crypto';
import {
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { jsonFile } from '../base/json-object.js';
import { fileBytes, type FileIdentity } from '../bulk/job/byte-source.js';
import { DurableOutput, type OutputEvents, type RunOutput } from '../bulk/job/durable-output.js';
import { type Checkpoint, parseCheckpoint } from '../bulk/run/checkpoint.js';
import { STANDARD } from './bulk-options.js';
import { UsageError } from './command-line.js';
import { PipeWriter } from './named-pipe.js';

const COPY_BYTES = 262_144;

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
  /** Whether it outlives this process. */
  readonly isKept: boolean;
  readonly #target: string;
  readonly #state: string;

  constructor(target: string, isKept = true) {
    this.#target = target;
    this.isKept = isKept;
    this.path = `${target}.part`;
    this.#state = `${target}.part.json`;
  }

  /** Whether there is something that another run can go on with. */
  get hasBegun(): boolean {
    return this.isKept && existsSync(this.#state);
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
    const kept = jsonFile(this.#state) as Partial<Kept> | undefined;
    if (kept === undefined) throw new Error(`nothing to resume: there is no ${this.#state}`);
    const { v, job, nowMs, dataset, input, options } = kept;
    const checkpoint = parseCheckpoint(kept.checkpoint);
    if (
      v !== 1 ||
      job === undefined ||
      nowMs === undefined ||
      dataset === undefined ||
      input === undefined ||
      options === undefined ||
      checkpoint === undefined
    ) {
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
  | {
      readonly kind: 'stream';
      readonly stream: NodeJS.WritableStream;
      /** Resolves when everything is written. */
      close(): Promise<void>;
    };

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
  const stream = found.isFIFO() ? new PipeWriter(path) : createWriteStream(path);
  return {
    kind: 'stream',
    stream,
    close: async () => {
      stream.end();
      await finished(stream);
    },
  };
}

/** Output of a run that goes to a stream: what was written cannot be taken back. */
class StreamOutput implements RunOutput {
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

/** Where a run writes to, and what it wrote before. */
interface RowsOutput {
  readonly output: RunOutput;
  readonly earlier: () => AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // There is no output before the first.
}

/** Opens it where a run goes on from. @throws Error where it is shorter than it was. */
export async function openRowsOutput(
  to: PartialFile | NodeJS.WritableStream,
  run: PartialRun,
  from: Checkpoint | null,
): Promise<RowsOutput> {
  if (!(to instanceof PartialFile)) {
    return { output: new StreamOutput(to), earlier: nothing, close: async () => {} };
  }
  const partial = to;
  const file = await open(partial.path, constants.O_RDWR | constants.O_CREAT, 0o644);
  const at = from?.bytes ?? 0;
  if ((await file.stat()).size < at) throw new Error(`cannot resume: ${partial.path} is too short`);
  await file.truncate(at);
  return {
    output: new DurableOutput({
      file,
      at,
      save: async (checkpoint) => partial.save(run, checkpoint),
    }),
    earlier: () => fileBytes(file),
    close: () => file.close(),
  };
}

/** Copies a finished file to a stream. @throws what writing it throws. */
export function copyOut(path: string, stream: NodeJS.WritableStream): Promise<void> {
  return pipeline(createReadStream(path, { highWaterMark: COPY_BYTES }), stream, { end: false });
}
