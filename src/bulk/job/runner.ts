/** One attempt at a job: from its last checkpoint to its end, or to whatever stops it. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type FindMerchant, MERCHANT_REFUSALS } from '../../api/merchant/cart-owner.js';
import { OtherFormat, UnsoundRelease } from '../../dataset/release.js';
import { rowsRefusal } from '../../http/gate.js';
import type { Log } from '../../log.js';
import { errorCode } from '../../base/error-code.js';
import type { PinnedRelease } from '../../pool.js';
import { StoreFault } from '../../store/fault.js';
import type { KeyRecord } from '../../store/format.js';
import type { JobRecord } from '../../store/jobs.js';
import type { Store, StoreTransaction } from '../../store/store.js';
import { NO_COUNTS } from '../../store/usage-meter.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import type { FleetWorkers } from '../fleet/fleet-workers.js';
import type { RunFacts } from '../row/chunk-payload.js';
import type { Checkpoint } from '../run/checkpoint.js';
import { admitRows, fileMerchantRefusal, type RowsUsage } from '../run/kind.js';
import type { AdmittedRows } from '../run/pump-options.js';
import type { ChunkSchedule } from '../run/schedule.js';
import type { BulkLimits } from '../run/uploads.js';
import {
  allowedFile,
  type ByteSource,
  fileBytes,
  FileChanged,
  filesOf,
  fileSource,
} from './byte-source.js';
import { DiskLimit, DurableOutput } from './durable-output.js';
import { FileRun, type FileRunEnd, type JobRowsUsage, JobUsage } from './file-run.js';
import { countedOf, type JobFiles } from './job-keeper.js';
import type { JobRequest } from './job-request.js';
import { checkpointOf, requestOf } from './open-job.js';
import type { JobMember } from './ownership.js';
import type { JobSpace } from './space.js';

export interface JobRegistryOptions extends RunnerServices {
  readonly store: Store;
  readonly log: Log;
  /** How long a job is kept after its end. */
  readonly days: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What days are counted by: a clock that does not jump. */
  readonly age: () => number;
  /** This server among those of the store, and the name of its folder; alone where left out. */
  readonly member?: JobMember;
  readonly place?: string;
  /** Where files of jobs are kept for all servers of a fleet; null where each has its own. */
  readonly files?: JobFiles | null;
}

/** A kind of rows. */
export interface JobKind {
  readonly kind: JobRequest['kind'];
}

/** Releases by their names, also those that are no longer active. */
export interface JobReleases {
  /**
   * Keeps a release open until `unpin`; null when it was removed.
   * @throws UnsoundRelease when it is damaged; other errors when it cannot be had now.
   */
  borrow(id: string): Promise<PinnedRelease | null>;
  unpin(release: PinnedRelease): void;
}

export interface RunnerServices {
  readonly space: JobSpace;
  readonly schedule: ChunkSchedule;
  /** Nodes that answer the rows of a job; null where there are none now. Never throws. */
  readonly fleet?: (job: string, release: string) => Promise<FleetWorkers | null>;
  readonly usage: JobRowsUsage;
  readonly limits: BulkLimits;
  readonly kinds: readonly JobKind[];
  readonly findMerchant: FindMerchant;
  /** Null for a key that was removed or disabled. */
  keyOf(id: string): KeyRecord | null;
  readonly releases: JobReleases;
  /** Folder of files that may be named; null when there is none. */
  readonly filesDir: string | null;
  /** Throws where another server may have taken the job over. */
  readonly fence?: () => void;
  /** What answers of this server depend on: a job keeps what it was made with. */
  readonly settings: AnswerSettings;
}

/** Why a job cannot go on, ever. */
export class JobFault extends Error {
  override readonly name = 'JobFault';
}

/** The release of a job cannot be had now. */
class ReleaseNotReady extends Error {
  override readonly name = 'ReleaseNotReady';
}

/** Errors of a disk that has no room; the same may succeed later. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO']);

/** Whether what was thrown may be gone later, with nothing of the job lost. */
export function isPassing(error: unknown): boolean {
  if (error instanceof DiskLimit || error instanceof StoreFault) return true;
  if (error instanceof ReleaseNotReady) return true;
  return NO_ROOM.has(errorCode(error));
}

/** The body of a job. */
async function inputOf(services: RunnerServices, record: JobRecord): Promise<ByteSource> {
  const { file, account, ownFolder, inputBytes, inputModifiedMs } = record;
  const identity = { bytes: inputBytes, modifiedMs: inputModifiedMs };
  if (file === null) return fileSource(services.space.input(record.id), identity);
  const { filesDir } = services;
  const found =
    filesDir === null
      ? null
      : await allowedFile(ownFolder === true ? filesOf(filesDir, account) : filesDir, file);
  if (found === null) throw new JobFault('The input file is no longer in the allowed folder.');
  return fileSource(found.path, identity);
}

/**
 * Rows of a job count against the quotas like those of an upload, by what the key is at that
 * moment.
 */
function admission(
  services: RunnerServices,
  record: JobRecord,
  first: KeyRecord,
  asked: JobRequest,
  usage: RowsUsage,
): (rows: number) => AdmittedRows {
  let key = first;
  let counted = countedOf(record).rows - (checkpointOf(record)?.rows ?? 0);
  return (rows) => {
    key = services.keyOf(record.keyId) ?? key;
    if (counted > 0) {
      const again = Math.min(rows, counted);
      counted -= again;
      return { rows: again, grants: key.grants, scarce: false, settle: () => undefined };
    }
    return admitRows(usage, key, asked, rows);
  };
}

async function borrowed({ releases }: RunnerServices, dataset: string): Promise<PinnedRelease> {
  let release: PinnedRelease | null;
  try {
    release = await releases.borrow(dataset);
  } catch (error) {
    if (error instanceof OtherFormat) throw new JobFault(error.message);
    if (error instanceof UnsoundRelease) {
      throw new JobFault(`Dataset ${dataset}, which the job was begun with, is damaged.`);
    }
    throw new ReleaseNotReady(
      `Dataset ${dataset}, which the job was begun with, cannot be opened now; the job waits.`,
      { cause: error },
    );
  }
  if (release !== null) return release;
  throw new JobFault(`Dataset ${dataset}, which the job was begun with, was removed.`);
}

/** Refuses what has gone since the job was made; returns its key. */
function keyFor(services: RunnerServices, record: JobRecord): KeyRecord {
  const key = services.keyOf(record.keyId);
  if (key === null) throw new JobFault('The API key of the job was removed or disabled.');
  const request = requestOf(record);
  if (!services.kinds.some(({ kind }) => kind === request.kind)) {
    throw new JobFault('Rows of this kind are not answered here.');
  }
  const unfit = fileMerchantRefusal(services.findMerchant, record.account, request);
  if (unfit === 'untold') throw new StoreFault('behind');
  const refusal = rowsRefusal(key, request.kind) ?? (unfit && MERCHANT_REFUSALS[unfit]);
  if (refusal !== null) throw new JobFault(refusal.detail);
  return key;
}

type SaveCheckpoint = (
  checkpoint: Checkpoint,
  beside: (transaction: StoreTransaction) => void,
) => Promise<boolean>;

/**
 * Runs a job.
 * @param save keeps a checkpoint, and what is beside it in the same transaction; the run is
 *   paused when it returns false
 * @param started is handed the run, to pause it
 * @throws JobFault when it can never go on, other errors as `isPassing` tells them apart
 */
export async function runJob(
  services: RunnerServices,
  record: JobRecord,
  save: SaveCheckpoint,
  started: (run: FileRun) => void,
): Promise<FileRunEnd> {
  const key = keyFor(services, record);
  const release = await borrowed(services, record.dataset);
  try {
    return await runWith(services, record, { key, release, save, started });
  } finally {
    services.releases.unpin(release);
  }
}

interface JobRun {
  readonly key: KeyRecord;
  readonly release: PinnedRelease;
  readonly save: SaveCheckpoint;
  readonly started: (run: FileRun) => void;
}

/** What the answers of a job's rows depend on. */
function factsOf(
  name: string,
  { kind, nowMs, defaults, settings }: JobRequest,
  { id, dir }: PinnedRelease,
  own: AnswerSettings,
): Omit<RunFacts, 'output' | 'table'> {
  return { name, kind, release: { id, dir }, nowMs, defaults, settings: settings ?? own };
}

/** Output of a job from a place of its file on, as long as there is room for it. */
function outputOf(
  { space, fence }: RunnerServices,
  job: string,
  file: FileHandle,
  at: number,
  save: (checkpoint: Checkpoint) => Promise<void>,
): DurableOutput {
  return new DurableOutput({
    file,
    at,
    save,
    take: (bytes) => {
      fence?.();
      space.take(job, bytes);
    },
  });
}

async function runWith(
  services: RunnerServices,
  record: JobRecord,
  { key, release, save, started }: JobRun,
): Promise<FileRunEnd> {
  const [{ space, limits }, { id: job }] = [services, record];
  const request = requestOf(record);
  const from = checkpointOf(record);
  const input = await inputOf(services, record);
  const usage = new JobUsage(
    services.usage,
    key,
    from?.counts ?? NO_COUNTS,
    countedOf(record).counts,
  );
  const file = await open(space.output(job), constants.O_RDWR | constants.O_CREAT, 0o600);
  const fleet = (await services.fleet?.(job, release.id)) ?? null;
  const { schedule, inFlight, leave } = fleet ?? { schedule: services.schedule };
  try {
    const at = from?.bytes ?? 0;
    // What a killed process wrote beyond its last checkpoint is written again.
    await file.truncate(at);
    await space.sync(job);
    space.measure(job);
    space.setErrors(job, from?.errorBytes ?? 0);
    const run: FileRun = new FileRun({
      run: factsOf(job, request, release, services.settings),
      ...(inFlight && { inFlight }),
      ...(leave && { paused: leave }),
      request,
      input,
      schedule,
      limits,
      from,
      admit: admission(services, record, key, request, usage),
      errors: (bytes) => space.takeErrors(job, bytes),
      earlier: () => fileBytes(file),
      output: outputOf(services, job, file, at, async (checkpoint) => {
        const goesOn = await usage.save(checkpoint.counts, (beside) => save(checkpoint, beside));
        if (!goesOn) run.pause();
      }),
    });
    started(run);
    const end = await run.run();
    return end.kind === 'broken' ? { ...end, message: fleet?.fault() ?? end.message } : end;
  } catch (error) {
    if (error instanceof FileChanged) throw new JobFault(error.message);
    throw error;
  } finally {
    usage.end();
    await fleet?.close();
    await file.close();
  }
}
