/**
 * The server is killed at random moments during bulk jobs, over and over. Each job must go on after
 * the start, never with fewer rows than it reported before, and its result must be that of an
 * undisturbed stream, byte for byte. However often the server was killed, each row must be counted
 * once.
 */
import { createHash } from 'node:crypto';
import { seeded } from '../case/case.js';
import type { TortureInput, TortureResult } from './case.js';
import { TortureService } from './service.js';

const ROWS = 20_000;
const KILL_MS_MIN = 5;
const KILL_MS_MAX = 400;
const POLL_MS = 20;
const LATER_SHARE = 0.8;
const REPORT_KILLS = 10;
/** The refused rows of a whole run are more than an account may have by default. */
const SETTINGS = { SITUS_JOB_ERROR_BYTES_MAX: String(4 * 1024 ** 3) };
const METRICS_PATH = '/account/v50/metrics';

const ADDRESSES = [
  '120 Main St, Elmton, QA 91010',
  '121 Main St, Elmton, QA 91010',
  'nowhere at all',
  '1 "Quoted" St\nElmton, QA 91010',
  '',
  '91020',
];

const FORMATS = [
  {
    type: 'text/csv',
    row: (id: number, address: string) => `${id},"${address.replaceAll('"', '""')}"\n`,
    head: 'id,address\n',
  },
  {
    type: 'application/x-ndjson',
    row: (id: number, address: string) => `${JSON.stringify({ id, address })}\n`,
    head: '',
  },
] as const;

interface Job {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly rows: { readonly done: number };
  readonly codes: Readonly<Record<string, number>>;
  readonly result: { readonly bytes: number; readonly sha256: string } | null;
}

/** Usage of the key in this month. */
interface Metrics {
  readonly core_request_count: number;
}

/** A finished job, to be compared with a stream when all are done. */
interface Done {
  readonly job: Job;
  readonly type: string;
  readonly body: string;
}

interface Counts {
  kills: number;
  jobs: number;
  /** Kills during a job. */
  met: number;
  readonly done: Done[];
  readonly lost: string[];
  readonly wrong: string[];
}

/** The lines between header and trailer of NDJSON; a table as it is. */
function rowsOf(type: string, text: string): string {
  if (type === 'text/csv') return text;
  return text.split('\n').slice(1, -2).join('\n');
}

async function ask(service: TortureService, id: string): Promise<Job | null> {
  const { status, text } = await service.get(`/bulk/jobs/${id}`);
  return status === 200 ? (JSON.parse(text) as Job) : null;
}

/** Waits until a job has more rows than `told`; false when it has ended. */
async function advanced(service: TortureService, id: string, told: number): Promise<boolean> {
  for (;;) {
    const job = await ask(service, id);
    if (job === null || job.state === 'done' || job.state === 'failed') return false;
    if (job.rows.done > told) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Kills the server during the job while kills are left, then waits for the job's end. */
async function disturb(
  service: TortureService,
  id: string,
  random: () => number,
  most: number,
  counts: Counts,
): Promise<Job | null> {
  let told = 0;
  for (;;) {
    const job = await ask(service, id);
    if (job === null) {
      counts.lost.push(`job ${id}`);
      return null;
    }
    if (job.rows.done < told) counts.wrong.push(`${id} went back from ${told} to ${job.rows.done}`);
    told = job.rows.done;
    if (job.state === 'done' || job.state === 'failed') return job;
    const left = counts.kills < most;
    // Mostly in the middle of chunks, and sometimes before the first one after a start.
    if (left && random() < LATER_SHARE && !(await advanced(service, id, told))) continue;
    const waitMs = left ? KILL_MS_MIN + random() * (KILL_MS_MAX - KILL_MS_MIN) : POLL_MS;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (!left) continue;
    const last = await ask(service, id);
    told = Math.max(told, last?.rows.done ?? 0);
    if (last?.state === 'running' || last?.state === 'queued') counts.met += 1;
    await service.kill();
    counts.kills += 1;
    await service.start();
  }
}

/** Runs one job of `length` rows. */
async function runJob(
  service: TortureService,
  random: () => number,
  most: number,
  counts: Counts,
  length: number,
): Promise<void> {
  const { type, row, head } = FORMATS[counts.jobs % FORMATS.length]!;
  const rows = Array.from({ length }, (_, id) =>
    row(id, ADDRESSES[Math.floor(random() * ADDRESSES.length)]!),
  );
  const body = head + rows.join('');
  const made = await service.send('/bulk/jobs', body, type);
  if (made.status !== 202) throw new Error(`the job was answered ${made.status}: ${made.text}`);
  counts.jobs += 1;
  const { id } = JSON.parse(made.text) as Job;
  const job = await disturb(service, id, random, most, counts);
  if (job === null) return;
  if (job.state !== 'done') {
    counts.wrong.push(`${id} is ${job.state}: ${job.reason}`);
    return;
  }
  counts.done.push({ job, type, body });
}

/** Checks that exactly the rows of all jobs were counted. */
async function compareUsage(service: TortureService, { done, wrong }: Counts): Promise<void> {
  const { text } = await service.get(METRICS_PATH);
  const { core_request_count: counted } = JSON.parse(text) as Metrics;
  const answered = done.reduce((sum, { job: { codes } }) => sum + (codes['100'] ?? 0), 0);
  if (counted !== answered) wrong.push(`${answered} rows were counted ${counted} times`);
}

/** Compares the result of a job with a stream. */
async function compareBytes(
  service: TortureService,
  { job, type, body }: Done,
  counts: Counts,
): Promise<void> {
  const { id } = job;
  const { text } = await service.get(`/bulk/jobs/${id}/result`);
  const stream = await service.send('/bulk/lookup', body, type);
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (sha256 !== job.result?.sha256) counts.wrong.push(`${id} has another SHA-256 than it says`);
  if (rowsOf(type, text) !== rowsOf(type, stream.text))
    counts.wrong.push(`${id} wrote other bytes`);
}

/** Kills the server `kills` times, during one job of `rows` rows after the other. */
export async function jobKillsCase(
  { kills, seed, report }: TortureInput,
  rows = ROWS,
): Promise<TortureResult> {
  const random = seeded(seed);
  const service = new TortureService(SETTINGS);
  const counts: Counts = { kills: 0, jobs: 0, met: 0, done: [], lost: [], wrong: [] };
  try {
    service.prepare();
    await service.start();
    for (let told = 0; counts.kills < kills || counts.jobs < FORMATS.length; ) {
      // The kills are divided among jobs of every format.
      const most = Math.min(kills, Math.ceil((kills * (counts.jobs + 1)) / FORMATS.length));
      await runJob(service, random, most, counts, rows);
      if (counts.kills - told >= REPORT_KILLS) {
        told = counts.kills;
        report(
          `${counts.kills} kills, ${counts.met} on the way, ${counts.jobs} jobs, ` +
            `${counts.wrong.length} wrong`,
        );
      }
      if (counts.lost.length + counts.wrong.length > 0) break;
    }
    if (counts.lost.length + counts.wrong.length === 0) await compareUsage(service, counts);
    for (const done of counts.done) await compareBytes(service, done, counts);
    return {
      kills: counts.kills,
      acknowledged: counts.jobs,
      repeated: counts.met,
      lost: counts.lost,
      wrong: counts.wrong,
    };
  } finally {
    await service.remove();
  }
}
