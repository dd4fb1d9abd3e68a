/**
 * One server for a store. Two would each send every event, count usage apart and carry out the same
 * Idempotency-Key twice. The server writes down its process; another one that starts asks LMDB
 * whether that process still has the store open, which holds until it ends, however it ends.
 * Commands do not claim and go on working beside a server.
 */
import type { StoreKey } from './format.js';
import type { Store } from './store.js';

/** Key of the claim. */
export const SERVER_KEY: StoreKey = ['meta', 'server'];

function pidOf(record: unknown): number | null {
  return typeof record === 'object' && record !== null && 'pid' in record
    && typeof record.pid === 'number' ? record.pid : null;
}

/** The process that serves the store, which may be this one; null when none does. */
export function servingProcess(store: Store): number | null {
  const pid = pidOf(store.getSound(SERVER_KEY));
  return pid !== null && (pid === process.pid || store.users().includes(pid)) ? pid : null;
}

/**
 * Claims the store for this process. What another process left that has ended is taken over.
 * @returns the process that has the store, or null when it is this one now.
 */
export async function claimServer(store: Store): Promise<number | null> {
  return store.write((transaction) => {
    // One that cannot be read claims nothing.
    const pid = pidOf(store.getSound(SERVER_KEY));
    if (pid !== null && store.users().includes(pid)) return pid;
    transaction.put(SERVER_KEY, { v: 1, pid: process.pid });
    return null;
  }, { quiet: true });
}

/**
 * As `claimServer`; closes the store where another server has it.
 * @throws Error that names the other process.
 */
export async function claimStore(store: Store): Promise<void> {
  const pid = await claimServer(store);
  if (pid === null) return;
  await store.close();
  throw new Error(
    `process ${pid} already serves this store: one server for a store; stop it first, or set ` +
    'SITUS_VAR to another folder',
  );
}

/** Gives the store up, so that commands which open it later are not taken for this server. */
export async function releaseServer(store: Store): Promise<void> {
  await store.write((transaction) => {
    if (pidOf(store.getSound(SERVER_KEY)) === process.pid) transaction.remove(SERVER_KEY);
  }, { quiet: true });
}
