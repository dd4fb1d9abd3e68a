/** Opens the store of SITUS_VAR while a command uses it, and names the user in the audit log. */
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../config.js';
import { messageOf } from '../log.js';
import { type Actor, addAudit } from '../store/audit.js';
import type { StoreKey } from '../store/format.js';
import { STORE_FILE } from '../store/store-file.js';
import { Store, storeDir } from '../store/store.js';
import { progress } from './command-line.js';

type Use<T> = (store: Store) => T | Promise<T>;

/** The settings that say where the store is. */
type StoreConfig = Pick<Config, 'varDir' | 'storeUrl'>;

/** Opens the store of a configuration. @throws Error as `Store.open`. */
export function openStore({ varDir, storeUrl }: StoreConfig): Promise<Store> {
  return Store.open(varDir, {
    url: storeUrl,
    failed: (error) => progress(`warning: ${messageOf(error)}`),
  });
}

async function useStore<T>(config: StoreConfig, use: Use<T>): Promise<T> {
  const store = await openStore(config);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Whether there is a store, or a database for one.
 * @throws Error where that cannot be seen, as in a folder that this user may not enter
 */
export function hasStore({ varDir, storeUrl }: StoreConfig): boolean {
  const file = join(storeDir(varDir), STORE_FILE);
  return storeUrl !== null || statSync(file, { throwIfNoEntry: false }) !== undefined;
}

/**
 * @throws Error where there is no store. Without this check, opening would create one, and a
 * mistyped folder would look like a store without records.
 */
export function requireStore(config: StoreConfig): void {
  if (hasStore(config)) return;
  throw new Error(
    `there is no store in ${config.varDir}, the folder that SITUS_VAR names; ` +
      '"situs serve" and "situs key create" make one',
  );
}

/** Opens the store for `use`, and closes it. @throws Error where there is no store. */
export async function withStore<T>(use: Use<T>): Promise<T> {
  const config = loadConfig();
  requireStore(config);
  return useStore(config, use);
}

/** Exit code where everything was done, except for records that are damaged. */
export const DAMAGED_CODE = 3;

/** Names damaged records and what was done about them, and returns the exit code. */
export function tellDamaged(damaged: readonly StoreKey[], done: string): number {
  if (damaged.length === 0) return 0;
  for (const key of damaged) progress(`the record ${key.join('/')} in the store is damaged`);
  progress(
    damaged.length === 1
      ? `1 damaged record, ${done}`
      : `${damaged.length} damaged records, ${done}`,
  );
  return DAMAGED_CODE;
}

/** As `withStore`, but creates the store where there is none. */
export async function withNewStore<T>(use: Use<T>): Promise<T> {
  return useStore(loadConfig(), use);
}

/** The user of a command, for the audit log. */

/** The user by name, or by number where the system knows no name. */
export function commandActor(): Actor {
  try {
    const { uid, username } = userInfo();
    return { kind: 'cli', uid, user: username };
  } catch {
    return { kind: 'cli', uid: process.getuid?.() ?? -1, user: '' };
  }
}

/**
 * Records in the audit log what is about to be done to a release. It comes first, because an act
 * without a record would be worse than the reverse. Without a store there is no log yet, and no
 * server that has answered from another release.
 */
export async function auditRelease(
  varDir: string,
  action: 'release.activate' | 'release.rollback',
  release: string,
): Promise<void> {
  const config = { varDir, storeUrl: loadConfig().storeUrl };
  if (!hasStore(config)) return;
  const store = await openStore(config);
  try {
    await store.write(
      (transaction) =>
        addAudit(
          transaction,
          {
            actor: commandActor(),
            account: null,
            action,
            object: release,
          },
          Date.now(),
        ),
      { quiet: true },
    );
  } finally {
    await store.close();
  }
}
