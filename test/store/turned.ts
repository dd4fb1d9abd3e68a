/** Stores of which a bit has turned. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRecord } from '../../src/store/jobs.js';
import { Store, storeDir } from '../../src/store/store.js';
import { STORE_FILE } from '../../src/store/store-file.js';

/** Turns a bit of the first letter wherever a text is in a store's file; it must not be open. */
export function turn(varDir: string, text: string): void {
  const file = join(storeDir(varDir), STORE_FILE);
  const bytes = readFileSync(file);
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = bytes[at]! ^ 1;
    found += 1;
  }
  assert.ok(found > 0, text);
  writeFileSync(file, bytes);
}

export async function withStore<T>(
  varDir: string,
  use: (store: Store, told: string[]) => T | Promise<T>,
): Promise<T> {
  const told: string[] = [];
  const store = await Store.open(varDir, { failed: (error) => told.push(String(error)) });
  try {
    return await use(store, told);
  } finally {
    await store.close();
  }
}

export const JOB: JobRecord = {
  v: 1,
  id: 'job_1',
  account: 'alpha',
  keyId: 'k',
  state: 'done',
  request: '{}',
  file: null,
  inputBytes: 1,
  inputModifiedMs: 1,
  dataset: 'a-dataset-of-a-job',
  createdAt: 1,
  startedAt: 1,
  endedAt: 2,
  checkpoint: null,
  reason: null,
  stopped: null,
  result: null,
};
