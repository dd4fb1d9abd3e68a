/** A service of bulk jobs with a folder of files, on the invented country. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRecipe, type Built } from './built-dataset.js';
import { startBulkApp, type BulkAnswer } from './bulk-client.js';
import { JobClient } from './job-client.js';

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
    SITUS_BULK_DIR: files, SITUS_JOB_BYTES_MAX: String(DISK_MAX),
    SITUS_BULK_BYTES_MAX: String(BYTES_MAX),
  });
  return {
    built, files, port, jobs: new JobClient(port),
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
