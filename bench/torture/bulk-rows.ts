/**
 * Millions of rows in one upload to a real server. They are made while they are sent and compared
 * when they come back, by a writer and a reader that pause, while single lookups are sent too. The
 * memory of both sides is watched.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { RowsProgress } from '../../src/cli/rows-progress.js';
import { currentRelease, releasesDir } from '../../src/dataset/release.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import type { Trailer } from '../../src/bulk/row/envelope.js';
import { RowCheck } from './row-check.js';
import { rowPool, type PoolRow } from './row-pool.js';
import { REST_MS, RowUpload } from './row-upload.js';
import { ServerMemory } from './server-memory.js';
import { SideLookups } from './side-lookups.js';

export const BULK_ROWS = 10_000_000;

const MEBIBYTE = 1_048_576;
/** How much memory a server may take for itself, and for each of its workers; see docs/bulk.md. */
const PROCESS_BYTES_MAX = 192 * MEBIBYTE;
const WORKER_BYTES_MAX = 64 * MEBIBYTE;
/** Single lookups and bulk files have a worker on each processor. */
const WORKERS = 2 * availableParallelism();
const SERVER_BYTES_MAX = PROCESS_BYTES_MAX + WORKERS * WORKER_BYTES_MAX;
/** How much memory the second half of the rows may add. */
const LATER_BYTES_MAX = 64 * MEBIBYTE;
/** With fewer rows than this, half of them do not fill the caches of the workers. */
const LATER_ROWS_MIN = 1_000_000;
/** How much memory this process may add. */
const DRIVER_BYTES_MAX = 256 * MEBIBYTE;
const FAULTS_TOLD_MAX = 30;

interface BulkRowsResult {
  readonly summary: string;
  readonly codes: ReadonlyMap<number, number>;
  /** The faults, in one sentence each. */
  readonly wrong: readonly string[];
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MEBIBYTE)} MiB`;
}

async function trailerOf(port: number, job: string): Promise<Trailer> {
  const answer = await fetch(`http://127.0.0.1:${port}/bulk/trailer?job=${job}`, {
    headers: { 'X-API-KEY': BENCH_KEY },
  });
  if (answer.status !== 200) throw new Error(`the trailer was answered ${answer.status}`);
  return (await answer.json()) as Trailer;
}

/** The rows that have a single lookup with the same answer, by its query. */
function askedOf(pool: readonly PoolRow[]): ReadonlyMap<string, number> {
  return new Map(pool.flatMap(({ query }, index) => (query === null ? [] : [[query, index]])));
}

/** Rows with another code, rate or address than the single lookup. */
function compareTold(
  asked: ReadonlyMap<string, number>,
  lookups: SideLookups,
  rows: RowCheck['told'],
): readonly string[] {
  const entries = [...asked];
  return lookups.told.flatMap((single, place) => {
    const [query = '', index = 0] = entries[place] ?? [];
    const row = rows[index];
    return row === undefined || row === single ? [] : [`${query} is ${single}, its row ${row}`];
  });
}

/** Describes the memory of both sides, and what is wrong with it. */
function memoryOf(
  rows: number,
  memory: ServerMemory,
  driver: ServerMemory,
  atHalf: number,
): { readonly told: string; readonly wrong: readonly string[] } {
  if (!memory.known) return { told: 'memory is not known on this system', wrong: [] };
  const { own, idle, resident } = memory;
  const more = driver.own - driver.idle;
  const later = own - atHalf;
  return {
    told:
      `server ${mebibytes(resident)} resident, ${mebibytes(own)} of its own (at most ` +
      `${mebibytes(SERVER_BYTES_MAX)}), ${mebibytes(atHalf)} by half of the rows, ` +
      `${mebibytes(idle)} idle; driver ${mebibytes(more)} more than before`,
    wrong: [
      ...(own <= SERVER_BYTES_MAX ? [] : [`the server took ${mebibytes(own)}`]),
      ...(rows < LATER_ROWS_MIN || later <= LATER_BYTES_MAX
        ? []
        : [`the second half of the rows took ${mebibytes(later)} more`]),
      ...(more <= DRIVER_BYTES_MAX ? [] : [`the driver took ${mebibytes(more)} more`]),
    ],
  };
}

function summaryOf(
  check: RowCheck,
  upload: RowUpload,
  lookups: SideLookups,
  trailer: { readonly sha256: string },
  minutes: number,
  told: string,
): string {
  const codes = [...check.counts].sort(([one], [other]) => one - other);
  return [
    `rows ${check.rows}`,
    `codes ${codes.map((each) => each.join(': ')).join(', ')}`,
    `output ${check.bytes} bytes, SHA-256 ${check.sha256 === trailer.sha256 ? '' : 'not '}` +
      'that of the trailer',
    `${minutes.toFixed(1)} minutes with ${upload.rests} rests`,
    `upload ${upload.stopped ? 'stopped by' : 'over before'} the longest of them`,
    `at most ${upload.ahead} rows ahead of the reader`,
    told,
    `lookups ${lookups.answered} of ${lookups.sent} answered, the slowest in ` +
      `${Math.round(lookups.slowest)} ms`,
  ].join('; ');
}

/** Sends `rows` rows to a server over the active dataset of a folder. */
export async function bulkRows(
  varDir: string,
  rows: number,
  seed: number,
  restMs = REST_MS,
): Promise<BulkRowsResult> {
  const release = currentRelease(varDir);
  if (release === null) throw new Error(`no dataset is active in ${varDir}`);
  const pool = await rowPool(join(releasesDir(varDir), release), seed);
  // Without cached answers, each single lookup reaches a worker.
  const server = await startSitus(varDir, { SITUS_ANSWER_CACHE_MIB: '0' });
  const check = new RowCheck(pool, seed);
  const asked = askedOf(pool);
  const memory = new ServerMemory(server.pid);
  const driver = new ServerMemory(process.pid);
  let atHalf = 0;
  const upload = new RowUpload({
    port: server.port,
    pool,
    rows,
    seed,
    restMs,
    check,
    half: () => {
      atHalf = memory.own;
    },
  });
  const progress = new RowsProgress(process.stderr, rows, () => ({
    rows: check.rows,
    bytes: check.rows,
  }));
  const from = performance.now();
  try {
    const lookups = await SideLookups.begin(server.port, [...asked.keys()]);
    const job = await upload.run().finally(() => lookups.end());
    progress.end();
    const minutes = (performance.now() - from) / 60_000;
    const trailer = await trailerOf(server.port, job);
    check.end(rows, trailer);
    const { told, wrong } = memoryOf(rows, memory, driver, atHalf);
    const summary = summaryOf(check, upload, lookups, trailer, minutes, told);
    const all = [
      ...check.wrong,
      ...upload.wrong,
      ...lookups.wrong,
      ...compareTold(asked, lookups, check.told),
      ...wrong,
    ];
    return { summary, codes: check.counts, wrong: all.slice(0, FAULTS_TOLD_MAX) };
  } finally {
    progress.end();
    memory.end();
    driver.end();
    await server.stop();
  }
}
