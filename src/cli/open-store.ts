/** The store of SITUS_VAR, open as long as a command uses it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../config.js';
import { messageOf } from '../log.js';
import type { StoreKey } from '../store/format.js';
import { Store, storeDir } from '../store/store.js';
import { STORE_FILE } from '../store/store-file.js';
import { progress } from './line.js';

type Use<T> = (store: Store) => T | Promise<T>;

async function useStore<T>(varDir: string, use: Use<T>): Promise<T> {
  const store = await Store.open(varDir, {
    failed: (error) => progress(`warning: ${messageOf(error)}`),
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Opening a store makes it, so that a mistyped folder would look like one without records.
 * @throws Error where there is none.
 */
export function requireStore(varDir: string): void {
  if (existsSync(join(storeDir(varDir), STORE_FILE))) return;
  throw new Error(`there is no store in ${varDir}, the folder that SITUS_VAR names; ` +
    '"situs serve" and "situs key create" make one');
}

/** @throws Error where there is no store. */
export async function withStore<T>(use: Use<T>): Promise<T> {
  const { varDir } = loadConfig();
  requireStore(varDir);
  return useStore(varDir, use);
}

/** Exit code where all was done but for records that are damaged. */
export const DAMAGED_CODE = 3;

/** Names damaged records and what was done about them, and gives the exit code. */
export function tellDamaged(damaged: readonly StoreKey[], done: string): number {
  if (damaged.length === 0) return 0;
  for (const key of damaged) progress(`the record ${key.join('/')} in the store is damaged`);
  progress(damaged.length === 1 ? `1 damaged record, ${done}`
    : `${damaged.length} damaged records, ${done}`);
  return DAMAGED_CODE;
}

/** Makes the store where there is none. */
export async function withNewStore<T>(use: Use<T>): Promise<T> {
  return useStore(loadConfig().varDir, use);
}
