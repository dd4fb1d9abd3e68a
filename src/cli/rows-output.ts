/**
 * Where `situs bulk` writes rows: to standard output, a pipe or a device, or to a file, which has
 * another name until it is complete and a note beside it of how far it is.
 */
import { createHash } from 'node:crypto';
import {
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { errorCode } from '../base/error-code.js';
import { jsonFile } from '../base/json-object.js';
import { fileBytes, type FileIdentity } from '../bulk/job/byte-source.js';
import { DurableOutput, type OutputEvents, type RunOutput } from '../bulk/job/durable-output.js';
import { type Checkpoint, parseCheckpoint } from '../bulk/run/checkpoint.js';
import { STANDARD } from './bulk-options.js';
import { endByBrokenPipe, UsageError } from './command-line.js';
import { PipeWriter } from './named-pipe.js';
import { holdOutput } from './output-mark.js';

const COPY_BYTES = 262_144;

/** Describes the run that a partial file belongs to. */
export interface PartialRun {
  readonly job: string;
  readonly nowMs: number;
  readonly dataset: string;
  readonly input: FileIdentity;
  /** Digest of the options; a run is only resumed with the same ones. */
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
  /** Path of the unfinished output. */
  readonly path: string;
  /** Whether it is kept for another run when this process ends. */
  readonly isKept: boolean;
  readonly #target: string;
  readonly #state: string;
  /** The next note, until it is complete. */
  readonly #next: string;
  /** Names the process that writes the output. */
  readonly #mark: string;

  constructor(target: string, isKept = true) {
    this.#target = target;
    this.isKept = isKept;
    this.path = `${target}.part`;
    this.#state = `${target}.part.json`;
    this.#next = `${target}.part.json.new`;
    this.#mark = `${target}.part.run`;
  }

  /** All files that a run replaces or removes. */
  get files(): readonly string[] {
    return [this.#target, this.path, this.#state, this.#next, this.#mark];
  }

  /**
   * Keeps other runs from writing the same output until the returned function is called.
   * @throws Error with a sentence where one writes it.
   */
  hold(): () => void {
    return holdOutput(this.path, this.#mark);
  }

  /** Whether there is output that another run can resume. */
  get hasBegun(): boolean {
    return this.isKept && existsSync(this.#state);
  }

  /** Writes the note of how far the output is, completely or not at all. */
  save(run: PartialRun, checkpoint: Checkpoint): void {
    const kept: Kept = { v: 1, ...run, checkpoint };
    writeFileSync(this.#next, JSON.stringify(kept), { mode: 0o600 });
    renameSync(this.#next, this.#state);
  }

  /** Removes the note, so that the output cannot be resumed. */
  forget(): void {
    rmSync(this.#state, { force: true });
  }

  /** Reads the note. @throws Error when there is nothing to resume. */
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

  /** Gives the complete output its name. */
  finish(): void {
    renameSync(this.path, this.#target);
    this.forget();
  }

  /** Removes the unfinished output and its note. */
  remove(): void {
    rmSync(this.path, { force: true });
    this.forget();
  }
}

/** A file, or a Writable for standard output, a pipe or a device. */
type RowsTarget =
  | { readonly kind: 'file'; readonly partial: PartialFile }
  | {
      readonly kind: 'writable';
      readonly writable: NodeJS.WritableStream;
      /** Resolves when everything is written. */
      close(): Promise<void>;
    };

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

function foundAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** What an open stream of this process writes to; undefined where it is closed. */
function openAt(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}

/** The path that symbolic links lead to, of which the last one leads to no file yet. */
function behindLinks(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/**
 * The path to write. That of a pipe stays as it is: what a link to an open one (`/dev/stdout`)
 * names cannot be opened.
 */
function pathOf(given: string, found: Stats | undefined): string {
  if (found === undefined) return behindLinks(given);
  return found.isFile() ? realpathSync(given) : given;
}

function pipeOrDevice(path: string, found: Stats): RowsTarget {
  const writable = found.isFIFO() ? new PipeWriter(path) : createWriteStream(path);
  writable.on('error', (error: Error) => {
    if (errorCode(error) === 'EPIPE') endByBrokenPipe();
  });
  return {
    kind: 'writable',
    writable,
    close: async () => {
      writable.end();
      await finished(writable);
    },
  };
}

/**
 * Opens the output that OUT names. Only a regular file is replaced by a new one, behind a symbolic
 * link too; one that this process was given as standard output or error is written as such. FILE
 * must be none of the files that are written, since its rows would be lost before they are read.
 * @throws UsageError for a folder, a file in a folder that does not exist, and FILE itself
 */
export function openTarget(out: string, file: string): RowsTarget {
  const found = out === STANDARD ? openAt(process.stdout.fd) : foundAt(resolve(out));
  const path = out === STANDARD ? '' : pathOf(resolve(out), found);
  const stream = [process.stdout, process.stderr].find(({ fd }) => isSame(found, openAt(fd)));
  const partial = new PartialFile(path);
  const from = file === STANDARD ? undefined : foundAt(resolve(file));
  const written = stream === undefined ? partial.files.map(foundAt) : [found];
  const clash = written.findIndex((each) => each?.isFile() === true && isSame(from, each));
  if (clash >= 0) {
    const name = stream === undefined ? partial.files[clash]! : 'the output';
    throw new UsageError(`${name} is the file that is read: give what is written another name`);
  }
  if (out === STANDARD || stream !== undefined) {
    return { kind: 'writable', writable: stream ?? process.stdout, close: async () => undefined };
  }
  if (found?.isDirectory() === true) throw new UsageError(`${out} is a folder`);
  if (found?.isFile() === false) return pipeOrDevice(path, found);
  if (!existsSync(dirname(path))) throw new UsageError(`there is no folder ${dirname(path)}`);
  return { kind: 'file', partial };
}

/** Output that is not a file: what was written cannot be taken back or resumed. */
class WritableOutput implements RunOutput {
  readonly #writable: NodeJS.WritableStream;

  constructor(writable: NodeJS.WritableStream) {
    this.#writable = writable;
  }

  listen({ drained, failed }: OutputEvents): void {
    this.#writable.on('drain', drained).on('error', failed);
  }

  write(output: Uint8Array): boolean {
    return this.#writable.write(output);
  }

  reached(): void {
    // A Writable cannot be resumed, so there is nothing to note.
  }

  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#writable.write('', () => resolve());
    });
  }
}

/** Where a run writes its output, and how to read its earlier output again. */
interface RowsOutput {
  readonly output: RunOutput;
  readonly earlier: () => AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // A Writable has no earlier output.
}

/** Opens the output at the place where a run continues. @throws Error where it is too short. */
export async function openRowsOutput(
  to: PartialFile | NodeJS.WritableStream,
  run: PartialRun,
  from: Checkpoint | null,
): Promise<RowsOutput> {
  if (!(to instanceof PartialFile)) {
    return { output: new WritableOutput(to), earlier: nothing, close: async () => {} };
  }
  const partial = to;
  // The note of an earlier run must not outlive the output that it is of.
  if (from === null) partial.forget();
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

/** Copies a finished file to a Writable. @throws what writing it throws. */
export function copyOut(path: string, writable: NodeJS.WritableStream): Promise<void> {
  return pipeline(createReadStream(path, { highWaterMark: COPY_BYTES }), writable, { end: false });
}
