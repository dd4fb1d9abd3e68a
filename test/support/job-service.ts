/** A service of bulk jobs with a folder of files, on the invented country. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRecipe, type Built } from './built-dataset.js';
import {
  type BulkAnswer,
  type BulkAsk,
  type KeyName,
  sendBulk,
  startBulkApp,
} from './bulk-client.js';
import { eventually } from './http-eventually.js';

export const DOOR = '120 Main St, Elmton, QA 91010';
/** Limits of an upload, and of all uploads and results. */
export const BYTES_MAX = 400_000;
export const DISK_MAX = 3_000_000;

export interface JobService {
  readonly built: Built;
  /** The folder of files that jobs may name. */
  readonly files: string;
  readonly port: number;
  readonly jobs: JobClient;
  stop(): Promise<void>;
}

export async function startJobs(): Promise<JobService> {
  const built = buildRecipe('fixture');
  const files = mkdtempSync(join(tmpdir(), 'situs-files-'));
  const { app, port } = await startBulkApp(built.varDir, {
    SITUS_BULK_DIR: files,
    SITUS_JOB_BYTES_MAX: String(DISK_MAX),
    SITUS_BULK_BYTES_MAX: String(BYTES_MAX),
  });
  return {
    built,
    files,
    port,
    jobs: new JobClient(port),
    stop: async () => {
      await app.stop();
      built.remove();
      rmSync(files, { recursive: true, force: true });
    },
  };
}

/** A table of so many rows of one address. */
export function table(rows: number, address = DOOR): string {
  const lines = Array.from({ length: rows }, (_, id) => `${id},"${address}"\n`);
  return `id,address\n${lines.join('')}`;
}

/** The problem document of an answer that must be one. */
export function problem(answer: BulkAnswer, status: number): { detail: string; limit?: number } {
  assert.equal(answer.status, status, answer.body.toString());
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  return JSON.parse(answer.body.toString()) as { detail: string; limit?: number };
}

/** Longest time of a small job on a machine that has much else to do. */
export const WAIT_MS = 120_000;

export interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly dataset: string;
  readonly progress: number;
  readonly rows: { readonly total: number | null; readonly done: number };
  readonly codes: Readonly<Record<string, number>>;
  readonly complete: boolean;
  readonly stopped: { readonly code: number; readonly line: number } | null;
  readonly reason: string | null;
  readonly result: {
    readonly href: string;
    readonly bytes: number;
    readonly sha256: string;
  } | null;
}

export class JobClient {
  readonly port: number;
  readonly key: KeyName;

  constructor(port: number, key: KeyName = 'bulk') {
    this.port = port;
    this.key = key;
  }

  ask(path: string, more: Partial<BulkAsk> = {}, body: string | Buffer = ''): Promise<BulkAnswer> {
    return sendBulk({ port: this.port, key: this.key, path, method: 'GET', ...more }, body);
  }

  /** Sends a body; the answer whatever it is. */
  post(
    body: string | Buffer,
    type = 'text/csv',
    query = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<BulkAnswer> {
    return this.ask(`/bulk/jobs${query}`, { method: 'POST', type, headers }, body);
  }

  /** Makes a job and returns its body. */
  async create(body: string | Buffer, type = 'text/csv', query = ''): Promise<JobBody> {
    const answer = await this.post(body, type, query);
    if (answer.status !== 202) throw new Error(answer.body.toString());
    return JSON.parse(answer.body.toString()) as JobBody;
  }

  async job(id: string): Promise<JobBody> {
    const answer = await this.ask(`/bulk/jobs/${id}`);
    if (answer.status !== 200) throw new Error(answer.body.toString());
    return JSON.parse(answer.body.toString()) as JobBody;
  }

  /** Waits until a job is in one of some states. */
  async until(id: string, ...states: readonly string[]): Promise<JobBody> {
    let job = await this.job(id);
    await eventually(async () => {
      job = await this.job(id);
      return states.includes(job.state);
    }, WAIT_MS);
    return job;
  }

  result(id: string, headers: Readonly<Record<string, string>> = {}): Promise<BulkAnswer> {
    return this.ask(`/bulk/jobs/${id}/result`, { headers });
  }
}
