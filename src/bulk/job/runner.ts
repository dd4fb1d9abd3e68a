/** Runs one attempt at a job: from its last checkpoint until it ends or something stops it. */
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
  /** How many days a job is kept after its end. */
  readonly days: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The clock that tells how many days ago a job ended; it does not jump. */
  readonly age: () => number;
  /** This server on a store with others, and the name of its folder of jobs; absent if alone. */
  readonly member?: JobMember;
  readonly place?: string;
  /** Keeps files of jobs for all servers of a fleet; null where each keeps its own. */
  readonly files?: JobFiles | null;
}

/** A kind of rows that this server answers. */
export interface JobKind {
  readonly kind: JobRequest['kind'];
}

/** Releases by their names, including those that are not active. */
export interface JobReleases {
  /**
   * Keeps a release open until `unpin`; null when it was removed.
   * @throws UnsoundRelease when it is damaged; other errors when it cannot be opened now.
   */
  borrow(id: string): Promise<PinnedRelease | null>;
  unpin(release: PinnedRelease): void;
}

export interface RunnerServices {
  readonly space: JobSpace;
  readonly schedule: ChunkSchedule;
  /** The nodes that answer the rows of a job; null where there are none now. Never throws. */
  readonly fleet?: (job: string, release: string) => Promise<FleetWorkers | null>;
  readonly usage: JobRowsUsage;
  readonly limits: BulkLimits;
  readonly kinds: readonly JobKind[];
  readonly findMerchant: FindMerchant;
  /** Null for a key that was removed or disabled. */
  keyOf(id: string): KeyRecord | null;
  readonly releases: JobReleases;
  /** Folder of the files that a request may name; null when there is none. */
  readonly filesDir: string | null;
  /** Throws where another server may have taken the job over. */
  readonly fence?: () => void;
  /** Settings of this server that answers depend on, for jobs without their own. */
  readonly settings: AnswerSettings;
}

/** Thrown when a job can never continue; the message says why. */
export class JobFault extends Error {
  override readonly name = 'JobFault';
}

/** Thrown when the release of a job cannot be opened now. */
class ReleaseNotReady extends Error {
  override readonly name = 'ReleaseNotReady';
}

/** Codes of disk errors that may pass, such as a full disk. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO']);

/** Whether an error may pass with nothing of the job lost, so that it can be tried again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof DiskLimit || error instanceof StoreFault) return true;
  if (error instanceof ReleaseNotReady) return true;
  return NO_ROOM.has(errorCode(error));
}

/** The reader of the body of a job. */
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
 * Makes the function that asks the quotas for rows of a job, as for those of an upload, with the
 * key as it is at that moment. Rows that were counted before are admitted without asking.
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

/** Returns the key of a job; throws where key, kind of rows or merchant may not be used now. */
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
 * @param save stores a checkpoint and, in the same transaction, what `beside` writes; the run is
 *   paused when it returns false
 * @param started gets the run, to pause it
 * @throws JobFault when the job can never continue; other errors, which `isPassing` classifies
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

/** The facts that the answers to a job's rows depend on. */
function factsOf(
  name: string,
  { kind, nowMs, defaults, settings }: JobRequest,
  { id, dir }: PinnedRelease,
  own: AnswerSettings,
): Omit<RunFacts, 'output' | 'table'> {
  return { name, kind, release: { id, dir }, nowMs, defaults, settings: settings ?? own };
}

/** The output of a job from a position in its file on, as long as there is room for it. */
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
    services.fence?.();
    // Output that a killed process wrote after its last checkpoint is written again.
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
