/**
 * `situs bulk`: reads a file of rows and writes the same rows with their taxes, without a server.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type Config } from '../config.js';
import { MANIFEST_FILE } from '../dataset/manifest.js';
import { releasesDir } from '../dataset/release.js';
import { GRANT_ALL, TOLD_BYTES } from '../pool/types.js';
import { CHUNKS_PER_WORKER, openChunkPool } from '../bulk/run/chunk-pool.js';
import { newRunName, type BulkLimits } from '../bulk/run/uploads.js';
import { ChunkSchedule } from '../bulk/run/schedule.js';
import type { Checkpoint } from '../bulk/run/checkpoint.js';
import { FileRun, type FileRunEnd } from '../bulk/job/file-run.js';
import { createLog } from '../log.js';
import { SUCCESS } from '../wire/response-code.js';
import type { FleetWorkers } from '../bulk/fleet/fleet-workers.js';
import type { BulkFleet } from './bulk-fleet.js';
import {
  type BulkAsked,
  bulkOptions,
  type BulkOptions,
  openRows,
  RESUME_NEEDS,
  type RowsSource,
  threadsFor,
} from './bulk-options.js';
import {
  copyOut,
  openRowsOutput,
  openTarget,
  optionsDigest,
  PartialFile,
  type PartialRun,
} from './rows-output.js';
import { RowsProgress } from './rows-progress.js';
import { keptRelease, requireActive, soundRelease } from './sound-release.js';
import { progress as tell, SIGNAL_CODES, UsageError, watchSignals } from './command-line.js';

const SOME_REFUSED = 3;

/** Only the disk limits files here. */
const LIMITS: BulkLimits = { rowsMax: 4_000_000_000, bytesMax: Number.MAX_SAFE_INTEGER, idleMs: 0 };

/** The release of a new run: the one asked for, or the active one of this machine or the fleet. */
async function releaseFor(
  { request: { kept } }: BulkOptions,
  varDir: string,
  fleet: BulkFleet | null,
): Promise<string> {
  if (fleet !== null) return fleet.release(kept?.dataset ?? null);
  return kept === undefined ? requireActive(varDir) : keptRelease(varDir, kept.dataset);
}

/** The run to do: a new one, or the one that was interrupted. */
async function plan(
  options: BulkOptions,
  { varDir, precisionMin, refuseUnruled, baseUrl }: Config,
  input: RowsSource,
  partial: PartialFile | null,
  fleet: BulkFleet | null,
): Promise<{ readonly run: PartialRun; readonly from: Checkpoint | null }> {
  const { request, kind } = options;
  const settings = { precisionMin, refuseUnruled, baseUrl };
  const digest = optionsDigest({ ...request, kind, settings });
  if (options.resume && partial !== null) {
    const { run, checkpoint } = partial.load();
    if (
      run.input.bytes !== input.identity.bytes ||
      run.input.modifiedMs !== input.identity.modifiedMs
    ) {
      throw new Error('cannot resume: the input file has changed since');
    }
    if (run.options !== digest)
      throw new Error('cannot resume: the options are not the same, or the settings');
    if (fleet !== null) await fleet.release(run.dataset);
    else if (!existsSync(join(releasesDir(varDir), run.dataset, MANIFEST_FILE))) {
      throw new Error(`cannot resume: dataset ${run.dataset} was removed`);
    }
    return { run, from: checkpoint };
  }
  const dataset = await releaseFor(options, varDir, fleet);
  return {
    run: {
      job: newRunName(),
      nowMs: request.kept?.atMs ?? Date.now(),
      dataset,
      input: input.identity,
      options: digest,
    },
    from: null,
  };
}

/** How long after an interrupt the reader of the output may take for rows that are under way. */
const READER_MS_MAX = 2_000;

function endInterrupted(): never {
  tell('interrupted; the output is incomplete');
  process.exit(SIGNAL_CODES.SIGINT);
}

interface Circumstances {
  readonly dataset: string;
  /** Whether the input can be read only once. */
  readonly once: boolean;
  /** Why the workers of a fleet cannot go on; null where they can. */
  readonly fault: string | null;
}

/** Reports how a run ended, and returns the exit code. */
function conclude(
  end: FileRunEnd,
  options: BulkOptions,
  partial: PartialFile | null,
  run: FileRun,
  { dataset, once, fault }: Circumstances,
): number {
  const goesOn = !once && run.rows > 0 && partial?.hasBegun === true;
  if (end.kind === 'paused') {
    tell(
      goesOn
        ? `interrupted after ${run.rows} rows; go on with --resume`
        : 'interrupted; the output is incomplete',
    );
    return SIGNAL_CODES.SIGINT;
  }
  if (end.kind === 'refused') {
    partial?.remove();
    throw new Error(end.refused.detail);
  }
  if (end.kind === 'broken') {
    const goOn = goesOn ? `; go on after ${run.rows} rows with --resume` : '';
    throw new Error(fault === null ? end.message : fault + goOn);
  }
  const { rows, codes, stopped } = end.end;
  if (stopped !== null) {
    partial?.remove();
    throw new Error(`line ${stopped.line}: ${stopped.message} Nothing was written.`);
  }
  partial?.finish();
  const told = Object.entries(codes)
    .map(([code, count]) => `${code}: ${count}`)
    .join(', ');
  if (!options.quiet) tell(`${rows} rows (${told || 'none'}); dataset ${dataset}`);
  return Object.keys(codes).every((code) => Number(code) === SUCCESS.code) ? 0 : SOME_REFUSED;
}

/** Workers that answer the chunks of a run, of a fleet or of this machine. */
interface BulkWorkers extends Partial<Omit<FleetWorkers, 'schedule' | 'close'>> {
  readonly release: { readonly id: string; readonly dir: string };
  readonly schedule: ChunkSchedule;
  close(): Promise<void>;
}

/** Starts workers on this machine. @throws Error with a sentence where the release is not sound. */
async function localWorkers(
  config: Config,
  dataset: string,
  threads: number,
  quiet: boolean,
): Promise<BulkWorkers> {
  const { varDir, baseUrl, precisionMin, refuseUnruled } = config;
  const logLevel = quiet && config.logLevel !== 'error' ? 'warn' : config.logLevel;
  const told = new Uint8Array(new SharedArrayBuffer(TOLD_BYTES));
  const release = { id: dataset, dir: await soundRelease(varDir, dataset) };
  const pool = openChunkPool({
    releases: { pin: () => release, unpin: () => undefined },
    log: createLog(logLevel),
    threads,
    settings: { baseUrl, precisionMin, refuseUnruled, logLevel, told },
  });
  return {
    release,
    schedule: new ChunkSchedule(pool, threads * CHUNKS_PER_WORKER),
    close: () => pool.close(),
  };
}

/** Runs what was asked, with workers of this machine or of a fleet. */
async function runBulk(
  options: BulkOptions,
  config: Config,
  to: PartialFile | NodeJS.WritableStream,
): Promise<number> {
  const held = to instanceof PartialFile ? to : null;
  const input = await openRows(options.file);
  let fleet: BulkFleet | null = null;
  try {
    if (options.resume && (held === null || input.once)) throw new UsageError(RESUME_NEEDS);
    if (options.fleet !== null) {
      const { BulkFleet } = await import('./bulk-fleet.js');
      fleet = await BulkFleet.open(options.fleet, tell);
    }
    const planned = await plan(options, config, input, held, fleet);
    const { job, dataset } = planned.run;
    const threads = options.threads ?? threadsFor(input.plainBytes, availableParallelism());
    const workers =
      fleet === null
        ? await localWorkers(config, dataset, threads, options.quiet)
        : { release: { id: dataset, dir: '' }, ...fleet.workers(config, job, dataset) };
    return await runWith(options, to, input, planned, workers).finally(() => workers.close());
  } finally {
    input.close();
    await fleet?.close();
  }
}

async function runWith(
  options: BulkOptions,
  to: PartialFile | NodeJS.WritableStream,
  input: RowsSource,
  { run: about, from }: Awaited<ReturnType<typeof plan>>,
  workers: BulkWorkers,
): Promise<number> {
  const { release, schedule, settings, inFlight } = workers;
  const held = to instanceof PartialFile ? to : null;
  const { output, earlier, close } = await openRowsOutput(to, about, from);
  const run = new FileRun({
    run: {
      name: about.job,
      kind: options.kind,
      release,
      nowMs: about.nowMs,
      defaults: options.request.defaults,
      ...(settings === undefined ? {} : { settings }),
    },
    request: options.request,
    input: input.source,
    output,
    earlier,
    limits: LIMITS,
    from,
    schedule,
    ...(inFlight === undefined ? {} : { inFlight }),
    admit: (rows) => ({ rows, grants: GRANT_ALL, scarce: false, settle: () => undefined }),
  });
  const unwatch = watchSignals(() => {
    run.pause();
    workers.leave?.();
    // A reader that has stopped reading would keep the process waiting for ever.
    if (held === null) setTimeout(endInterrupted, READER_MS_MAX).unref();
  });
  const progress = options.quiet
    ? null
    : new RowsProgress(process.stderr, input.plainBytes, () => ({ rows: run.rows, bytes: run.at }));
  try {
    const end = await run.run();
    progress?.end();
    const fault = workers.fault?.() ?? null;
    return conclude(end, options, held, run, { dataset: about.dataset, once: input.once, fault });
  } finally {
    progress?.end();
    unwatch();
    await close();
  }
}

/**
 * Writes all rows or none to an output that cannot be taken back: they are answered into a file
 * before the first is written.
 */
async function runStrict(
  options: BulkOptions,
  config: Config,
  writable: NodeJS.WritableStream,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'situs-bulk-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // The process may end at once, when the reader goes away or by a second interrupt.
  process.once('exit', remove);
  try {
    const code = await runBulk(options, config, new PartialFile(join(folder, 'out'), false));
    if (code === SIGNAL_CODES.SIGINT) return code;
    const unwatch = watchSignals(endInterrupted);
    await copyOut(join(folder, 'out'), writable);
    unwatch();
    return code;
  } finally {
    remove();
    process.off('exit', remove);
  }
}

/** Runs `situs bulk FILE`. */
export async function bulkCommand(file: string, asked: BulkAsked): Promise<number> {
  const options = bulkOptions(file, asked);
  const config = loadConfig();
  const target = openTarget(options.output, options.file);
  if (target.kind === 'file') {
    const letGo = target.partial.hold();
    return runBulk(options, config, target.partial).finally(letGo);
  }
  if (options.resume) throw new UsageError(RESUME_NEEDS);
  const { writable } = target;
  const code = await (options.request.strict ? runStrict : runBulk)(options, config, writable);
  await target.close();
  return code;
}
