/**
 * The servers on a store, and what one of them alone may do at a time.
 *
 * ["node", id]      NodeRecord; there as long as its server is taken to live
 * ["lease", name]   { v: 1, holder: id of a node }; free once the holder's record is gone
 */
import { isObject } from '../base/json-object.js';
import type { StoreKey } from './format.js';
import { flag, number, recordReader, text } from './record-reader.js';
import type { Store, StoreTransaction } from './store.js';

const NODE_PREFIX = 'node';
const LEASE_PREFIX = 'lease';

type Reader = Pick<StoreTransaction, 'get'>;

/** A server, as the others see it. */
export type NodeRecord = ReturnType<typeof parseNode>;

const parseNode = recordReader('node', 1, {
  id: text,
  /** Increases with each sign of life. */
  beat: number,
  machine: text,
  pid: number,
  began: text,
  /** Always empty; servers of other versions require it. */
  url: text,
  /** Name of the folder with its jobs. */
  place: text,
  /** Whether the server accepts no more work, so that others may take over what it had. */
  leaving: flag,
  /** Milliseconds since 1970 by its own clock; only shown to people. */
  startedAt: number,
});

const parseLease = recordReader('lease', 1, { holder: text });

/** Key of the record of a server. */
export function nodeKey(id: string): StoreKey {
  return [NODE_PREFIX, id];
}

function leaseKey(name: string): StoreKey {
  return [LEASE_PREFIX, name];
}

/** The record of a server; null where it does not count as alive. */
export function findNode(reader: Reader, id: string): NodeRecord | null {
  const found = id === '' ? undefined : reader.get(nodeKey(id));
  return found === undefined ? null : parseNode(found);
}

/** Whether a server is alive and not about to leave. */
export function isAtWork(reader: Reader, id: string): boolean {
  return findNode(reader, id)?.leaving === false;
}

/** All servers of a store whose records this version can read. */
export function listNodes(store: Pick<Store, 'list'>): readonly NodeRecord[] {
  return store.list([NODE_PREFIX]).flatMap((value) => {
    try {
      return [parseNode(value)];
    } catch {
      // A record of a newer version is handled there; a damaged one is written again by its server.
      return [];
    }
  });
}

/** Whether a server counts as alive. */
export function lives(reader: Reader, id: string): boolean {
  return id !== '' && reader.get(nodeKey(id)) !== undefined;
}

/** Takes a lease if it is free; returns whether the node has it now. */
export function takeLease(transaction: StoreTransaction, name: string, id: string): boolean {
  const found = transaction.get(leaseKey(name));
  const holder = found === undefined ? '' : parseLease(found).holder;
  if (holder === id) return true;
  if (lives(transaction, holder)) return false;
  transaction.put(leaseKey(name), { v: 1, holder: id });
  return true;
}

/** Gives up a lease that the node has. */
export function dropLease(transaction: StoreTransaction, name: string, id: string): void {
  const found = transaction.get(leaseKey(name));
  if (found !== undefined && parseLease(found).holder === id) transaction.remove(leaseKey(name));
}

/*
 * A server of an earlier version needs a store of its own. The record that it checks is maintained,
 * so that it does not run beside servers of this version: it would send every event a second time.
 */

/**
 * Key of the claim `{ v, pid }`; version 1 is that of a server which shares its store with none.
 */
export const SERVER_KEY: StoreKey = ['meta', 'server'];

function claimOf(store: Store): { readonly v: number; readonly pid: number } | null {
  const record = store.getSound(SERVER_KEY);
  // A record that cannot be read claims nothing.
  if (!isObject(record) || typeof record['pid'] !== 'number') return null;
  return { v: Number(record['v']), pid: record['pid'] };
}

/**
 * Claims the store for servers of this version.
 * @returns the process of an earlier version that has claimed it, or null.
 */
export async function claimServer(store: Store): Promise<number | null> {
  return store.write(
    (transaction) => {
      const claim = claimOf(store);
      if (claim?.v === 1 && store.users().includes(claim.pid)) return claim.pid;
      transaction.put(SERVER_KEY, { v: 2, pid: process.pid });
      return null;
    },
    { quiet: true },
  );
}

/**
 * As `claimServer`; closes the store where a server of an earlier version has claimed it.
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

/** Removes the claim, so that an earlier version can be installed again. */
export async function releaseServer(store: Store): Promise<void> {
  await store.write(
    (transaction) => {
      if (claimOf(store)?.pid === process.pid) transaction.remove(SERVER_KEY);
    },
    { quiet: true },
  );
}
