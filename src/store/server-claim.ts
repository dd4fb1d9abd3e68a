/**
 * Servers of earlier versions each wanted a store for themselves. What they went by is kept up, so
 * that none of them serves beside those of this version: it would send every event once more.
 */
import type { StoreKey } from './format.js';
import { isFields } from './record-reader.js';
import type { Store } from './store.js';

/** Key of the claim: `{ v, pid }`, version 1 of a server that shares its store with none. */
export const SERVER_KEY: StoreKey = ['meta', 'server'];

function claimOf(store: Store): { readonly v: number; readonly pid: number } | null {
  const record = store.getSound(SERVER_KEY);
  // One that cannot be read claims nothing.
  if (!isFields(record) || typeof record['pid'] !== 'number') return null;
  return { v: Number(record['v']), pid: record['pid'] };
}

/**
 * Claims the store for servers of this version.
 * @returns the process of an earlier version that serves it, or null.
 */
export async function claimServer(store: Store): Promise<number | null> {
  return store.write((transaction) => {
    const claim = claimOf(store);
    if (claim?.v === 1 && store.users().includes(claim.pid)) return claim.pid;
    transaction.put(SERVER_KEY, { v: 2, pid: process.pid });
    return null;
  }, { quiet: true });
}

/**
 * As `claimServer`; closes the store where a server of an earlier version has it.
 * @throws Error that names the other process.
 */
export async function claimStore(store: Store): Promise<void> {
  const pid = await claimServer(store);
  if (pid === null) return;
  await store.close();
  throw new Error(
    `process ${pid}, of an earlier version that shares its store with no other, serves this one: ` +
    'stop it first, or set SITUS_VAR to another folder',
  );
}

/** Gives the claim up, so that an earlier version may be put back. */
export async function releaseServer(store: Store): Promise<void> {
  await store.write((transaction) => {
    if (claimOf(store)?.pid === process.pid) transaction.remove(SERVER_KEY);
  }, { quiet: true });
}
